/** The channel of the platform in `platform.ts`, without a fault. Broken ones replace one piece of it. */
import { type Json, Type } from "service-gateway/sdk";
import { type ChannelAccount, type ChannelConnection, ChannelError, type ChannelInbound, defineChannel } from "service-gateway/sdk/channel";
import type { ChannelContractOptions } from "service-gateway/testkit";
import { abilities, botId, openPostbox, type PostboxEvent } from "./platform.ts";

const maxChars = 200;

const options = Type.Object({ url: Type.String(), token: Type.String() });

export type Account = ChannelAccount<{ readonly url: string; readonly token: string }>;

interface Mail {
  readonly text: string;
  readonly buttons?: Json;
}

const isNumber = (value: unknown): value is number => typeof value === "number";

/** What differs from a channel without a fault. */
export type Change = (connection: ChannelConnection, account: Account) => Partial<ChannelConnection>;

function parse(raw: Json): ChannelInbound | null | undefined {
  if (typeof raw !== "object" || raw === null) return undefined;
  const { id, from, chat, thread, text, date } = raw as unknown as Partial<PostboxEvent>;
  if (!isNumber(id) || !isNumber(chat) || typeof text !== "string" || !isNumber(date) || !isNumber(from?.id)) return undefined;
  if (from.id === botId) return null;
  return {
    kind: "message",
    chat: { id: String(chat), kind: "direct", ...(isNumber(thread) && { thread: String(thread) }) },
    sender: { id: String(from.id), ...(typeof from.name === "string" && { name: from.name }) },
    text,
    media: [],
    mention: true,
    timestamp: date * 1_000,
    messageId: String(id),
  };
}

/** Whole characters, so that none is cut in two. */
function chunks(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${maxChars}}`, "gu")) ?? [];
}

/** What went wrong with a request, and whether the platform may have acted. */
async function post({ options: { url, token: secret } }: Account, mail: object, signal: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${url}/messages?token=${secret}`, { method: "POST", body: JSON.stringify(mail), signal });
  } catch (error) {
    const refused = (error as { readonly cause?: { readonly code?: string } }).cause?.code === "ECONNREFUSED";
    throw new ChannelError("network", { retryable: true, fate: refused ? "not-sent" : "unknown", detail: "The postbox did not answer" });
  }
  const answer = (await response.json()) as { readonly id?: number };
  if (response.status === 429)
    throw new ChannelError("flood_wait", { retryable: true, retryAfterMs: Number(response.headers.get("retry-after")) * 1_000 });
  if (!response.ok) throw new ChannelError("blocked_by_user");
  return String(answer.id);
}

/** Asks for events until it is closed. */
function createPolling(account: Account) {
  let after = 0;
  let timer: NodeJS.Timeout | undefined;
  const stopped = new AbortController();
  async function look(): Promise<void> {
    const response = await fetch(`${account.options.url}/events?after=${after}&token=${account.options.token}`, { signal: stopped.signal });
    account.status({ state: "connected", lastContactAt: account.now() });
    for (const event of (await response.json()) as readonly PostboxEvent[]) {
      const { id, chat, thread = "" } = event;
      await account.receive(event as unknown as Json, { id: String(id), lane: `postbox:${account.id}:${chat}:${thread}` });
      after = Math.max(after, id);
    }
  }
  async function poll(): Promise<void> {
    try {
      await look();
    } catch (error) {
      account.log.debug({ name: (error as Error).name }, "the postbox was not read");
      account.status({ state: "waiting", detail: "The postbox does not answer; it is asked again." });
    }
    if (!stopped.signal.aborted) timer = setTimeout(() => void poll(), 20);
  }
  return {
    poll,
    stop() {
      stopped.abort();
      clearTimeout(timer);
    },
  };
}

export function createPostbox(change: Change = () => ({})) {
  return defineChannel({
    id: "postbox",
    version: "1.0.0",
    host: "^0.1.0",
    options,
    secrets: ["token"],
    capabilities: {
      maxChars,
      markup: "plain",
      edits: false,
      threads: true,
      reactions: false,
      media: false,
      buttons: true,
      typing: false,
      menu: false,
    },
    open(account) {
      const polling = createPolling(account);
      const connection: ChannelConnection = {
        start: () => polling.poll(),
        parse,
        render: ({ text, buttons }) => {
          const pieces = chunks(text);
          return pieces.map((piece, index) => {
            const last = index === pieces.length - 1 && buttons.length > 0;
            return {
              kind: "text",
              chars: [...piece].length,
              body: { text: piece, ...(last && { buttons }) } as unknown as Json,
            };
          });
        },
        async send(part, { chat, thread }, signal) {
          const mail = { ...(part.body as unknown as Mail), chat, ...(thread === undefined ? {} : { thread: Number(thread) }) };
          return { messageId: await post(account, mail, signal) };
        },
        async close() {
          polling.stop();
        },
      };
      return { ...connection, ...change(connection, account) };
    },
  });
}

const message: PostboxEvent = { id: 4, from: { id: 7, name: "Ada" }, chat: 7, text: "Hello", date: 1_760_000_000 };
const raw = (event: PostboxEvent) => event as unknown as Json;

/** The contract of a postbox, whole or broken. */
export function contractOf(channel: ReturnType<typeof createPostbox>): ChannelContractOptions {
  return {
    channel,
    options: {},
    platform: { can: abilities, open: openPostbox },
    fixtures: {
      messages: [
        { raw: raw(message), expect: { text: "Hello", sender: { id: "7", name: "Ada" }, chat: { id: "7", kind: "direct" } } },
        { raw: raw({ ...message, thread: 3 }), expect: { chat: { id: "7", kind: "direct", thread: "3" } } },
      ],
      own: [raw({ ...message, from: { id: botId, name: "Bot" } })],
      renamed: [[raw(message), raw({ ...message, from: { id: 7, name: "Ada Lind" } })]],
    },
  };
}
