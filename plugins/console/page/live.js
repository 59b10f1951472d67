/** The stream of changes. One for the page, however many parts of it listen. */
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "./api.js";

const listeners = new Set();
let source;

const tell = (message) => {
  for (const listener of listeners) listener(message);
};

export function connect() {
  source?.close();
  source = new EventSource("/gateway/v1/stream");
  source.onopen = () => tell({ topic: "connection", connected: true });
  source.onerror = () => tell({ topic: "connection", connected: false });
  source.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    // Missed events cannot be asked for one by one, so the screen loads again.
    tell(message.reload || message.topic === "skipped" ? { topic: "reload" } : message);
  };
}

export function disconnect() {
  source?.close();
  source = undefined;
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
