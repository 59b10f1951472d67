/** A small platform over HTTP: one person writes to one bot. The bot polls for events and calls the rest. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type {
  ChannelPlatform,
  PlatformAbility,
  PlatformFailure,
  PlatformFile,
  PlatformPlace,
} from "service-gateway/testkit";
import { reservePort } from "../../../support/ports.ts";

/** An event as the platform sends it. */
export interface PostboxEvent {
  readonly id: number;
  readonly kind?: "delete" | "delivered" | "edit" | "failed" | "press" | "read";
  /** The platform names people only if it is asked. */
  readonly from: { readonly id: number; readonly name?: string; readonly bot?: true };
  readonly chat: number;
  readonly thread?: number;
  /** The id of the message that it is, changes or deletes, that has the button, or whose fate it reports. */
  readonly message: number;
  readonly text: string;
  readonly mention?: boolean;
  /** Set for a command of the platform's own. */
  readonly interaction?: string;
  /** What the person says of where the message comes from. */
  readonly onBehalfOf?: { readonly id: number; readonly chat: number };
  readonly file?: { readonly ref: number; readonly name?: string; readonly type?: string };
  /** Seconds. */
  readonly date: number;
}

/** A message of the bot. */
interface Posted {
  readonly id: number;
  readonly chat: number;
  readonly thread?: number;
  /** The one person who sees it. */
  readonly onlyFor?: number;
  text: string;
}

/** What the bot posts. */
export interface Mail extends Omit<Posted, "id"> {
  readonly buttons?: unknown;
  /** The colour of the envelope. */
  readonly color?: string;
  /** Name and content in base64. */
  readonly file?: { readonly name?: string; readonly data: string };
  /** A message with a known key is not posted again. */
  readonly key?: string;
}

const token = "postbox-secret-8841";
export const botId = 1;
const personId = 7;
export const groupId = 500;
/** UTF-16 units of one message. */
export const maxUnits = 200;
export const abilities: readonly PlatformAbility[] = [
  ...([
    "away",
    "back",
    "cut",
    "hang",
    "limit",
    "lose",
    "nameless",
    "refuse",
    "repeat",
    "reset",
    "silent",
  ] satisfies PlatformFailure[]),
  ...([
    "acknowledge",
    "delete",
    "edit",
    "files",
    "forge",
    "groups",
    "history",
    "lasting",
    "menu",
    "others",
    "press",
    "reactions",
    "report",
    "signIn",
    "typing",
    "unconfirmed",
  ] as const),
];

const seconds = 1_760_000_000;

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text === "" ? {} : JSON.parse(text);
}

/** Everything that the platform knows. */
class World {
  readonly events: PostboxEvent[] = [];
  readonly posted: Posted[] = [];
  readonly history: string[] = [];
  readonly keys = new Map<string, number>();
  readonly files: PlatformFile[] = [];
  readonly sentFiles: PlatformFile[] = [];
  reaction: string | null = null;
  menu: readonly string[] = [];
  typed = 0;
  acknowledged = 0;
  failure: PlatformFailure | undefined;
  repeated: PostboxEvent | undefined;
  lost = false;
  silent = false;
  nameless = false;
  /** The session that a person has allowed; set once the platform asks for one. */
  session: string | undefined;
  /** What a person scans, until they have. */
  link: string | undefined;
  /** The next request for events is cut off. */
  cutsNext = false;
  posts = 0;

  add(event: Omit<PostboxEvent, "id" | "from" | "date" | "message"> & { readonly message?: number }): void {
    const id = this.events.length + 1;
    this.events.push({ message: id, ...event, id, from: { id: personId }, date: seconds + id });
  }

  /** Uses a failure up; `refuse` stays. */
  take(): PlatformFailure | undefined {
    const { failure } = this;
    if (failure !== "refuse") this.failure = undefined;
    return failure;
  }

