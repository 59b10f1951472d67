/** Fixtures for the store's rules: a store with a clock, and short functions that write events. */
import { expect } from "vitest";
import type { Address, Decision, Gather, Part } from "../../contract/index.ts";
import type { StoreFinding } from "../../sdk/store.ts";
import type { NewEvent, SessionMessage, Store, Unit } from "../../state/index.ts";

/** A store under test: how to open it empty, and how to reopen its data. */
export interface StoreContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  /** Opens a new, empty store. `now` is its clock, in epoch milliseconds; only the test moves it. */
  open(options: { readonly now: () => number }): Promise<Store>;
  /** Opens the data of `store` again, as another process would; `store` may be open or closed. */
  reopen(store: Store, options: { readonly now: () => number }): Promise<Store>;
  /** Set for a store on which several nodes work: adds the rules for several writers. */
  readonly writers?: WriterOptions;
  /**
   * Set for a store that has a `check`: calls it with the address of `store`, which is open. Adds the rules for checks.
   */
  check?(store: Store): Promise<readonly StoreFinding[]>;
}

/** What the rules for several writers need. */
export interface WriterOptions {
  /** Opens the data of `store` as another node with this name. */
  another(store: Store, options: { readonly now: () => number; readonly node: string }): Promise<Store>;
  /** Ends the lease of the node that `store` belongs to, as if it had not renewed it in time. */
  endLease(store: Store): Promise<void>;
  /** Lets the node renew its lease and look for work of nodes without one, as it does by itself from time to time. */
  look(store: Store): Promise<void>;
}

export interface StoreFixture {
  readonly store: Store;
  /** The store's clock; assign to it to move the time. */
  readonly clock: { now: number };
  /** A second store on the same data. */
  reopen(): Promise<Store>;
}

export type WithStore = (run: (fixture: StoreFixture) => Promise<void>) => () => Promise<void>;

export const start = 1_800_000_000_000;

export function createFixtures(options: Pick<StoreContractOptions, "open" | "reopen">): WithStore {
  return (run) => async () => {
    const clock = { now: start };
    const now = () => clock.now;
    const opened: Store[] = [];
    const store = await options.open({ now });
    opened.push(store);
    const reopen = async () => {
      const another = await options.reopen(store, { now });
      opened.push(another);
      return another;
    };
    try {
      await store.begin(clock.now);
      await run({ store, clock, reopen });
    } finally {
      for (const each of opened) await each.close();
    }
  };
}

/** Two nodes that work on the same data. */
export interface Nodes {
  readonly one: Store;
  readonly two: Store;
  another(node: string): Promise<Store>;
  endLease(store: Store): Promise<void>;
  look(store: Store): Promise<void>;
}

export type WithNodes = (run: (nodes: Nodes) => Promise<void>) => () => Promise<void>;

export function createNodes(options: Pick<StoreContractOptions, "open" | "reopen">, writers: WriterOptions): WithNodes {
  return (run) => async () => {
    const opened: Store[] = [];
    await createFixtures(options)(async ({ store, clock }) => {
      const another = async (node: string) => {
        const next = await writers.another(store, { now: () => clock.now, node });
        opened.push(next);
        return next;
      };
      try {
        const two = await another("two");
        await two.begin(clock.now);
        await run({
          one: store,
          two,
          another,
          endLease: (node) => writers.endLease(node),
          look: (node) => writers.look(node),
        });
      } finally {
        for (const each of opened) await each.close();
      }
    })();
  };
}

interface EventWords extends Omit<NewEvent, "event" | "id" | "at"> {
  readonly lane?: string;
  readonly gather?: Gather;
  readonly dedupeKey?: string;
  readonly source?: string;
  readonly account?: string;
  readonly at?: number;
}

export function newEvent(id: string, words: EventWords = {}): NewEvent {
  const { lane = "lane", gather, dedupeKey, source = "hooks", account, at = start, ...rest } = words;
  return {
    id,
    at,
    event: {
      source,
      kind: "agent",
      ...(account !== undefined && { account }),
      lane,
      authority: "hook",
      ...(gather && { gather }),
      ...(dedupeKey !== undefined && { dedupeKey }),
      body: { text: `body of ${id}` },
    },
    ...rest,
  };
}

/** Accepts events in order. */
export async function acceptAll(store: Store, ...events: readonly NewEvent[]): Promise<void> {
  for (const event of events) await store.accept(event);
}

/** Claims the next unit of a lane; fails if there is none. */
export async function take(store: Store, lane = "lane", now = start, limit = 50): Promise<Unit> {
  const claimed = await store.claim(lane, { now, limit });
  expect(claimed.unit).not.toBeNull();
  if (claimed.unit === null) throw new Error(`Nothing to claim in ${lane}.`);
  return claimed.unit;
}

export const idsOf = (unit: Unit): readonly string[] => unit.events.map((event) => event.id);

export const answered = { outcome: "answered", reason: "sent" } as const;

/** Ends a unit as answered. */
export function settle(store: Store, unitId: string, at = start): Promise<boolean> {
  return store.settle({ unitId, at, ...answered, decisions: [] });
}

export function decision(code: string): Decision {
  return { at: start, station: "turn", plugin: "core", verdict: "pass", code };
}

export const address: Address = { channel: "chat", account: "default", chat: "7", thread: "3" };

export function textPart(body: string): Part {
  return { kind: "text", chars: body.length, body: { text: body } };
}

/** Stores the texts that a unit says. */
export function say(store: Store, unitId: string, texts: readonly string[], messages?: readonly SessionMessage[]) {
  return store.say({
    unitId,
    at: start,
    rows: texts.map((text) => ({ address, operation: "send" as const, part: textPart(text) })),
    ending: { ...answered, sessionKey: "session", agentId: "main" },
    ...(messages && { transcript: { sessionKey: "session", messages } }),
  });
}
