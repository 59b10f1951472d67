/**
 * A Mattermost server over HTTP and WebSocket, as strict as the maker describes it, which fails on demand. What it
 * knows lasts while it is away.
 */
import { sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createEvents } from "./events.ts";
import { createFaults, type Fault } from "./faults.ts";
import { createPosts, type NewPost } from "./posts.ts";
import { type Answer, createRoutes } from "./routes.ts";
import { type Action, AppError, type Channel, createWorld, type Post, type User } from "./world.ts";

export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly user: string | undefined;
}

/** What a press brought back. */
interface Pressed {
  readonly status: number;
  readonly body: string;
}

export async function startMattermost({ port = 0 }: { readonly port?: number } = {}) {
  const world = createWorld();
  const bot = world.addUser("breadbot", { is_bot: true });
  const ada = world.addUser("ada");
  const bela = world.addUser("bela");
  const room = world.addChannel("town-square", [bot, ada, bela]);
  const elsewhere = world.addChannel("elsewhere", [ada], "P");
  const chat = world.direct(bot, ada);
  const faults = createFaults();
  const calls: RecordedCall[] = [];
  const typing: { readonly user: string; readonly channel: string }[] = [];
  const ephemeral: { readonly user: string; readonly post: Readonly<Record<string, unknown>> }[] = [];
  const history: { readonly channel: string; readonly text: string }[] = [];
  const pressed: Pressed[] = [];
  let isSilent = false;
  let refusesWebSockets = false;
  /** How an integration is called: the gateway's address is often not known before its port. */
  let callIntegration = (url: string, init: RequestInit) => fetch(url, init);
  const events = createEvents(world, {
    onTyping: (user, channel) => void typing.push({ user: user.id, channel }),
    isSilent: () => isSilent,
  });
  const posts = createPosts(world, () => events);

  function showEphemeral(user: string, post: object): void {
    ephemeral.push({ user, post: post as Readonly<Record<string, unknown>> });
    events.publish("ephemeral_message", { post: JSON.stringify(post) }, { user });
  }

  /** The server tells an integration who has pressed, and signs it. */
  function triggerOf(user: User, at = Date.now()): string {
    const signed = `${world.newId()}:${user.id}:${at}:`;
    const signature = sign("sha256", Buffer.from(signed), world.privateKey).toString("base64");
    return Buffer.from(signed + signature).toString("base64");
  }

  function pressBody(user: User, post: Post, action: Action, at?: number): object {
    const channel = world.channels.get(post.channel_id);
    return {
      ...{ user_id: user.id, user_name: user.username, channel_id: post.channel_id, channel_name: channel?.name },
      ...{ team_id: channel?.team_id, team_domain: "", post_id: post.id, trigger_id: triggerOf(user, at) },
      ...{ type: action.type, data_source: "", context: action.integration.context },
    };
  }

  async function press(user: User, postId: string, actionId: string): Promise<Answer> {
    const post = world.postFor(postId, user);
    const action = actionsOf(post).find(({ id }) => id === actionId);
    if (action === undefined) throw new AppError("api.post.do_action.action_id.app_error", 404);
    const response = await callIntegration(action.integration.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(pressBody(user, post, action)),
    });
    const body = await response.text();
    pressed.push({ status: response.status, body });
    if (response.status !== 200) throw new AppError("api.post.do_action.action_integration.app_error", 400);
    const { ephemeral_text } = (body === "" ? {} : JSON.parse(body)) as { readonly ephemeral_text?: string };
    if (ephemeral_text)
      showEphemeral(user.id, { channel_id: post.channel_id, message: ephemeral_text, user_id: user.id });
    return { body: { status: "OK", trigger_id: "" } };
  }

  const find = createRoutes(world, posts, {
    onTyping: (user, channel) => void typing.push({ user: user.id, channel }),
    press,
    ephemeral: showEphemeral,
  });

  async function answer(request: IncomingMessage, path: string, bytes: Buffer): Promise<Answer> {
    const { pathname, searchParams } = new URL(path, "http://server");
    const token = /^bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const user = [...world.users.values()].find((each) => each.token === token);
    const type = request.headers["content-type"] ?? "";
    const isForm = type.startsWith("multipart/form-data");
    let body: unknown;
    try {
      body = bytes.length === 0 || isForm ? undefined : JSON.parse(bytes.toString("utf8"));
    } catch {
      throw new AppError("api.context.invalid_body_param.app_error", 400);
    }
    const name = decodeURIComponent(pathname.slice(1));
    calls.push({ method: request.method ?? "", path: name, body, user: user?.id });
    if (user === undefined) throw new AppError("api.context.session_expired.app_error", 401);
    const found = find(request.method ?? "", name);
    if (found === undefined) throw new AppError("api.context.404.app_error", 404);
    const form = isForm ? await new Response(bytes, { headers: { "content-type": type } }).formData() : undefined;
    const result = await found.handler({ user, params: found.params, query: searchParams, body, form });
    const { channel_id, message } = (result.body ?? {}) as Partial<Post>;
    if (user === bot && /^posts(?:\/[a-z0-9]{26}\/patch)?$/.test(name) && request.method !== "GET")
      history.push({ channel: String(channel_id), text: String(message) });
    return result;
  }

  function fail(response: ServerResponse, { id, status, message }: AppError): void {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ id, message, detailed_error: "", request_id: "", status_code: status }));
  }

  /** `true`: the answer is not given. */
  function fails(fault: Fault, request: IncomingMessage, response: ServerResponse): boolean {
    const { kind, retryAfter = 2 } = fault;
    fault.happened?.();
    if (kind === "flood") {
      const limits = { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${retryAfter}` };
      response.writeHead(429, { ...limits, "retry-after": `${retryAfter}` }).end("limit exceeded");
    } else if (kind === "cut" || kind === "cut-before") request.socket.destroy();
    else if (kind === "error" || kind === "late-error") fail(response, new AppError("app.post.save.app_error", 500));
    else if (kind === "proxy") response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
    else if (kind === "refuse")
      fail(response, new AppError(fault.id ?? "api.context.permissions.app_error", fault.status ?? 403));
    return true;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const path = (request.url ?? "").replace(/^\/api\/v4/, "");
    const fault = faults.next(`${request.method} ${path.slice(1).split("?")[0]}`);
    const isBefore = fault !== undefined && !["cut", "hang", "late-error"].includes(fault.kind);
    if (isBefore && fails(fault, request, response)) return;
    if (isSilent) return;
    try {
      const { status = 200, body, bytes: file } = await answer(request, path, bytes);
      if (isSilent || (fault !== undefined && fails(fault, request, response))) return;
      response.writeHead(status, {
        "content-type": file === undefined ? "application/json" : "application/octet-stream",
      });
      response.end(file ?? JSON.stringify(body));
    } catch (error) {
      fail(response, error instanceof AppError ? error : new AppError("internal", 500, String(error)));
    }
  }

  let server: Server;
  const sockets = new Set<Socket>();
  async function listen(at: number): Promise<number> {
    server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    server.on("upgrade", (request, stream) => {
      if (isSilent) return;
      if (!refusesWebSockets && /^\/api\/v4\/websocket\/?(?:\?|$)/.test(request.url ?? ""))
        events.upgrade(request, stream);
      else stream.end("HTTP/1.1 404 Not Found\r\n\r\n");
    });
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }
  const own = await listen(port);

  async function shut(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    ...{ world, bot, ada, bela, room, elsewhere, chat, faults, calls, typing, ephemeral, history, pressed, events },
    ...{ triggerOf, pressBody, actionsOf },
    port: own,
    url: `http://127.0.0.1:${own}`,
    /** A person writes. */
    say: (user: User, channel: Channel, message: string, more: NewPost = {}) =>
      posts.create({ channel_id: channel.id, message, ...more }, user),
    edit: (user: User, post: Post, message: string) => posts.patch(post.id, { message }, user),
    remove: (user: User, post: Post) => posts.remove(post.id, user),
    react: (user: User, post: Post, emoji_name: string) =>
      posts.react({ user_id: user.id, post_id: post.id, emoji_name }, user),
    press: (user: User, post: Post, action: Action) => press(user, post.id, action.id),
    addFile(
      user: User,
      channel: Channel,
      file: { readonly name: string; readonly type: string; readonly bytes: Uint8Array },
    ) {
      const id = world.newId();
      const { name, type: mime_type } = file;
      world.files.set(id, {
        id,
        user_id: user.id,
        channel_id: channel.id,
        name,
        mime_type,
        bytes: Buffer.from(file.bytes),
      });
      return id;
    },
    /** What a person sees in a channel, oldest first. */
    posts: (channel: Channel, user?: User) =>
      [...world.posts.values()].filter(
        (post) =>
          post.channel_id === channel.id && post.delete_at === 0 && (user === undefined || post.user_id === user.id),
      ),
    integrations(call: typeof callIntegration) {
      callIntegration = call;
    },
    /** As a proxy in front of it that does not know WebSockets. */
    refuseWebSockets() {
      refusesWebSockets = true;
    },
    silence() {
      isSilent = true;
    },
    /** Nothing answers at its address. */
    async leave() {
      await shut();
      events.drop({ forget: true });
    },
    back: () => listen(own),
    close: shut,
  };
}

export type Mattermost = Awaited<ReturnType<typeof startMattermost>>;

export const actionsOf = (post: Post): readonly Action[] =>
  (post.props.attachments ?? []).flatMap(({ actions = [] }) => actions);
