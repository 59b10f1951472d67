/** A plugin that misbehaves: one call of it throws, rejects, never answers, answers late, or returns junk. */
import { onTestFinished, vi } from "vitest";
import {
  type ChannelAccount,
  type ChannelConnection,
  type ChannelInbound,
  definePlugin,
  type Json,
  type PluginDefinition,
  type PluginHost,
  type Reply,
  Type,
} from "../../core/sdk/contract.ts";

export const faults = ["throws", "rejects", "never answers", "answers late", "returns junk"] as const;
export type Fault = (typeof faults)[number];

/** The timers of this process run with the real ones, and can be moved on. Everything else stays as it is. */
export function playTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true, advanceTimeDelta: 5 });
}

const realTimeout = globalThis.setTimeout;

/** Does what the fault says. Where a deadline has to end it, the clock is moved on by `ms` right after the call. */
export function misbehave(
  fault: Fault,
  { ms, good, junk = 5 }: { readonly ms: number; readonly good?: unknown; readonly junk?: unknown },
) {
  if (fault === "throws") throw new Error("the plugin is broken");
  if (fault === "rejects") return Promise.reject(new Error("the plugin is broken"));
  if (fault === "returns junk") return junk;
  // A call that is repeated when the test is over finds the real clock.
  realTimeout(() => void (vi.isFakeTimers() && vi.advanceTimersByTime(ms + 10)), 20);
  return new Promise((resolve) => {
    if (fault === "answers late") setTimeout(() => resolve(good), ms + 5);
  });
}

/** The platform answers other calls: a send of unknown fate is repeated only then. */
export function platformAnswers(call: () => void): void {
  const answering = setInterval(call, 20);
  onTestFinished(() => clearInterval(answering));
}

export const plugin = (id: string, setup: (host: PluginHost) => void | Promise<void>): PluginDefinition =>
  definePlugin({ id, version: "1.0.0", host: "^0.2.0", setup });

export interface Desk {
  readonly plugin: PluginDefinition;
  /** Texts that arrived, with `*` before an edit. */
  readonly sent: string[];
  readonly removed: string[];
  readonly life: string[];
  /** Each account that was opened, oldest first. */
  readonly accounts: ChannelAccount<Record<string, unknown>>[];
  say(text: string, more?: object): Promise<string>;
}

/** The channel `desk` of the plugin `acme`, with whatever differs from a channel that works. */
export function createDesk(
  broken: (account: ChannelAccount<Record<string, unknown>>, good: ChannelConnection) => Partial<ChannelConnection>,
  { markup = "plain", rich = false }: { readonly markup?: "plain" | "rich"; readonly rich?: boolean } = {},
): Desk {
  const desk = {
    sent: [] as string[],
    removed: [] as string[],
    life: [] as string[],
    accounts: [] as Desk["accounts"][number][],
  };
  let updates = 0;
  const open = (account: Desk["accounts"][number]): ChannelConnection => {
    desk.accounts.push(account);
    desk.life.push(`open ${account.id}`);
    const good: ChannelConnection = {
      async start() {
        desk.life.push(`start ${account.id}`);
        account.status({ state: "connected", identity: { id: "bot" } });
      },
      parse: (raw) => raw as unknown as ChannelInbound,
      render: (reply: Reply) =>
        reply.text === "" ? [] : [{ kind: "text", chars: reply.text.length, body: reply.text }],
      async send(part) {
        desk.sent.push(`${part.replaces === undefined ? "" : "*"}${String(part.body)}`);
        return { messageId: part.replaces ?? `m${desk.sent.length}` };
      },
      async remove(messageId) {
        desk.removed.push(messageId);
      },
      async close() {
        desk.life.push(`close ${account.id}`);
      },
    };
    return { ...good, ...broken(account, good) };
  };
  return {
    ...desk,
    plugin: plugin("acme", (host) =>
      host.channel({
        id: "desk",
        version: "1.0.0",
        host: "^0.2.0",
        options: Type.Object({
          label: Type.String({ default: "first" }),
          token: Type.Optional(Type.String()),
          retry: Type.Optional(Type.Unknown()),
          actions: Type.Optional(Type.Unknown()),
        }),
        credentials: ["token"],
        connectionOptions: ["token"],
        capabilities: {
          maxChars: 4_000,
          markup,
          edits: rich,
          threads: false,
          reactions: rich,
          media: rich,
          buttons: rich,
          typing: rich,
          menu: rich,
          stickers: rich,
        },
        open: open as never,
      }),
    ),
    async say(text, more = {}) {
      const account = desk.accounts.at(-1);
      if (account === undefined) throw new Error("the channel is not open");
      updates += 1;
      const place = { chat: { id: "7", kind: "direct" }, sender: { id: "7" }, messageId: `in${updates}` };
      const inbound = { kind: "message", ...place, text, media: [], mention: false, timestamp: account.now(), ...more };
      return (await account.receive(inbound as Json, { id: String(updates), lane: `desk:${account.id}:7` })).eventId;
    },
  };
}
