/**
 * The channel of the platform in `platform.ts`, with every capability and without a fault. Broken ones replace one
 * piece of it.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Address, type InboundMedia, type Json, Type } from "service-gateway/sdk";
import {
  type ChannelCapabilities,
  type ChannelConnection,
  type ChannelDefinition,
  ChannelError,
  defineChannel,
  type Part,
  type Receipt,
} from "service-gateway/sdk/channel";
import type { ChannelContractOptions, ChannelFixtures } from "service-gateway/testkit";
import { type Account, type Call, createCalls } from "./calls.ts";
import { createPolling, parse } from "./events.ts";
import { type Body, mailTo, render } from "./mail.ts";
import { abilities, botId, maxUnits, openPostbox, type PostboxEvent } from "./platform.ts";
import { createPreview } from "./preview.ts";

export const options = Type.Object({
  url: Type.String(),
  token: Type.String(),
  patienceMs: Type.Integer({ default: 30_000, description: "Longest wait for an answer of the platform." }),
});

const platformFields = Type.Object({ color: Type.Optional(Type.String({ pattern: "^#[0-9a-f]{6}$" })) });

/** What differs from a channel without a fault. */
export type Change = (
  connection: ChannelConnection & Required<Pick<ChannelConnection, Present>>,
  account: Account,
) => Partial<ChannelConnection>;

/** The functions that the connection has beside those of every channel. */
type Present =
  | "admit"
  | "fetchMedia"
  | "findMedia"
  | "members"
  | "menu"
  | "pause"
  | "preview"
  | "probe"
  | "reaches"
  | "react"
  | "remove"
  | "resolve"
  | "typing"
  | "update";

async function send(call: Call, part: Part, address: Address, signal: AbortSignal): Promise<Receipt> {
  const { file, ...body } = part.body as unknown as Body;
  const { replaces } = part;
  if (replaces !== undefined) {
    const { status } = await call("PUT", `messages/${replaces}`, { text: body.text }, signal);
    if (status !== 404) return { messageId: replaces };
    if (part.inPlace === true) throw new ChannelError("message_gone", { detail: "The message is gone" });
  }
  const data = file === undefined ? undefined : (await readFile(file.path)).toString("base64");
  const upload = data === undefined ? {} : { file: { data, ...(file?.name === undefined ? {} : { name: file.name }) } };
  const answer = await call(
    "POST",
    "messages",
    mailTo(address, {
      ...{ ...body, ...upload },
      ...(part.key !== undefined && { key: part.key }),
      ...(part.onlyFor !== undefined && { onlyFor: Number(part.onlyFor.sender) }),
    }),
    signal,
  );
  return { messageId: String(answer.body.id) };
}

/** Fetches a file under a name of its own. */
async function fetchFile(
  call: Call,
  account: Account,
  media: InboundMedia,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
) {
  const { status, body } = await call("GET", `files/${media.ref}`, undefined, signal);
  if (status === 404) throw new ChannelError("media_refused", { detail: "the file is gone" });
  const bytes = Buffer.from(String(body.data), "base64");
  if (bytes.length > maxBytes)
    throw new ChannelError("too_large", { detail: `the file is too large: at most ${maxBytes} bytes` });
  const folder = join(account.directory, "media");
  await mkdir(folder, { recursive: true });
  const path = join(folder, account.newId());
  await writeFile(path, bytes);
  return { path, mimeType: media.mimeType ?? "application/octet-stream", size: bytes.length };
}

/** The calls that only have an effect. */
function createGestures(call: Call): Required<Pick<ChannelConnection, "remove" | "react" | "typing" | "menu">> {
  return {
    async remove(messageId, _address, signal) {
      await call("DELETE", `messages/${messageId}`, undefined, signal);
    },
    async react(messageId, emoji) {
      const { status } = await call("PUT", `reactions/${messageId}`, { emoji });
      if (status === 404) throw new ChannelError("message_gone");
    },
    async typing() {
      await call("POST", "typing");
    },
    async menu(commands) {
      await call("PUT", "menu", { commands: commands.map(({ name }) => name) });
    },
  };
}

