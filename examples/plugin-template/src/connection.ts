/** The connection of one account: it asks for events until it is closed, and sends what the agent says. */
import { setTimeout as wait } from "node:timers/promises";
import { type ChannelAccount, type ChannelConnection, ChannelError } from "service-gateway/sdk/channel";
import { createApi } from "./api.ts";
import type { Options } from "./index.ts";
import { parse } from "./parse.ts";
import { render } from "./render.ts";

const longestPauseMs = 60_000;

export function openConnection(account: ChannelAccount<Options>): ChannelConnection {
  const api = createApi(account.options, account.calling);
  const closing = new AbortController();
  const signal = AbortSignal.any([account.signal, closing.signal]);
  let running: Promise<void> | undefined;

  /** Takes events in until a call fails. */
  async function poll(): Promise<never> {
    for (;;) {
      await account.room();
      const after = Number((await account.store.get("after")) ?? 0);
      const events = await api.events(after, signal);
      for (const event of events) {
        await account.receive({ ...event }, { id: String(event.id), lane: `acme-chat:${account.id}:${event.chat}` });
      }
      // Only now, when all are stored: what is not confirmed comes again, and its id tells that it is the same.
      const last = events.at(-1);
      if (last !== undefined) await account.store.set("after", last.id);
    }
  }

  /** Connects again after each failure, with a longer pause each time. */
  async function run(connected: () => void): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const identity = await api.me(signal);
        account.status({ state: "connected", identity, lastContactAt: account.now() });
        connected();
        failures = 0;
        await poll();
      } catch (error) {
        if (signal.aborted) return;
        // No pause mends a wrong token.
        if (error instanceof ChannelError && error.reason === "unauthorized") throw error;
        account.status({ state: "waiting", detail: error instanceof Error ? error.message : String(error) });
        await wait(Math.min(longestPauseMs, 1_000 * 2 ** failures), undefined, { signal }).catch(() => {});
      }
    }
  }

  return {
    start() {
      return new Promise((resolve, reject) => {
        running = run(resolve).then(resolve, (error: unknown) => {
          account.status({ state: "failed", detail: error instanceof Error ? error.message : String(error) });
          reject(error);
        });
      });
    },
    parse,
    render,
    async send({ body }, { chat }, sending) {
      return { messageId: await api.post(chat, String(body), AbortSignal.any([sending, signal])) };
    },
    async probe() {
      try {
        const identity = await api.me(AbortSignal.any([signal, AbortSignal.timeout(10_000)]));
        return { ok: true, detail: `Signed in as ${identity.name}.`, identity };
      } catch (error) {
        return { ok: false, detail: error instanceof Error ? error.message : String(error) };
      }
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
