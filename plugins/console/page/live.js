/** The stream of changes. One for the page, however many parts of it listen. */
import { useEffect, useRef, useState } from "preact/hooks";
import { get, query } from "./api.js";

const listeners = new Set();
const usual = ["events", "waiting", "status"];
let source;
/** The last message that came, so that another stream goes on behind it. */
let lastId;

const tell = (message) => {
  for (const listener of listeners) listener(message);
};

/** `log`: the least level of the lines that are wanted, too. */
export function connect({ log } = {}) {
  source?.close();
  const topics = log === undefined ? {} : { topics: [...usual, "log"].join(","), level: log };
  source = new EventSource(`/gateway/v1/stream${query({ ...topics, after: lastId })}`);
  source.onopen = () => tell({ topic: "connection", connected: true });
  source.onerror = () => tell({ topic: "connection", connected: false });
  source.onmessage = ({ data, lastEventId }) => {
    lastId = lastEventId;
    const message = JSON.parse(data);
    // Missed events cannot be asked for one by one, so the screen loads again.
    tell(message.reload || message.topic === "skipped" ? { topic: "reload" } : message);
  };
}

export function disconnect() {
  source?.close();
  source = undefined;
  lastId = undefined;
}

/** Lines of the log come as long as a part that asks for them is shown. */
export function useLog(level, listener) {
  useLive(listener);
  useEffect(() => {
    connect({ log: level });
    return () => source !== undefined && connect();
  }, [level]);
}

/** Calls `listener` with each message. */
export function useLive(listener) {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const hear = (message) => latest.current(message);
    listeners.add(hear);
    return () => listeners.delete(hear);
  }, []);
}

/** Reads a route, and again after `reload`, after messages of `topics`, and when the path changes. */
export function useRoute(path, topics = []) {
  const [state, setState] = useState({ path: undefined, data: undefined, error: undefined });
  const newest = useRef(0);
  const waiting = useRef(false);
  const load = async () => {
    newest.current += 1;
    const mine = newest.current;
    try {
      const data = await get(path);
      if (mine === newest.current) setState({ path, data, error: undefined });
    } catch (error) {
      if (mine === newest.current) setState((before) => ({ ...before, path, error }));
    }
  };
  useEffect(() => {
    void load();
  }, [path]);
  useLive(({ topic }) => {
    if (topic !== "reload" && !topics.includes(topic)) return;
    // Many changes at once are one call.
    if (waiting.current) return;
    waiting.current = true;
    setTimeout(() => {
      waiting.current = false;
      void load();
    }, 300);
  });
  // Data of another path is not shown below a new heading.
  return { data: state.path === path ? state.data : undefined, error: state.error, reload: load };
}