/** What is asked of the platform, and changes nothing there. */
function createQuestions(
  call: Call,
): Required<Pick<ChannelConnection, "probe" | "reaches" | "members" | "resolve" | "findMedia" | "admit" | "update">> {
  return {
    admit: () => undefined,
    reaches: () => "always",
    update() {},
    async probe() {
      return await call("GET", "me").then(
        () => ({ ok: true, detail: "The postbox answers." }),
        () => ({ ok: false, detail: "The postbox does not answer." }),
      );
    },
    async members(chat) {
      const { status } = await call("GET", `members/${chat}`);
      return status === 200
        ? { ok: true, detail: "member" }
        : { ok: false, detail: "the bot is not in it: add it to the group" };
    },
    async resolve(target) {
      if (!/^\d+$/.test(target)) throw new ChannelError("chat_not_found");
      return target;
    },
    findMedia: async (_kind, _query, limit) => [{ ref: "wave", description: "A hand that waves." }].slice(0, limit),
  };
}

function connect(account: Account): ReturnType<ChannelDefinition["open"]> & Parameters<Change>[0] {
  const call = createCalls(account);
  const polling = createPolling(account, call);
  const gestures = createGestures(call);
  const sending = new AbortController();
  return {
    async start() {
      await polling.start();
      await gestures.menu(account.commands()).catch(() => account.log.debug({}, "the menu was not set"));
    },
    parse,
    render: (reply) =>
      reply.media.some(({ ref }) => ref !== undefined)
        ? [{ kind: "sticker", chars: 1, body: { text: `[${reply.media[0]?.ref}]` } }]
        : render(reply),
    send: (part, address, signal) => send(call, part, address, AbortSignal.any([signal, sending.signal])),
    preview: (address, how) => createPreview(call, address, how),
    fetchMedia: (media, how) => fetchFile(call, account, media, how),
    ...gestures,
    ...createQuestions(call),
    pause: () => polling.stop(),
    async close() {
      sending.abort();
      await polling.stop();
    },
  };
}

export const capabilities: ChannelCapabilities = {
  ...{ maxChars: maxUnits, markup: "plain", edits: true, threads: true, reactions: true, media: true },
  buttons: { perRow: 4, perMessage: 8, labelChars: 20, valueBytes: 64 },
  ...{ typing: true, menu: true, stickers: true, repeats: "ever", ephemeral: true },
  keepsWhileAway: "ever",
};

export function createPostbox(change: Change = () => ({}), declared: Partial<ChannelDefinition<typeof options>> = {}) {
  return defineChannel({
    id: "postbox",
    version: "1.0.0",
    host: "^0.2.0",
    options,
    secrets: ["token"],
    capabilities,
    platformFields,
    open(account) {
      const connection = connect(account);
      return { ...connection, ...change(connection, account) };
    },
    ...declared,
  });
}

const message: PostboxEvent = {
  id: 4,
  message: 4,
  from: { id: 7, name: "Ada" },
  chat: 7,
  text: "Hello",
  date: 1_760_000_000,
};
const raw = (event: PostboxEvent) => event as unknown as Json;

/** The contract of a postbox, whole or broken. */
export function contractOf(
  channel: ReturnType<typeof createPostbox>,
  fixtures: Partial<ChannelFixtures> = {},
): ChannelContractOptions {
  return {
    channel,
    options: {},
    functions: ["admit", "fetchMedia", "members", "pause", "probe", "reaches", "resolve", "update"],
    platform: { can: abilities, open: openPostbox },
    fixtures: {
      messages: [
        {
          raw: raw(message),
          expect: { text: "Hello", sender: { id: "7", name: "Ada" }, chat: { id: "7", kind: "direct" } },
        },
        { raw: raw({ ...message, thread: 3 }), expect: { chat: { id: "7", kind: "direct", thread: "3" } } },
      ],
      own: [raw({ ...message, from: { id: botId, name: "Bot" } })],
      renamed: [[raw(message), raw({ ...message, from: { id: 7, name: "Ada Lind" } })]],
      platformFields: { color: "#ff8800" },
      bots: [raw({ ...message, from: { id: 9, name: "Robot", bot: true } })],
      unit: "utf16",
      ...fixtures,
    },
  };
}
