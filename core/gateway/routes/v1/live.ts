/**
 * One stream for pages: events that end, and changes of what waits. All clients read one bounded list, each at its own
 * place, so that a slow one needs no memory: it gets the number of messages that it has missed.
 */
import { hash } from "node:crypto";
import type { Json, TurnRecord } from "../../../contract/index.ts";
import { HttpProblem, type NumberedEvent, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { eventData } from "../../../reports/index.ts";
import type { V1Deps } from "./deps.ts";

const mostStreams = 8;
const mostBytes = 1_048_576;
const mostEntries = 2_000;
/** How often it is looked for changes that nothing announces. */
const lookEveryMs = 1_000;
/** How long the list is continued without a client, so that one that reconnects misses nothing. */
const lingerMs = 60_000;

/** Enough to see that something else waits. */
const digestLength = 16;

const topics = ["events", "waiting", "status"] as const;
type Topic = (typeof topics)[number];

interface Entry {
  readonly number: number;
  readonly topic: Topic;
  readonly data: Json;
  readonly bytes: number;
}

export interface Live {
  open(request: OwnRequest): OwnAnswer;
  /** An event has ended. */
  ended(record: TurnRecord): void;
  close(): void;
}

/** The list of what was published. Clients read it at their own speed; the oldest entries give way. */
function createFeed(newId: () => string) {
  let run = newId();
  let number = 0;
  let entries: Entry[] = [];
  let bytes = 0;
  const last = new Map<Topic, string>();
  const sleepers = new Set<() => void>();

  function publish(topic: Topic, data: Json): void {
    number += 1;
    const size = JSON.stringify(data).length;
    entries.push({ number, topic, data, bytes: size });
    bytes += size;
    while (bytes > mostBytes || entries.length > mostEntries) bytes -= entries.shift()?.bytes ?? 0;
    for (const wake of sleepers) wake();
  }

  /** Publishes a state if it has changed. */
  function note(topic: Topic, state: Json): void {
    const text = JSON.stringify(state);
    if (last.get(topic) === text) return;
    last.set(topic, text);
    publish(topic, state);
  }

  /** Until something is published, or the client is gone. Leaves nothing behind in what lives longer. */
  function sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        sleepers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      sleepers.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  /** The place in the list after the last event that a client has. */
  function placeOf(lastId: string | undefined): number | undefined {
    const [of, at] = (lastId ?? "").split("-");
    return of === run && /^\d+$/.test(at ?? "") ? Number(at) : undefined;
  }

  async function* follow(
    wanted: ReadonlySet<Topic>,
    { lastId, signal }: { readonly lastId: string | undefined; readonly signal: AbortSignal },
  ): AsyncGenerator<NumberedEvent> {
    const known = placeOf(lastId);
    let place = known ?? number;
    const at = () => `${run}-${place}`;
    // A client that was away too long reads everything again.
    yield { id: at(), data: { topic: "hello", reload: lastId !== undefined && known === undefined } };
    while (!signal.aborted) {
      const oldest = entries[0]?.number ?? number + 1;
      if (place + 1 < oldest) {
        const skipped = oldest - place - 1;
        place = oldest - 1;
        yield { id: at(), data: { topic: "skipped", skipped } };
      }
      const next = entries.find((entry) => entry.number > place);
      if (next === undefined) {
        await sleep(signal);
        continue;
      }
      place = next.number;
      if (wanted.has(next.topic)) yield { id: at(), data: { topic: next.topic, data: next.data } };
    }
  }

  return {
    publish,
    note,
    follow,
    /** The next entries begin another list. */
    clear() {
      entries = [];
      bytes = 0;
      last.clear();
      run = newId();
    },
  };
}

export function createLive(deps: V1Deps): Live {
  const { store, newId, log } = deps;
  const { publish, note, follow, clear } = createFeed(newId);
  let streams = 0;
  let leftAt = Number.NEGATIVE_INFINITY;
  let looking: NodeJS.Timeout | undefined;

  const isFollowed = () => streams > 0 || deps.now() - leftAt < lingerMs;

  async function look(): Promise<void> {
    if (!isFollowed()) return rest();
    const { waiting, running, outboxWaiting, settled } = await store.stats();
    const { ready } = deps.readiness();
    note("status", { ready, waiting, running, outboxWaiting, failed: settled.failed });
    const { waitingState } = await import("./waiting.ts");
    const { count, names } = await waitingState(deps);
    // The names contain codes, which not every client may see.
    note("waiting", { count, digest: hash("sha256", JSON.stringify(names)).slice(0, digestLength) });
  }

  function rest(): void {
    clearInterval(looking);
    looking = undefined;
    clear();
  }

  /** Counts a stream as long as it is read, and calls `onEnd` once. */
  function counted(events: AsyncGenerator<NumberedEvent>, onEnd: () => void): AsyncIterable<NumberedEvent> {
    streams += 1;
    looking ??= setInterval(
      () => void look().catch((error: unknown) => log.debug({ error }, "nothing to stream")),
      lookEveryMs,
    );
    let isOpen = true;
    const end = () => {
      if (!isOpen) return;
      isOpen = false;
      streams -= 1;
      leftAt = deps.now();
      onEnd();
    };
    return {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const step = await events.next();
          if (step.done === true) end();
          return step;
        },
        async return() {
          end();
          // The generator may hold an event, although its reader has left.
          void events.return(undefined);
          return { done: true, value: undefined };
        },
      }),
    };
  }

  return {
    open({ query, headers, caller }) {
      if (streams >= mostStreams)
        throw new HttpProblem("unavailable", `There are ${mostStreams} open streams already; close a page.`);
      const asked = (query.topics ?? "").split(",").filter((one) => one !== "");
      const wanted = new Set(topics.filter((topic) => asked.length === 0 || asked.includes(topic)));
      const gone = new AbortController();
      const leave = () => gone.abort();
      const ending = caller.session && deps.sessions.ending(caller.session.id);
      ending?.addEventListener("abort", leave);
      const events = follow(wanted, { lastId: headers["last-event-id"] ?? query.after, signal: gone.signal });
      return {
        numbered: counted(events, () => {
          ending?.removeEventListener("abort", leave);
          leave();
        }),
      };
    },
    ended({ eventId }) {
      if (!isFollowed()) return;
      store.event(eventId).then(
        (report) => report !== null && publish("events", deps.clean(eventData(report)) as unknown as Json),
        (error: unknown) => log.debug({ error }, "an event is not streamed"),
      );
    },
    close: rest,
  };
}
