/**
 * A stand-in for Discord: the REST API and the gateway, version 10, over HTTP and WebSocket. It refuses what the
 * platform's description refuses, counts limits, and fails on demand.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkMessage } from "./check-message.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import {
  type Attachment,
  botId,
  type Channel,
  type Component,
  channelJson,
  createWorld,
  guildJson,
  type Message,
  memberJson,
  messageJson,
  type User,
  userJson,
  type World,
} from "./world.ts";

/**
 * What happens to the next message of the bot. `cut` and `hang`: it is there, and there is no answer. `limit`,
 * `global`: it is refused for two seconds. `late`: 500 after it was accepted. `down`: 503 before.
 */
export type Fault = "cut" | "down" | "global" | "hang" | "late" | "limit";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly person: User;
  readonly channel: Channel;
  readonly kind: 2 | 3;
  readonly at: number;
  /** The type of the first answer. */
  answered?: number;
  flags: number;
  original?: Message | undefined;
}

export interface DiscordServer {
  readonly world: World;
  readonly sessions: Sessions;
  readonly token: string;
  /** Of the API, with its version. */
  readonly root: string;
  readonly port: number;
  /** Every call that was answered. */
  readonly calls: readonly Call[];
  /** Every text of the bot, edits included. */
  readonly history: readonly { readonly channel: string; readonly content: string }[];
  readonly typing: readonly string[];
  readonly commands: () => readonly { readonly name: string }[];
  /** Answers to presses and commands. */
  readonly interactions: readonly Interaction[];
  /** Switches on the page of the bot. */
  readonly settings: {
    resumeUrl: string | undefined;
    messageContent: boolean;
    endpoint: string | null;
    blocked: boolean;
    filesAreLost: boolean;
  };
  say(person: User, channel: Channel, content: string, more?: SayOptions): Message;
  edit(message: Message, content: string): void;
  /** As the platform reports that it has added the preview of a link. */
  unfurl(message: Message): void;
  remove(message: Message): void;
  react(person: User, message: Message, emoji: string): void;
  press(person: User, message: Message | undefined, channel: Channel, customId: string): Interaction;
  slash(person: User, channel: Channel, name: string, text?: string): Interaction;
  fail(fault: Fault, times?: number): void;
  /** Answers nothing any more. */
  silence(): void;
  /** No call reaches it until `listen`. */
  away(): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

interface SayOptions {
  /** `url`: where the message says that the file is. */
  readonly file?: {
    readonly name: string;
    readonly type: string;
    readonly bytes: Uint8Array;
    readonly url?: string;
  };
  readonly replyTo?: Message;
  readonly type?: number;
}

const intents = { guilds: 1, messages: 1 << 9, reactions: 1 << 10, direct: 1 << 12, directReactions: 1 << 13 };
const mostFileBytes = 10 * 1_048_576;
const interactionMs = 3_000;
/** How long a nonce is remembered. */
const nonceMs = 180_000;

class Refused extends Error {
  readonly status: number;
  readonly code: number;
  readonly headers: Record<string, string>;
  readonly extra: object;
  constructor(status: number, code: number, message: string, headers: Record<string, string> = {}, extra: object = {}) {
    super(message);
    Object.assign(this, { status, code, headers, extra });
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.extra = extra;
  }
}

export async function startDiscord({
  port: wantedPort = 0,
  token = `${Buffer.from(botId).toString("base64url")}.Gtest1.secret-part-of-the-test-token`,
  heartbeatMs = 41_250,
  limit = { calls: 1_000, ms: 1_000 },
  now = Date.now,
}: {
  readonly port?: number;
  readonly token?: string;
  readonly heartbeatMs?: number;
  /** Calls of a bucket, and after how long it is full again. The platform itself allows five in five seconds. */
  readonly limit?: { readonly calls: number; readonly ms: number };
  readonly now?: () => number;
} = {}): Promise<DiscordServer> {
  const world = createWorld(now);
  const calls: Call[] = [];
  const history: { channel: string; content: string }[] = [];
  const typing: string[] = [];
  const interactions: Interaction[] = [];
  const settings = {
    resumeUrl: undefined as string | undefined,
    messageContent: true,
    endpoint: null as string | null,
    blocked: false,
    filesAreLost: false,
  };
  const nonces = new Map<string, { readonly message: Message; readonly at: number }>();
  const buckets = new Map<string, { left: number; resetAt: number }>();
  let commands: { name: string }[] = [];
  let faults: Fault[] = [];
  let isSilent = false;
  let port = wantedPort;

  const sessions = createSessions({
    ...{
      world,
      token,
      heartbeatMs,
      isSilent: () => isSilent,
      url: () => settings.resumeUrl ?? `ws://127.0.0.1:${port}`,
    },
    privileged: () => (settings.messageContent ? 1 << 15 : 0),
  });

  const guildFields = ({ guild }: Channel, person?: User) =>
    guild === undefined ? {} : { guild_id: guild.id, ...(person && { member: memberJson() }) };

  function announce(t: string, message: Message): void {
    const json = {
      ...messageJson(message),
      ...guildFields(message.channel, message.author),
      channel_type: message.channel.type,
    };
    const isDirect = message.channel.person !== undefined;
    const isOpen = isDirect || message.author.id === botId || message.content.includes(`<@${botId}>`);
    const withoutContent = isOpen ? json : { ...json, content: "", attachments: [], components: [], embeds: [] };
    sessions.dispatch(t, json, { intent: isDirect ? intents.direct : intents.messages, withoutContent });
  }

  function add(channel: Channel, author: User, content: string, more: Partial<Message> = {}): Message {
    const message: Message = {
      ...{ id: world.newId(), channel, author, content, edited: null, attachments: [], components: [], embeds: [] },
      ...{ flags: 0, type: 0, reactions: new Map() },
      ...more,
    };
    channel.messages.set(message.id, message);
    if (author.id === botId) history.push({ channel: channel.id, content });
    return message;
  }

  const attachment = (channel: Channel, { name, type, bytes, url }: NonNullable<SayOptions["file"]>): Attachment => {
    const id = world.newId();
    const filename = name.replaceAll(/[^\w.-]+/g, "_").replace(/^[._]+/, "") || "file";
    return {
      ...{ id, filename, size: bytes.length, content_type: type, bytes: Buffer.from(bytes) },
      url: url ?? `http://127.0.0.1:${port}/attachments/${channel.id}/${id}/${filename}?ex=1&is=1&hm=ab`,
    };
  };

  /** A channel that the bot sees. */
  function seen(id: string | undefined): Channel {
    const channel = world.channels.get(id ?? "");
    if (channel === undefined) throw new Refused(404, 10_003, "Unknown Channel");
    const isIn = channel.guild === undefined || channel.guild.members.has(botId);
    const isHidden = channel.overwrites.some(
      ({ id: role, deny }) => role === channel.guild?.id && (BigInt(deny) & (1n << 10n)) !== 0n,
    );
    if (!isIn || isHidden) throw new Refused(403, 50_001, "Missing Access");
    return channel;
  }

  function messageIn(channel: Channel, id: string | undefined): Message {
    const message = channel.messages.get(id ?? "");
    if (message === undefined || message.onlyFor !== undefined) throw new Refused(404, 10_008, "Unknown Message");
    return message;
  }

  interface Sent {
    readonly body: Record<string, unknown>;
    readonly files: readonly { readonly name: string; readonly type: string; readonly bytes: Uint8Array }[];
  }

  function checked({ body, files }: Sent, isEdit = false): void {
    if (files.some(({ bytes }) => bytes.length > mostFileBytes))
      throw new Refused(413, 40_005, "Request entity too large");
    if (files.length > 10)
      throw new Refused(400, 50_035, "Invalid Form Body: attachments: Must be 10 or fewer in length.");
    const wrong = checkMessage(body, { files: files.length, isEdit });
    if (wrong !== undefined) throw new Refused(wrong.status, wrong.code, wrong.message);
  }

  function fieldsOf(channel: Channel, { body, files }: Sent): Partial<Message> {
    const reference = body.message_reference as { message_id: string; fail_if_not_exists?: boolean } | undefined;
    const isThere = reference !== undefined && channel.messages.has(reference.message_id);
    if (reference !== undefined && !isThere && reference.fail_if_not_exists !== false)
      throw new Refused(400, 50_035, "Invalid Form Body: message_reference: Unknown message");
    return {
      attachments: files.map((file) => attachment(channel, file)),
      components: (body.components ?? []) as readonly Component[],
      embeds: (body.embeds ?? []) as readonly unknown[],
      flags: Number(body.flags ?? 0),
      ...(body.nonce !== undefined && { nonce: body.nonce as string }),
      ...(isThere && { type: 19, reference: { message: reference.message_id, channel: channel.id } }),
    };
  }

  function create(channel: Channel, sent: Sent): Message {
    checked(sent);
    if (channel.type === 15) throw new Refused(400, 50_008, "Cannot send messages in a non-text channel");
    if (channel.person !== undefined && settings.blocked)
      throw new Refused(403, 50_007, "Cannot send messages to this user");
    const { nonce, enforce_nonce: enforce, content } = sent.body;
    const key = `${channel.id} ${String(nonce)}`;
    const known = nonces.get(key);
    if (enforce === true && nonce !== undefined && known !== undefined && now() - known.at < nonceMs)
      return known.message;
    const message = add(channel, world.bot, String(content ?? ""), fieldsOf(channel, sent));
    if (nonce !== undefined) nonces.set(key, { message, at: now() });
    announce("MESSAGE_CREATE", message);
    return message;
  }

  function change(message: Message, { body }: Sent): Message {
    if (message.author.id !== botId) throw new Refused(403, 50_005, "Cannot edit a message authored by another user");
    if (typeof body.content === "string") {
      message.content = body.content;
      history.push({ channel: message.channel.id, content: body.content });
    }
    if (Array.isArray(body.components)) message.components = body.components as readonly Component[];
    if (Array.isArray(body.embeds)) message.embeds = body.embeds;
    message.edited = new Date(now()).toISOString().replace("Z", "000+00:00");
    return message;
  }

  /** Whether a fault of a message is due; `after`: it is there already. */
  const due = (...kinds: readonly Fault[]) =>
    faults[0] !== undefined && kinds.includes(faults[0]) ? faults.shift() : undefined;

  function interactionOf(token: string): Interaction {
    const found = interactions.find((one) => one.token === decodeURIComponent(token));
    if (found === undefined) throw new Refused(404, 10_015, "Unknown Webhook");
    if (now() - found.at > 900_000) throw new Refused(401, 50_027, "Invalid Webhook Token");
    return found;
  }

  function respond(id: string, token: string, body: Record<string, unknown>): void {
    const found = interactions.find((one) => one.id === id && one.token === decodeURIComponent(token));
    if (found === undefined || (now() - found.at > interactionMs && found.answered === undefined))
      throw new Refused(404, 10_062, "Unknown interaction");
    if (found.answered !== undefined) throw new Refused(400, 40_060, "Interaction has already been acknowledged.");
    const type = Number(body.type);
    const allowed = found.kind === 3 ? [4, 5, 6, 7, 9] : [4, 5, 9];
    if (!allowed.includes(type)) throw new Refused(400, 50_035, "Invalid Form Body: type: invalid");
    const data = (body.data ?? {}) as Record<string, unknown>;
    if (type === 4) checked({ body: data, files: [] });
    found.answered = type;
    found.flags = Number(data.flags ?? 0);
    if (type === 4) found.original = answerFor(found, { body: data, files: [] }, found.flags);
  }

  const answerFor = (found: Interaction, sent: Sent, flags: number): Message =>
    add(found.channel, world.bot, String(sent.body.content ?? ""), {
      ...fieldsOf(found.channel, sent),
      ...((flags & 64) !== 0 && { onlyFor: found.person.id }),
    });

  type Handler = (parts: readonly string[], sent: Sent, query: URLSearchParams) => unknown;

  const routes: readonly (readonly [method: string, pattern: RegExp, handler: Handler])[] = [
    [
      "GET",
      /^\/gateway\/bot$/,
      () => ({
        ...{ url: `ws://127.0.0.1:${port}`, shards: 1 },
        session_start_limit: { total: 1000, remaining: 999, reset_after: 14_400_000, max_concurrency: 1 },
      }),
    ],
    ["GET", /^\/users\/@me$/, () => ({ ...userJson(world.bot), verified: true, flags: 0 })],
    [
      "GET",
      /^(?:\/oauth2)?\/applications\/@me$/,
      () => ({
        ...{
          id: botId,
          name: "breadbot",
          description: "",
          bot_public: true,
          bot_require_code_grant: false,
          verify_key: "ab",
        },
        ...{ flags: settings.messageContent ? 1 << 19 : 0, interactions_endpoint_url: settings.endpoint },
      }),
    ],
    [
      "GET",
      /^\/users\/@me\/guilds$/,
      () => [{ id: world.guild.id, name: world.guild.name, owner: false, permissions: "0" }],
    ],
    [
      "POST",
      /^\/users\/@me\/channels$/,
      (_, { body }) => {
        const person = world.users.get(String(body.recipient_id));
        if (person === undefined || person.bot === true) throw new Refused(400, 50_033, "Invalid Recipient(s)");
        return channelJson(world.direct(person), world.bot);
      },
    ],
    ["GET", /^\/channels\/(\d+)$/, ([id]) => channelJson(seen(id), world.bot)],
    [
      "GET",
      /^\/channels\/(\d+)\/messages$/,
      ([id], _, query) => {
        const channel = seen(id);
        if (channel.type === 15) throw new Refused(400, 50_008, "Cannot send messages in a non-text channel");
        const count = Number(query.get("limit") ?? 50);
        if (!(count >= 1 && count <= 100))
          throw new Refused(400, 50_035, "Invalid Form Body: limit: int value should be less than or equal to 100.");
        const all = [...channel.messages.values()].filter(({ onlyFor }) => onlyFor === undefined);
        const after = query.get("after");
        const found =
          after === null ? all.slice(-count) : all.filter((one) => BigInt(one.id) > BigInt(after)).slice(0, count);
        return found.toReversed().map(messageJson);
      },
    ],
    ["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, ([id, message]) => messageJson(messageIn(seen(id), message))],
    ["POST", /^\/channels\/(\d+)\/messages$/, ([id], sent) => messageJson(create(seen(id), sent))],
    [
      "PATCH",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ([id, message], sent) => {
        checked(sent, true);
        const changed = change(messageIn(seen(id), message), sent);
        announce("MESSAGE_UPDATE", changed);
        return messageJson(changed);
      },
    ],
    [
      "DELETE",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ([id, message]) => {
        const found = messageIn(seen(id), message);
        if (found.author.id !== botId && found.channel.person !== undefined)
          throw new Refused(403, 50_003, "Cannot execute action on a DM channel");
        removeMessage(found);
      },
    ],
    [
      "PUT",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
      ([id, message, emoji]) => {
        const found = messageIn(seen(id), message);
        const name = decodeURIComponent(emoji ?? "");
        if (!/^\p{Extended_Pictographic}/u.test(name) && !/^\w+:\d+$/.test(name))
          throw new Refused(400, 10_014, "Unknown Emoji");
        found.reactions.set(name, (found.reactions.get(name) ?? new Set()).add(botId));
      },
    ],
    [
      "DELETE",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/,
      ([id, message, emoji]) => {
        const users = messageIn(seen(id), message).reactions;
        users.get(decodeURIComponent(emoji ?? ""))?.delete(botId);
        for (const [name, left] of users) if (left.size === 0) users.delete(name);
      },
    ],
    ["POST", /^\/channels\/(\d+)\/typing$/, ([id]) => void typing.push(seen(id).id)],
    [
      "PUT",
      /^\/applications\/(\d+)\/commands$/,
      (_, { body }) => {
        commands = checkCommands(body);
        return commands.map((command) => ({
          ...command,
          id: world.newId(),
          application_id: botId,
          version: world.newId(),
        }));
      },
    ],
    ["GET", /^\/applications\/(\d+)\/commands$/, () => commands],
    ["POST", /^\/interactions\/(\d+)\/([^/]+)\/callback$/, ([id, key], { body }) => respond(id ?? "", key ?? "", body)],
    [
      "POST",
      /^\/webhooks\/(\d+)\/([^/]+)$/,
      ([, key], sent) => {
        const found = interactionOf(key ?? "");
        checked(sent);
        if (found.answered === undefined) throw new Refused(404, 10_015, "Unknown Webhook");
        return messageJson(answerFor(found, sent, Number(sent.body.flags ?? 0)));
      },
    ],
    [
      "PATCH",
      /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/,
      ([, key], sent) => {
        const found = interactionOf(key ?? "");
        checked(sent, true);
        if (found.answered === 5 && found.original === undefined) {
          found.original = answerFor(found, sent, found.flags);
          return messageJson(found.original);
        }
        if (found.original === undefined) throw new Refused(404, 10_008, "Unknown Message");
        return messageJson(change(found.original, sent));
      },
    ],
    [
      "DELETE",
      /^\/webhooks\/(\d+)\/([^/]+)\/messages\/@original$/,
      ([, key]) => {
        const found = interactionOf(key ?? "");
        if (found.answered === undefined) throw new Refused(404, 10_015, "Unknown Webhook");
        if (found.original !== undefined) found.channel.messages.delete(found.original.id);
        found.original = undefined;
      },
    ],
    [
      "GET",
      /^\/guilds\/(\d+)$/,
      ([id]) => {
        if (id !== world.guild.id) throw new Refused(404, 10_004, "Unknown Guild");
        return guildJson(world.guild, world.bot);
      },
    ],
    [
      "GET",
      /^\/guilds\/(\d+)\/members\/(\d+)$/,
      ([id, user]) => {
        const found = id === world.guild.id ? world.guild.members.get(user ?? "") : undefined;
        if (found === undefined) throw new Refused(404, 10_007, "Unknown Member");
        return { ...memberJson(), roles: found.id === botId ? [world.guild.botRole] : [], user: userJson(found) };
      },
    ],
  ];

  function checkCommands(body: unknown): { name: string }[] {
    if (!Array.isArray(body) || body.length > 100)
      throw new Refused(400, 50_035, "Invalid Form Body: Must be 100 or fewer in length.");
    for (const { name, description, options = [] } of body) {
      if (!/^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u.test(String(name)) || name !== String(name).toLowerCase())
        throw new Refused(400, 50_035, "Invalid Form Body: name: String value did not match validation regex.");
      if (
        typeof description !== "string" ||
        description.length < 1 ||
        description.length > 100 ||
        !Array.isArray(options)
      )
        throw new Refused(400, 50_035, "Invalid Form Body: description: Must be between 1 and 100 in length.");
    }
    return body;
  }

  function removeMessage(message: Message): void {
    const { channel, id } = message;
    channel.messages.delete(id);
    const intent = channel.person === undefined ? intents.messages : intents.direct;
    sessions.dispatch("MESSAGE_DELETE", { id, channel_id: channel.id, ...guildFields(channel) }, { intent });
  }

  /** The headers of the limits; throws where there are none left. */
  function limited(method: string, path: string): Record<string, string> {
    const major = /^\/(?:channels|guilds|webhooks)\/[^/]+/.exec(path)?.[0] ?? "";
    const kind = `${method} ${path.slice(major.length).replaceAll(/\d{5,}/g, "#")}`;
    const key = `${kind} ${major}`;
    let bucket = buckets.get(key);
    if (bucket === undefined || bucket.resetAt <= now()) {
      bucket = { left: limit.calls, resetAt: now() + limit.ms };
      buckets.set(key, bucket);
    }
    const after = String((bucket.resetAt - now()) / 1_000);
    const headers = {
      "x-ratelimit-bucket": Buffer.from(kind).toString("hex").slice(0, 32),
      ...{
        "x-ratelimit-limit": String(limit.calls),
        "x-ratelimit-reset": String(bucket.resetAt / 1_000),
        "x-ratelimit-reset-after": after,
      },
    };
    if (bucket.left <= 0)
      throw new Refused(
        429,
        0,
        "You are being rate limited.",
        {
          ...headers,
          "x-ratelimit-remaining": "0",
          "x-ratelimit-scope": "user",
          "retry-after": String(Math.ceil(Number(after))),
        },
        { retry_after: Number(after), global: false },
      );
    bucket.left -= 1;
    return { ...headers, "x-ratelimit-remaining": String(bucket.left) };
  }

  async function readBody(request: IncomingMessage): Promise<Sent> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const bytes = Buffer.concat(pieces);
    const type = request.headers["content-type"] ?? "";
    if (bytes.length === 0) return { body: {}, files: [] };
    if (type.startsWith("multipart/form-data")) {
      const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
      const body = JSON.parse(String(form.get("payload_json") ?? "{}")) as Record<string, unknown>;
      const files = [];
      for (const [name, value] of form)
        if (/^files\[\d+\]$/.test(name) && typeof value !== "string")
          files.push({ name: value.name, type: value.type, bytes: new Uint8Array(await value.arrayBuffer()) });
      return { body, files };
    }
    if (!type.startsWith("application/json"))
      throw new Refused(400, 50_035, "Invalid Form Body: expected application/json");
    try {
      return { body: JSON.parse(bytes.toString("utf8")), files: [] };
    } catch {
      throw new Refused(400, 50_109, "The request body contains invalid JSON.");
    }
  }

  function answerFile(path: string, response: ServerResponse): void {
    const id = path.split("/")[3];
    const found = [...world.channels.values()]
      .flatMap(({ messages }) => [...messages.values()].flatMap(({ attachments }) => attachments))
      .find((one) => one.id === id);
    if (found === undefined || settings.filesAreLost)
      response.writeHead(404).end("This content is no longer available.");
    else response.writeHead(200, { "content-type": found.content_type }).end(found.bytes);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://platform");
    const method = request.method ?? "GET";
    if (isSilent) return;
    if (pathname.startsWith("/attachments/")) {
      // The token is for the API alone.
      if (request.headers.authorization !== undefined) response.writeHead(400).end("no token here");
      else answerFile(pathname, response);
      return;
    }
    const path = pathname.replace(/^\/api\/v10/, "").replaceAll("%40", "@");
    let body: unknown;
    let status = 200;
    let headers: Record<string, string> = {};
    let result: unknown;
    try {
      if (!pathname.startsWith("/api/v10/")) throw new Refused(404, 0, "404: Not Found");
      const isWebhook = /^\/(?:webhooks\/\d+|interactions)\//.test(path);
      const { authorization, "user-agent": agent = "" } = request.headers;
      if (authorization !== `Bot ${token}` && !(isWebhook && authorization === undefined))
        throw new Refused(401, 0, "401: Unauthorized");
      if (!/^DiscordBot \(\S+, ?[\w.-]+\)/.test(agent)) throw new Refused(403, 0, "The user agent is blocked");
      const sent = await readBody(request);
      body = sent.body;
      const matching = routes.filter(([, pattern]) => pattern.test(path));
      const route = matching.find(([one]) => one === method);
      if (matching.length === 0) throw new Refused(404, 0, "404: Not Found");
      if (route === undefined) throw new Refused(405, 0, "405: Method Not Allowed");
      headers = limited(method, path);
      const isMessage = method === "POST" && /^\/channels\/\d+\/messages$/.test(path);
      const before = isMessage ? due("limit", "global", "down") : undefined;
      if (before === "down") throw new Refused(503, 0, "Service Unavailable");
      if (before !== undefined) {
        const isGlobal = before === "global";
        throw new Refused(
          429,
          0,
          "You are being rate limited.",
          { "retry-after": "2", ...(isGlobal ? { "x-ratelimit-global": "true" } : { "x-ratelimit-scope": "user" }) },
          { retry_after: 2, global: isGlobal },
        );
      }
      result = route[2](route[1].exec(path)?.slice(1) ?? [], sent, searchParams);
      const after = isMessage ? due("cut", "hang", "late") : undefined;
      if (after === "cut") return void response.destroy();
      if (after === "hang") return;
      if (after === "late") throw new Refused(500, 0, "Internal Server Error");
      status = result === undefined ? 204 : 200;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      status = error.status;
      headers = { ...headers, ...error.headers };
      result = { message: error.message, code: error.code, ...error.extra };
    }
    calls.push({ method, path, status, body });
    if (response.destroyed) return;
    response.writeHead(status, { ...(status !== 204 && { "content-type": "application/json" }), ...headers });
    response.end(status === 204 ? undefined : JSON.stringify(result));
  }

  const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
    handle(request, response).catch((error: unknown) => {
      calls.push({ method: request.method ?? "", path: request.url ?? "", status: 500, body: String(error) });
      response.destroy();
    });
  });
  server.on("upgrade", (request, stream) => sessions.upgrade(request, stream));
  const listen = async () => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const away = async () => {
    sessions.cut();
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  await listen();

  function interact(person: User, channel: Channel, kind: 2 | 3, more: object): Interaction {
    const interaction: Interaction = {
      ...{ id: world.newId(), token: `aW50ZXJhY3Rpb246${interactions.length}_${world.newId()}`, at: now(), flags: 0 },
      ...{ person, channel, kind },
    };
    interactions.push(interaction);
    const { guild } = channel;
    const who =
      guild === undefined
        ? { user: userJson(person) }
        : { guild_id: guild.id, member: { ...memberJson(), user: userJson(person), permissions: "0" } };
    const json = {
      ...{ id: interaction.id, application_id: botId, type: kind, token: interaction.token, version: 1 },
      ...{
        channel_id: channel.id,
        channel: channelJson(channel, world.bot),
        ...who,
        locale: "en-US",
        guild_locale: "en-US",
      },
      ...{
        app_permissions: "0",
        entitlements: [],
        context: guild === undefined ? 1 : 0,
        authorizing_integration_owners: {},
        attachment_size_limit: mostFileBytes,
      },
      ...more,
    };
    sessions.dispatch("INTERACTION_CREATE", json, { intent: 0 });
    return interaction;
  }

  return {
    ...{ world, sessions, token, calls, history, typing, interactions, settings },
    get root() {
      return `http://127.0.0.1:${port}/api/v10`;
    },
    get port() {
      return port;
    },
    commands: () => commands,
    say(person, channel, content, { file, replyTo, type = replyTo === undefined ? 0 : 19 } = {}) {
      const message = add(channel, person, content, {
        ...{ type, attachments: file === undefined ? [] : [attachment(channel, file)] },
        ...(replyTo !== undefined && { reference: { message: replyTo.id, channel: channel.id } }),
      });
      announce("MESSAGE_CREATE", message);
      return message;
    },
    edit(message, content) {
      message.content = content;
      message.edited = new Date(now()).toISOString().replace("Z", "000+00:00");
      announce("MESSAGE_UPDATE", message);
    },
    unfurl: (message) => announce("MESSAGE_UPDATE", message),
    remove: removeMessage,
    react(person, message, emoji) {
      const { channel } = message;
      message.reactions.set(emoji, (message.reactions.get(emoji) ?? new Set()).add(person.id));
      const event = {
        ...{ user_id: person.id, channel_id: channel.id, message_id: message.id, message_author_id: message.author.id },
        ...{ emoji: { id: null, name: emoji }, burst: false, type: 0, ...guildFields(channel) },
        ...(channel.guild !== undefined && { member: { ...memberJson(), user: userJson(person) } }),
      };
      const intent = channel.guild === undefined ? intents.directReactions : intents.reactions;
      sessions.dispatch("MESSAGE_REACTION_ADD", event, { intent });
    },
    press: (person, message, channel, customId) =>
      interact(person, channel, 3, {
        data: { custom_id: customId, component_type: 2 },
        message: message === undefined ? { id: world.newId() } : messageJson(message),
      }),
    slash: (person, channel, name, text) =>
      interact(person, channel, 2, {
        data: {
          id: world.newId(),
          name,
          type: 1,
          ...(text !== undefined && { options: [{ name: "text", type: 3, value: text }] }),
        },
      }),
    fail(fault, times = 1) {
      faults = [...faults, ...Array.from({ length: times }, () => fault)];
    },
    silence() {
      isSilent = true;
    },
    away,
    listen,
    async close() {
      sessions.stop();
      await away();
    },
  };
}
