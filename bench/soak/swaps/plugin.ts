/**
 * The plugin that the soak replaces: a channel with a timer, an engine, a tap and a command, all of which name their
 * version. It is copied with another version for each swap.
 */
import { definePlugin, type EngineDefinition, type Json, type Reply, Type } from "service-gateway/sdk";
import type { ChannelAccount } from "service-gateway/sdk/channel";

/** What the soak and every instance share: instances come and go, the outside world stays. */
export interface Outside {
  /** Channels that are connected, the newest last. */
  readonly lines: ((text: string) => Promise<unknown>)[];
  timers: number;
  instances: number;
  /** A part of an instance, which nothing refers to once the instance is closed. */
  watch(part: object): void;
  onSent(text: string): void;
}

const version = 0;
const outside = (globalThis as unknown as { readonly swapsOutside: Outside }).swapsOutside;

interface Update {
  readonly id: string;
  readonly text: string;
}

function open(account: ChannelAccount<object>) {
  outside.watch(account);
  let timer: NodeJS.Timeout | undefined;
  const line = (text: string) => {
    const update: Update = { id: account.newId(), text };
    return account.receive(update as unknown as Json, { id: update.id, lane: `line:${text.split(" ")[0]}` });
  };
  return {
    async start() {
      timer = setInterval(() => {}, 60_000);
      outside.timers += 1;
      outside.lines.push(line);
      account.status({ state: "connected" });
    },
    parse(raw: Json) {
      const { id, text } = raw as unknown as Update;
      const chat = text.split(" ")[0] ?? "";
      return {
        ...{ text, media: [], mention: "none", kind: "message", timestamp: 0, messageId: id },
        chat: { id: chat, kind: "direct" },
        sender: { id: chat, isBot: false },
      } as const;
    },
    render: (reply: { readonly text: string }) => [{ kind: "text", chars: reply.text.length, body: reply.text }],
    async send(part: { readonly body: Json }) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      outside.onSent(String(part.body));
      return { messageId: account.newId() };
    },
    async pause() {
      const at = outside.lines.indexOf(line);
      if (at !== -1) outside.lines.splice(at, 1);
    },
    async close() {
      await this.pause();
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      outside.timers -= 1;
    },
  };
}

export default definePlugin({
  id: "swapped",
  version: `1.0.${version}`,
  host: "^0.2.0",
  setup(host) {
    outside.instances += 1;
    outside.watch(host);
    host.onClose(() => {
      outside.instances -= 1;
    });
    host.channel({
      id: "line",
      options: Type.Object({}),
      capabilities: { maxChars: 4_000, markup: "plain" },
      open,
    } as never);
    const engine: EngineDefinition = {
      id: "swapped",
      async *run(turn) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield { type: "text", delta: `${version}: ${turn.messages.at(-1)?.text ?? ""}` };
        yield { type: "done" };
      },
    };
    outside.watch(engine);
    host.engine(engine);
    const addVersion = (reply: Reply) => ({ ...reply, text: `${version}, ${reply.text}` });
    outside.watch(addVersion);
    host.tap("formatting", addVersion);
    host.command({ name: "version", summary: "Says the version.", role: "allowed", run: async () => String(version) });
  },
});
