/** Receives events: long polling, with the place where it goes on stored behind them. */
import { ChannelError } from "service-gateway/sdk/channel";
import { list, record, string } from "./homeserver.ts";
import type { Raw } from "./message.ts";
import { type ReceivingOptions, receiveRoom } from "./receiving.ts";
import { filter } from "./timeline.ts";

const waitsMs = 30_000;

export interface Sync {
  /** Remembers where the first start is: what was written before is not received. */
  begin(bot: Raw["bot"], signal: AbortSignal): Promise<void>;
  /** One answer of the homeserver, completely stored. `waits`: it may take until something happens. */
  next(bot: Raw["bot"], signal: AbortSignal, how: { readonly waits: boolean }): Promise<void>;
}

export function createSync(deps: ReceivingOptions): Sync {
  const { account, server, rooms, invitations } = deps;
  const { store } = account;

  async function next(bot: Raw["bot"], signal: AbortSignal, timeout: number): Promise<void> {
    const since = string(record(await store.get("since")).since);
    const answer = await server.call({
      // The first answer has the state of all rooms.
      ...{ name: "sync", path: "client/v3/sync", signal, waitsMs: since === undefined ? 60_000 : timeout },
      query: { filter, timeout: String(timeout), ...(since !== undefined && { since }) },
    });
    for (const event of list(record(answer.account_data).events).map(record))
      if (event.type === "m.direct") await rooms.setDirect(event.content);
    const { invite, join, leave } = record(answer.rooms);
    for (const [id, joined] of Object.entries(record(join)))
      await receiveRoom(deps, { id, joined, since }, { bot, signal });
    for (const id of Object.keys(record(leave))) {
      await rooms.remove(id);
      await invitations.settle(id);
    }
    for (const [id, found] of Object.entries(record(invite))) await invitations.consider(id, found, bot, signal);
    const after = string(answer.next_batch);
    if (after === undefined) throw new ChannelError("bad_answer", { retryable: true, detail: "sync: no next_batch" });
    if (after !== since) await store.set("since", { bot: bot.id, since: after });
  }

  return {
    async begin(bot, signal) {
      if (record(await store.get("since")).bot === bot.id) return;
      // Nothing of another bot, whose token the account had before, is true of this one.
      for (const { key } of await store.list()) await store.delete(key);
      await next(bot, signal, 0);
    },
    next: (bot, signal, { waits }) => next(bot, signal, waits ? waitsMs : 0),
  };
}
