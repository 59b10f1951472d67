/** One stream for pages: events that end, changes of what waits, and lines of the log. */
import { hash } from "node:crypto";
import type { AccountReport } from "../../../channels/index.ts";
import type { Json, TurnRecord } from "../../../contract/index.ts";
import { HttpProblem, type NumberedEvent, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { eventData, severities } from "../../../reports/index.ts";
import type { V1Deps } from "./deps.ts";
import { createFeed, type Topic, topics } from "./feed.ts";
import { codeRemover, mayDecide } from "./hidden-codes.ts";

const mostStreams = 8;
/** How often it is looked for changes that nothing announces. */
const lookEveryMs = 1_000;
/** How long the list is continued without a client, so that one that reconnects misses nothing. */
const lingerMs = 60_000;
/** Enough to see that something else waits. */
const digestLength = 16;
/** A longer line is in the file. */
const longestLine = 20_000;

export interface Live {
  open(request: OwnRequest): OwnAnswer;
  /** An event has ended. */
  ended(record: TurnRecord): void;
  close(): void;
}

const digestOf = (value: Json): string => hash("sha256", JSON.stringify(value)).slice(0, digestLength);

/** Changes with the state of an account, and with what a person has to do for it. */
const accountStates = (accounts: readonly AccountReport[]): Json =>
  accounts.map(({ channel, account, status: { state, detail = "", action } }) => [
    ...[channel, account, state],
    ...[detail, JSON.stringify(action) ?? ""],
  ]);

type Asked = Pick<OwnRequest, "query" | "caller">;

/** A paired device reads no lines: they contain words of people. */
function wantedOf({ query, caller }: Asked): ReadonlySet<Topic> {
  const asked = (query.topics ?? "").split(",").filter((one) => one !== "");
  const isDevice = caller.session === undefined && !mayDecide(caller);
  const usual = topics.filter((topic) => topic !== "log" && (asked.length === 0 || asked.includes(topic)));
  return new Set<Topic>([...usual, ...(asked.includes("log") && !isDevice ? (["log"] as const) : [])]);
}

/**
 * What a client sees of an entry: lines of its level, and codes only if it may decide. `withoutCodes` removes those
 * that are valid now.
 */
function shownTo({ query, caller }: Asked, withoutCodes: (data: Json) => Json) {
  const { level = "debug" } = query;
  const least = Object.hasOwn(severities, level) ? severities[level as keyof typeof severities] : 0;
  return (topic: Topic, data: Json): Json | undefined => {
    if (topic === "log" && Number((data as { readonly level?: unknown }).level) < least) return undefined;
    return mayDecide(caller) ? data : withoutCodes(data);
  };
}

/** The same events, and `onEnd` once when they end or their reader leaves. */
function withEnd(events: AsyncGenerator<NumberedEvent>, onEnd: () => void): AsyncIterable<NumberedEvent> {
  let isOpen = true;
  const end = () => {
    if (isOpen) onEnd();
    isOpen = false;
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

export function createLive(deps: V1Deps): Live {
  const { store, newId, log } = deps;
  const { publish, note, follow, clear } = createFeed(newId);
  let streams = 0;
  /** Streams that read the log. Without one, no line is kept. */
  let readers = 0;
  let removeCodes: Awaited<ReturnType<typeof codeRemover>>;
  let leftAt = Number.NEGATIVE_INFINITY;
  let looking: NodeJS.Timeout | undefined;
  let isLooking = false;

  const isFollowed = () => streams > 0 || deps.now() - leftAt < lingerMs;

  /** Without a second look beside one that waits for a plugin. */
  async function look(): Promise<void> {
    if (!isFollowed()) return rest();
    if (isLooking) return;
    isLooking = true;
    await lookNow().finally(() => {
      isLooking = false;
    });
  }

  async function lookNow(): Promise<void> {
    removeCodes = await codeRemover(deps);
    const { waiting, running, outboxWaiting, settled } = await store.stats();
    const { ready } = deps.readiness();
    const accounts = digestOf(accountStates(deps.accounts()));
    note("status", { ready, waiting, running, outboxWaiting, failed: settled.failed, accounts });
    const { waitingState } = await import("./waiting.ts");
    const { count, names } = await waitingState(deps);
    // The names contain codes, which not every client may see.
    note("waiting", { count, digest: digestOf(names) });
  }

  /** A line is published as it is in the file: JSON, and without secrets. */
  function publishLine(line: string): void {
    if (line.length <= longestLine) publish("log", JSON.parse(line) as Json);
  }

  function readLog(more: 1 | -1): void {
    readers += more;
    deps.followLog(readers > 0 ? publishLine : undefined);
  }

  function rest(): void {
    clearInterval(looking);
    looking = undefined;
    clear();
  }

  return {
    open(request) {
      const { query, headers, caller } = request;
      if (streams >= mostStreams)
        throw new HttpProblem("unavailable", `There are ${mostStreams} open streams already; close a page.`);
      const wanted = wantedOf(request);
      const isReader = wanted.has("log");
      const gone = new AbortController();
      const leave = () => gone.abort();
      const ending = caller.session && deps.sessions.ending(caller.session.id);
      ending?.addEventListener("abort", leave);
      const lastId = headers["last-event-id"] ?? query.after;
      const shown = shownTo(request, (data) => removeCodes?.(data) ?? data);
      const events = follow(wanted, { lastId, signal: gone.signal, shown });
      streams += 1;
      looking ??= setInterval(
        () => void look().catch((error: unknown) => log.debug({ error }, "nothing to stream")),
        lookEveryMs,
      );
      if (isReader) readLog(1);
      return {
        numbered: withEnd(events, () => {
          streams -= 1;
          leftAt = deps.now();
          ending?.removeEventListener("abort", leave);
          if (isReader) readLog(-1);
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
