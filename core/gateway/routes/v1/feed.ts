/**
 * The list of what was published, which all clients of the stream read, each at its own place: a slow one needs no
 * memory, and gets the number of messages that it has missed. Lines of the log have a list of their own, so that a
 * flood of them displaces no event.
 */
import type { Json } from "../../../contract/index.ts";
import type { NumberedEvent } from "../../../http/index.ts";

export const topics = ["events", "waiting", "status", "log"] as const;
export type Topic = (typeof topics)[number];

const mostBytes = 1_048_576;
const mostEntries = 2_000;

interface Entry {
  readonly number: number;
  readonly topic: Topic;
  readonly data: Json;
  readonly bytes: number;
}

/** The newest entries of some topics. */
class Recent {
  readonly #holds: (topic: Topic) => boolean;
  #entries: Entry[] = [];
  #bytes = 0;
  /** The number of the newest entry that gave way. */
  #lost = 0;

  constructor(holds: (topic: Topic) => boolean) {
    this.#holds = holds;
  }

  add(entry: Entry): void {
    if (!this.#holds(entry.topic)) return;
    this.#entries.push(entry);
    this.#bytes += entry.bytes;
    while (this.#bytes > mostBytes || this.#entries.length > mostEntries) {
      const oldest = this.#entries.shift();
      this.#bytes -= oldest?.bytes ?? 0;
      this.#lost = oldest?.number ?? this.#lost;
    }
  }

  isWanted(wanted: ReadonlySet<Topic>): boolean {
    return [...wanted].some((topic) => this.#holds(topic));
  }

  get lost(): number {
    return this.#lost;
  }

  after(place: number): Entry | undefined {
    const last = this.#entries.at(-1);
    if (last === undefined || last.number <= place) return undefined;
    return this.#entries.find(({ number }) => number > place);
  }
}

interface FollowOptions {
  readonly lastId: string | undefined;
  readonly signal: AbortSignal;
  /** What a client may see of an entry; `undefined` leaves it out. */
  readonly shown?: (topic: Topic, data: Json) => Json | undefined;
}

export interface Feed {
  publish(topic: Topic, data: Json): void;
  /** Publishes a state if it has changed. */
  note(topic: Topic, state: Json): void;
  follow(wanted: ReadonlySet<Topic>, options: FollowOptions): AsyncGenerator<NumberedEvent>;
  /** The next entries begin another list. */
  clear(): void;
}

const empty = (): readonly Recent[] => [new Recent((topic) => topic !== "log"), new Recent((topic) => topic === "log")];

export function createFeed(newId: () => string): Feed {
  let run = newId();
  let number = 0;
  let lists = empty();
  const last = new Map<Topic, string>();
  const sleepers = new Set<() => void>();

  function publish(topic: Topic, data: Json): void {
    number += 1;
    const entry = { number, topic, data, bytes: JSON.stringify(data).length };
    for (const list of lists) list.add(entry);
    for (const wake of sleepers) wake();
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
    { lastId, signal, shown = (_, data) => data }: FollowOptions,
  ): AsyncGenerator<NumberedEvent> {
    const known = placeOf(lastId);
    let place = known ?? number;
    const at = () => `${run}-${place}`;
    // A client that was away too long reads everything again.
    yield { id: at(), data: { topic: "hello", reload: lastId !== undefined && known === undefined } };
    while (!signal.aborted) {
      const own = lists.filter((list) => list.isWanted(wanted));
      const lost = Math.max(0, ...own.map((list) => list.lost));
      if (place < lost) {
        const skipped = lost - place;
        place = lost;
        yield { id: at(), data: { topic: "skipped", skipped } };
      }
      const [next] = own.flatMap((list) => list.after(place) ?? []).toSorted((one, other) => one.number - other.number);
      if (next === undefined) {
        await sleep(signal);
        continue;
      }
      place = next.number;
      const data = wanted.has(next.topic) ? shown(next.topic, next.data) : undefined;
      if (data !== undefined) yield { id: at(), data: { topic: next.topic, data } };
    }
  }

  return {
    publish,
    note(topic, state) {
      const text = JSON.stringify(state);
      if (last.get(topic) === text) return;
      last.set(topic, text);
      publish(topic, state);
    },
    follow,
    clear() {
      lists = empty();
      last.clear();
      run = newId();
    },
  };
}
