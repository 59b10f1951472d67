/** A channel without a platform. A test submits messages; everything the gateway sends is recorded. */
import { inboundProblem } from "../../host/index.ts";
import {
  type Button,
  type ChannelAccount,
  ChannelError,
  type ChannelInbound,
  defineChannel,
  type Json,
  type Part,
  type PluginDefinition,
  type Reply,
  Type,
} from "../../sdk/contract.ts";

/** A message that the loopback channel accepted, as a person would see it. */
export interface Delivered {
  readonly messageId: string;
  /** The chat's id; in a direct chat, the person's id. */
  readonly chat: string;
  readonly thread?: string;
  /** As Markdown; empty for a message that contains only files. */
  readonly text: string;
  readonly buttons: readonly (readonly Button[])[];
  /** The gateway's own copies of the files, in its state directory. */
  readonly media: readonly { readonly path?: string; readonly mimeType?: string; readonly fileName?: string; readonly size?: number }[];
  /** Id of the message it replies to. */
  readonly replyTo?: string;
  /** Id of the message it edited. */
  readonly replaces?: string;
  /** Epoch milliseconds of the simulated clock. */
  readonly at: number;
}

/** What a person writes, and where. */
export interface Said {
  /** The person's id. The default, `owner`, may use every command; any other id is an ordinary sender. */
  readonly from?: string;
  readonly name?: string;
  /** Default: the person's direct chat; with `group`, the chat `group`. */
  readonly chat?: string;
  /** True: the message is written in a group. */
  readonly group?: boolean;
  readonly thread?: string;
  /** Whether the message addresses the bot. Default false; in a group the bot replies only to messages that address it. */
  readonly mention?: boolean;
  /** Id of the message it replies to. */
  readonly replyTo?: string;
  /** The platform's id of the event; the same id again is a repetition. Default: a new one. */
  readonly id?: string;
}

/** Called before a message is regarded as sent. If it throws a `ChannelError`, that is the platform's answer. */
export type BeforeSend = (message: Pick<Delivered, "chat" | "thread" | "text">) => void | Promise<void>;

export const loopbackId = "loopback";
export const ownerId = "owner";

interface Content {
  readonly text: string;
  readonly buttons: Delivered["buttons"];
  readonly media: Delivered["media"];
}

export interface TestChannel {
  readonly plugin: PluginDefinition;
  readonly outbox: readonly Delivered[];
  /** Resolves with the event's id once it is stored. */
  say(text: string, said: Said): Promise<string>;
  /** Submits an event that the channel does not recognize. */
  junk(raw: Json): Promise<string>;
  beforeSend: BeforeSend;
  /** Number of sends that had no effect and that the gateway will retry. */
  retrying(): number;
  /** Resolves once every earlier request of the gateway to its store is done. */
  barrier(): Promise<void>;
}

function inboundOf(text: string, said: Said, { now, updateId }: { readonly now: number; readonly updateId: string }): ChannelInbound {
  const { from = ownerId, name = from, group = false, thread, mention = !group, replyTo } = said;
  const chat = said.chat ?? (group ? "group" : from);
  return {
    kind: "message",
    chat: { id: chat, kind: group ? "group" : "direct", ...(thread === undefined ? {} : { thread }) },
    sender: { id: from, name },
    text,
    media: [],
    mention,
    timestamp: now,
    messageId: `in-${updateId}`,
    ...(replyTo === undefined ? {} : { replyTo: { messageId: replyTo } }),
  };
}

function isInbound(raw: Json): boolean {
  return typeof raw === "object" && raw !== null && "chat" in raw && inboundProblem(raw) === undefined;
}

const maxChars = 20_000;
/** Splits between whole characters. */
const longestMessage = new RegExp(`[\\s\\S]{1,${maxChars}}`, "gu");

/** Files go with the first message of a reply, buttons below the last. */
function partsOf({ text, buttons, media, replyTo }: Reply): readonly Part[] {
  const texts = text.match(longestMessage) ?? (media.length > 0 ? [""] : []);
  return texts.map((piece, index) => {
    const isLast = index === texts.length - 1;
    const body = { text: piece, buttons: isLast ? buttons : [], media: index === 0 ? media : [] };
    return {
      kind: "text",
      chars: [...piece].length,
      body: body as unknown as Json,
      ...(replyTo === undefined ? {} : { replyTo }),
    };
  });
}

export function createTestChannel(): TestChannel {
  const outbox: Delivered[] = [];
  const retried = new Set<string>();
  let account: ChannelAccount<object> | undefined;
  let updates = 0;
  const opened = (): ChannelAccount<object> => {
    if (account === undefined)
      throw new Error("The loopback channel is not open: give the test host no configuration that switches it off.");
    return account;
  };
  const take = async (raw: Json, { id, lane }: { readonly id: string; readonly lane: string }) =>
    (await opened().receive(raw, { id, lane: `${loopbackId}:default:${lane}` })).eventId;
  const channel: TestChannel = {
    outbox,
    beforeSend: () => {},
    retrying: () => retried.size,
    async say(text, said) {
      updates += 1;
      const id = said.id ?? `update-${updates}`;
      const inbound = inboundOf(text, said, { now: opened().now(), updateId: id });
      const { chat } = inbound;
      return await take(inbound as unknown as Json, { id, lane: chat.thread === undefined ? chat.id : `${chat.id}:${chat.thread}` });
    },
    async junk(raw) {
      updates += 1;
      return await take(raw, { id: `update-${updates}`, lane: "junk" });
    },
    async barrier() {
      await opened().store.set("barrier", updates);
    },
    plugin: defineChannel({
      id: loopbackId,
      version: "1.0.0",
      host: "*",
      options: Type.Object({}),
      capabilities: {
        maxChars,
        markup: "rich",
        edits: false,
        threads: true,
        reactions: false,
        media: true,
        buttons: true,
        typing: false,
        menu: false,
      },
      open(given) {
        account = given;
        return {
          async start() {
            given.status({ state: "connected", identity: { id: "bot", username: "test_bot" }, lastContactAt: given.now() });
          },
          parse: (raw) => (isInbound(raw) ? (raw as unknown as ChannelInbound) : undefined),
          render: partsOf,
          async send(part, { chat, thread }) {
            const content = part.body as unknown as Content;
            const at = { chat, ...(thread === undefined ? {} : { thread }) };
            await attempt(part, content, at);
            const messageId = part.replaces ?? `out-${outbox.length + 1}`;
            const references = {
              ...(part.replyTo === undefined ? {} : { replyTo: part.replyTo }),
              ...(part.replaces === undefined ? {} : { replaces: part.replaces }),
            };
            outbox.push({ messageId, ...at, ...content, ...references, at: given.now() });
            return { messageId };
          },
          async close() {},
        };
      },
    }),
  };

  async function attempt(part: Part, { text }: Content, at: Pick<Delivered, "chat" | "thread">): Promise<void> {
    const key = JSON.stringify([at, part.body]);
    retried.delete(key);
    try {
      await channel.beforeSend({ ...at, text });
    } catch (error) {
      if (error instanceof ChannelError && error.retryable && error.fate === "not-sent") retried.add(key);
      throw error;
    }
  }
  return channel;
}
