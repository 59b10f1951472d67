/**
 * From the server's events to stored ones, in the order in which they came: each waits for the look-ups of those before
 * it. After a connection is made, what was missed comes first.
 */
import type { Json } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import type { Directory } from "../directory.ts";
import type { Fields } from "../fields.ts";
import type { Cursor } from "./cursor.ts";
import { createMissed } from "./missed.ts";
import { createReader, type Found } from "./reader.ts";

export interface Intake {
  /** A connection begins. `since`: what changed after this time of the server is fetched first. */
  begin(fail: (reason: unknown) => void): Session;
  /** Resolves when everything that came is stored, or was given up. */
  settled(): Promise<void>;
}

export interface Session {
  /** Fetches what changed between two times of the server. */
  catchUp(since: number, until: number): void;
  take(event: Fields): void;
  /** Everything before this time of the server has come. */
  passed(serverTime: number): void;
}

export function createIntake({
  account,
  api,
  directory,
  cursor,
}: {
  readonly account: Pick<ChannelAccount, "receive" | "room">;
  readonly api: Api;
  readonly directory: Directory;
  readonly cursor: Cursor;
}): Intake {
  let queue: Promise<unknown> = Promise.resolve();
  const reader = createReader({ api, directory });
  const store = ({ event, eventId }: Found) =>
    account.receive(event as unknown as Json, eventId === undefined ? {} : { id: eventId });
  const fetchMissed = createMissed({ account, api, directory, reader, store });

  function begin(fail: (reason: unknown) => void): Session {
    let isOver = false;
    /** What was submitted is stored. */
    let stored: Promise<unknown> = Promise.resolve();
    function giveUp(reason: unknown): void {
      isOver = true;
      fail(reason);
    }
    function then(work: () => unknown): void {
      queue = queue.then(() => (isOver ? undefined : work())).catch(giveUp);
    }
    return {
      catchUp: (since, until) =>
        then(async () => {
          await fetchMissed(since, until, () => isOver);
          if (!isOver) cursor.advance(until);
        }),
      take: (event) =>
        then(async () => {
          const one = await reader.read(event);
          if (one === undefined) return;
          // The next one need not wait: the gateway stores in the order of the calls.
          const storing = store(one);
          stored = Promise.all([stored, storing]).then(() => cursor.advance(one.event.at));
          stored.catch(giveUp);
        }),
      passed: (serverTime) =>
        then(() => {
          stored.then(() => cursor.advance(serverTime)).catch(() => {});
        }),
    };
  }

  return { begin, settled: async () => void (await queue) };
}
