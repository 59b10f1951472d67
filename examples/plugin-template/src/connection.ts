/** The connection of one account: it asks for events until it is closed, and sends what the agent says. */
import { type ChannelAccount, type ChannelConnection, keepConnected } from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import type { Options } from "./index.ts";
import { parse } from "./parse.ts";
import { render } from "./render.ts";

export function openConnection(account: ChannelAccount<Options>): ChannelConnection {
  const api = createApi(account.options, account.calling);
  let polling: Promise<unknown> = Promise.resolve();

  /** Takes events in until a call fails, or the account closes. */
  async function poll(signal: AbortSignal): Promise<never> {
    for (;;) {
      await account.room();
      const after = Number((await account.store.get("after")) ?? 0);
      const events = await api.events(after, signal);
      // The lane of an event is the chat that `parse` finds in it.
      for (const event of events) await account.receive({ ...event }, { id: String(event.id) });
      // Only now, when all are stored: what is not confirmed comes again, and its id tells that it is the same.
      const last = events.at(-1);
      if (last !== undefined) await account.store.set("after", last.id);
    }
  }

  return {
    // Connects again after each failure, with longer and longer waits, and reports the account's state.
    start: () =>
      keepConnected(account, async (signal) => {
        const identity = await api.me(signal);
        const lost = poll(signal);
        polling = lost.catch(() => {});
        return { identity, lost };
      }),
    parse,
    render,
    async send({ body }, { chat }, signal) {
      return { messageId: await api.post(chat, String(body), AbortSignal.any([signal, account.signal])) };
    },
    async probe() {
      try {
        const identity = await api.me(account.signal);
        return { ok: true, detail: `Signed in as ${identity.name}.`, identity };
      } catch (error) {
        return { ok: false, detail: error instanceof Error ? error.message : String(error) };
      }
    },
    async close() {
      // The signal of the account has ended its calls.
      await polling;
    },
  };
}
