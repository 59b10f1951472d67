/** A channel without a platform: what a test says goes in, what the gateway sends is recorded. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inboundProblem } from "../../host/index.ts";
import {
  type Button,
  type ChannelAccount,
  ChannelError,
  type ChannelInbound,
  defineChannel,
  type InboundMedia,
  type Json,
  type Part,
  type PluginDefinition,
  type Reply,
  sniff,
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
  readonly media: readonly {
    readonly path?: string;
    readonly mimeType?: string;
    readonly fileName?: string;
    readonly size?: number;
  }[];
  /** Id of the message it replies to. */
  readonly replyTo?: string;
  /** Id of the message it edited. */
  readonly replaces?: string;
  /** The one person in the group who sees it, such as who has used a command. Absent: everyone. */
  readonly onlyFor?: string;
  /** Epoch milliseconds of the simulated clock. */
  readonly at: number;
}

/** A file that a person sends; what is absent is taken from its content. */
export interface SentFile {
  readonly name?: string;
  readonly mimeType?: string;
  readonly bytes: Uint8Array;
}

/** What a person writes, and where. */
export interface SayOptions {
  /** The person's id. The default, `owner`, may use every command; any other id is an ordinary sender. */
  readonly from?: string;
  readonly name?: string;
  /** Default: the person's direct chat; with `group`, the chat `group`. */
  readonly chat?: string;
  /** True: the message is written in a group. */
  readonly group?: boolean;
  readonly thread?: string;
  /**
   * Whether the message addresses the bot. Default false; in a group the bot replies only to messages that address it.
   */
  readonly mention?: boolean;
  /** Id of the message it replies to. */
  readonly replyTo?: string;
  /** Files beside the text; the agent gets each as a file of its own. */
  readonly files?: readonly SentFile[];
  /** Id of a message that the person wrote before: this changes it. */
  readonly edits?: string;
  /** Id of a message that the person wrote before: this deletes it. The text is ignored. */
  readonly deletes?: string;
  /** The platform's id of the event; the same one again is a repetition. Default: a new one. */
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

/** Of a press: the message with the button. */
interface Pressing {
  readonly press?: string;
}

export interface TestChannel {
  readonly plugin: PluginDefinition;
  readonly outbox: readonly Delivered[];
  /** Resolves with the id of the event once it is stored. */
  say(text: string, options: SayOptions, more?: Pressing): Promise<string>;
  /** The last button with this text or value that was sent to the person's chat. */
  buttonOf(
    button: string,
    by: SayOptions,
  ): { readonly chat: string; readonly value: string; readonly messageId: string };
  /** The open connection sends nothing more, as that of a killed process. */
  die(): void;
  beforeSend: BeforeSend;
  /** Resolves once every earlier request of the gateway to its store is done. */
  barrier(): Promise<void>;
}

const chatOf = ({ from = ownerId, group = false, chat }: SayOptions) => chat ?? (group ? "group" : from);

function kindOf({ edits, deletes }: SayOptions, press: string | undefined): NonNullable<ChannelInbound["kind"]> {
  if (press !== undefined) return "press";
  if (deletes !== undefined) return "delete";
  return edits === undefined ? "message" : "edit";
}

function inboundOf(
  text: string,
  options: SayOptions,
  {
    now,
    updateId,
    media,
    press,
  }: { readonly now: number; readonly updateId: string; readonly media: readonly InboundMedia[] } & Pressing,
): ChannelInbound {
  const { from = ownerId, name = from, group = false, thread, mention = !group, replyTo, edits, deletes } = options;
  return {
    kind: kindOf(options, press),
    chat: { id: chatOf(options), kind: group ? "group" : "direct", ...(thread === undefined ? {} : { thread }) },
    sender: { id: from, name },
    text: deletes !== undefined ? "" : text === "" && media.length > 0 ? `[${media[0]?.kind}]` : text,
    media,
    mention,
    timestamp: now,
    messageId: press ?? deletes ?? edits ?? `in-${updateId}`,
    ...(replyTo === undefined ? {} : { replyTo: { messageId: replyTo } }),
  };
}

/** The kinds of files by the first word of their type. */
const kinds = ["image", "video", "audio"] as const;

/** Keeps the files of a message for `fetchMedia`, and describes them as a platform does. */
function keepFiles(files: readonly SentFile[], stored: Map<string, SentFile>): readonly InboundMedia[] {
  return files.map((file) => {
    const ref = `file-${stored.size + 1}`;
    stored.set(ref, file);
    const mimeType = file.mimeType ?? sniff(Buffer.from(file.bytes)).mimeType;
    const kind = kinds.find((one) => mimeType.startsWith(`${one}/`)) ?? "document";
    return {
      kind,
      ref,
      mimeType,
      size: file.bytes.length,
      ...(file.name === undefined ? {} : { fileName: file.name }),
    };
  });
}

/** Writes a file of a message where the gateway reads it. */
async function fetchFile(
  media: InboundMedia,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
  { stored, directory }: { readonly stored: ReadonlyMap<string, SentFile>; readonly directory: string },
): Promise<{ readonly path: string; readonly mimeType: string; readonly size: number }> {
  const file = stored.get(media.ref);
  if (file === undefined) throw new ChannelError("media_refused", { detail: "the file is gone" });
  if (file.bytes.length > maxBytes)
    throw new ChannelError("too_large", { detail: `the file is too large: at most ${maxBytes} bytes` });
  signal.throwIfAborted();
  const folder = join(directory, "media");
  await mkdir(folder, { recursive: true });
  const { mimeType, extension } = sniff(Buffer.from(file.bytes), media.mimeType);
  const path = join(folder, `${media.ref}.${extension}`);
  await writeFile(path, file.bytes);
  return { path, mimeType, size: file.bytes.length };
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
  const stored = new Map<string, SentFile>();
  let account: ChannelAccount<object> | undefined;
  /** Counts the processes that the test has killed. */
  let deaths = 0;
  let updates = 0;
  const opened = (): ChannelAccount<object> => {
    if (account === undefined)
      throw new Error("The loopback channel is not open. Remove the configuration that disables it.");
    return account;
  };
  const take = async (raw: Json, { id, lane }: { readonly id: string; readonly lane: string }) =>
    (await opened().receive(raw, { id, lane: `${loopbackId}:default:${lane}` })).eventId;
  const channel: TestChannel = {
    outbox,
    beforeSend: () => {},
    async say(text, options, more = {}) {
      updates += 1;
      const id = options.id ?? `update-${updates}`;
      const media = keepFiles(options.files ?? [], stored);
      const inbound = inboundOf(text, options, { now: opened().now(), updateId: id, media, ...more });
      const { chat, messageId = id } = inbound;
      return await take(inbound as unknown as Json, {
        // A change of a message is found by the message's id.
        id: inbound.kind === "message" ? messageId : id,
        lane: chat.thread === undefined ? chat.id : `${chat.id}:${chat.thread}`,
      });
    },
    buttonOf(button, by) {
      const chat = chatOf(by);
      const sent = outbox.filter(
        (message) => message.chat === chat && (by.thread ?? message.thread) === message.thread,
      );
      for (const { buttons, messageId } of sent.toReversed()) {
        const found = buttons.flat().find(({ text, value }) => text === button || value === button);
        if (found !== undefined) return { chat, value: found.value, messageId };
      }
      const offered = sent.flatMap(({ buttons }) => buttons.flat()).map(({ text }) => text);
      throw new Error(`There is no button ${button} in the chat ${chat}. Sent were: ${offered.join(", ") || "none"}.`);
    },
    die() {
      deaths += 1;
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
        ephemeral: true,
        typing: false,
        menu: false,
      },
      open(given) {
        account = given;
        const life = deaths;
        return {
          async start() {
            // The platform answers: a send that a killed process left in doubt may be repeated.
            given.calling()();
            given.status({
              state: "connected",
              identity: { id: "bot", username: "test_bot" },
              lastContactAt: given.now(),
            });
          },
          parse: (raw) => (isInbound(raw) ? (raw as unknown as ChannelInbound) : undefined),
          render: partsOf,
          async send(part, { chat, thread }) {
            // The process is gone: nothing of it comes to an end.
            if (life < deaths) return await new Promise(() => {});
            const content = part.body as unknown as Content;
            const at = { chat, ...(thread === undefined ? {} : { thread }) };
            const answered = given.calling();
            await channel.beforeSend({ ...at, text: content.text });
            answered();
            const messageId = part.replaces ?? `out-${outbox.length + 1}`;
            const references = {
              ...(part.replyTo === undefined ? {} : { replyTo: part.replyTo }),
              ...(part.replaces === undefined ? {} : { replaces: part.replaces }),
              ...(part.onlyFor === undefined ? {} : { onlyFor: part.onlyFor.sender }),
            };
            outbox.push({ messageId, ...at, ...content, ...references, at: given.now() });
            return { messageId };
          },
          fetchMedia: (media, how) => fetchFile(media, how, { stored, directory: given.directory }),
          async close() {},
        };
      },
    }),
  };
  return channel;
}