  post({ chat, thread, text, file, key, onlyFor }: Mail): number {
    const known = key === undefined ? undefined : this.keys.get(key);
    if (known !== undefined) return known;
    if (key !== undefined) this.keys.set(key, this.posts + 1);
    this.posts += 1;
    this.posted.push({
      ...{ id: this.posts, chat, text },
      ...(thread !== undefined && { thread }),
      ...(onlyFor !== undefined && { onlyFor }),
    });
    this.history.push(text);
    if (file !== undefined)
      this.sentFiles.push({
        bytes: Buffer.from(file.data, "base64"),
        ...(file.name === undefined ? {} : { name: file.name }),
      });
    return this.posts;
  }

  /** Status of the answer, with the message's id. */
  edit(id: number, text: string): number {
    const message = this.posted.find((one) => one.id === id);
    if (message === undefined) return 404;
    if (message.text === text) return 304;
    message.text = text;
    this.history.push(text);
    return 200;
  }

  remove(id: number): number {
    const index = this.posted.findIndex((one) => one.id === id);
    if (index < 0) return 404;
    this.posted.splice(index, 1);
    return 200;
  }
}

type Answer = (status: number, body?: unknown, headers?: Readonly<Record<string, string>>) => void;

async function send(world: World, request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const mail = (await bodyOf(request)) as unknown as Mail;
  const failure = world.take();
  if (failure === "refuse") return answer(403, { error: "blocked" });
  if (failure === "limit") return answer(429, { error: "too many" }, { "retry-after": "2" });
  if (failure === "hang") return;
  if (mail.text.length > maxUnits) return answer(400, { error: "too long" });
  if (mail.color !== undefined && !/^#[0-9a-f]{6}$/.test(mail.color)) return answer(400, { error: "no such color" });
  const id = world.post(mail);
  if (failure === "cut") return void response.destroy();
  return answer(200, { id });
}

/** Every call but the sending of a message. */
async function handle(world: World, request: IncomingMessage, url: URL, answer: Answer): Promise<void> {
  const [, what, which] = url.pathname.split("/");
  const call = `${request.method} ${what}`;
  const body = await bodyOf(request);
  switch (call) {
    case "GET events": {
      const again = world.repeated === undefined ? [] : [world.repeated];
      world.repeated = undefined;
      return answer(200, [...again, ...world.events.filter(({ id }) => id > Number(url.searchParams.get("after")))]);
    }
    case "PUT messages":
      return answer(world.edit(Number(which), String(body.text)));
    case "DELETE messages":
      return answer(world.remove(Number(which)));
    case "PUT reactions":
      if (!world.events.some(({ message }) => message === Number(which))) return answer(404);
      world.reaction = body.emoji as string | null;
      return answer(200);
    case "PUT menu":
      world.menu = body.commands as readonly string[];
      return answer(200);
    case "POST typing":
      world.typed += 1;
      return answer(200);
    case "POST acknowledge":
      world.acknowledged += 1;
      return answer(200);
    case "GET files": {
      const file = world.lost ? undefined : world.files[Number(which)];
      return file === undefined ? answer(404) : answer(200, { data: Buffer.from(file.bytes).toString("base64") });
    }
    case "GET people":
      if (world.nameless) return;
      return which === String(personId) ? answer(200, { name: "Ada" }) : answer(404);
    case "GET link":
      if (world.link !== undefined) return answer(200, { link: world.link });
      // A scan gives one session.
      world.link = `postbox://link/${randomUUID()}`;
      return answer(200, { session: world.session });
    case "GET members":
      return answer(which === String(groupId) ? 200 : 404);
    default:
      return answer(call === "GET me" ? 200 : 404);
  }
}

/** A connection without a request: `fetch` keeps the one of a request that was aborted too early. */
const idleMs = 1_000;

function createPostboxServer(world: World) {
  const server = createServer((request, response) => {
    request.socket.setTimeout(0);
    const url = new URL(request.url ?? "/", "http://postbox");
    const answer: Answer = (status, body = {}, headers = {}) =>
      void response
        .writeHead(status, { "content-type": "application/json", connection: "close", ...headers })
        .end(status === 304 ? undefined : JSON.stringify(body));
    if (world.silent) return;
    if (url.searchParams.get("token") !== token) return answer(401, { error: "token" });
    if (world.session !== undefined && url.pathname !== "/link" && url.searchParams.get("session") !== world.session)
      return answer(401, { error: "session" });
    if (world.cutsNext && url.pathname === "/events") {
      world.cutsNext = false;
      return void request.socket.resetAndDestroy();
    }
    const isSend = request.method === "POST" && url.pathname === "/messages";
    const work = isSend ? send(world, request, response, answer) : handle(world, request, url, answer);
    void work.catch(() => response.destroy());
  });
  return server.on("connection", (socket) => socket.setTimeout(idleMs, () => socket.destroy()));
}

export async function openPostbox(): Promise<ChannelPlatform> {
  const world = new World();
  const server = createPostboxServer(world);
  // While the platform is away, a channel must not reach another server at its port.
  const { port, release } = await reservePort();
  const listen = () => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
  await listen();
  const closeServer = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const place = ({ thread = false, group = false }: PlatformPlace) => ({
    chat: group ? groupId : personId,
    ...(thread && { thread: 3 }),
  });
  const last = () => world.events.findLast(({ kind }) => kind === undefined);
  return {
    options: { url: `http://127.0.0.1:${port}`, token },
    groups: { inside: String(groupId), outside: "501" },
    async write(text, { mention, interaction, file, ...where } = {}) {
      const ref = file === undefined ? undefined : world.files.push(file) - 1;
      world.add({
        text,
        ...place(where),
        ...(mention === true && { mention }),
        ...(interaction === true && { interaction: `of-${world.events.length + 1}` }),
        ...(ref !== undefined && {
          file: {
            ref,
            ...(file?.name === undefined ? {} : { name: file.name }),
            ...(file?.mimeType === undefined ? {} : { type: file.mimeType }),
          },
        }),
      });
    },
    read: (where = {}) => {
      const { chat, thread } = place(where);
      const isSeen = ({ onlyFor = personId, ...one }: Posted) =>
        one.chat === chat && one.thread === thread && onlyFor === personId;
      return world.posted.filter(isSeen).map(({ text }) => text);
    },
    others: () =>
      world.posted.filter(({ chat, onlyFor }) => chat === groupId && onlyFor === undefined).map(({ text }) => text),
    async forge(text) {
      world.add({ text, ...place({}), onBehalfOf: { id: 8, chat: groupId } });
    },
    async edit(text) {
      const { message = 0 } = last() ?? {};
      world.add({ kind: "edit", chat: personId, text, message });
    },
    async delete() {
      const { message = 0 } = last() ?? {};
      world.add({ kind: "delete", chat: personId, text: "", message });
    },
    async report(kind) {
      world.add({ kind, chat: personId, text: "", message: world.posted.at(-1)?.id ?? 0 });
    },
    async press(value) {
      world.add({ kind: "press", chat: personId, text: value, message: world.posted.at(-1)?.id ?? 0 });
    },
    async signOut() {
      world.session = `session-${randomUUID()}`;
      world.link = `postbox://link/${randomUUID()}`;
    },
    async signIn({ qr }) {
      if (qr !== world.link) throw new Error(`The phone cannot read ${qr}.`);
      world.link = undefined;
    },
    acknowledged: () => world.acknowledged,
    history: () => world.history,
    files: () => world.sentFiles,
    reactions: () => (world.reaction === null ? [] : [world.reaction]),
    typing: () => world.typed,
    menu: () => world.menu,
    async fail(failure) {
      if (failure === "away") await closeServer();
      else if (failure === "back") await listen();
      else if (failure === "repeat") world.repeated = last();
      else if (failure === "lose") world.lost = true;
      else if (failure === "nameless") world.nameless = true;
      else if (failure === "silent") world.silent = true;
      else if (failure === "reset") world.cutsNext = true;
      else world.failure = failure;
    },
    async close() {
      await closeServer();
      release();
    },
  };
}
