/**
 * A workspace of Slack with one app in it: the Web API, Socket Mode, posted events and the hosts of files, as strict as
 * the documentation. What cannot be seen in it: enterprises, shared channels, exact rate limits.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createDelivery, type Delivery } from "./delivery.ts";
import { methods, Refused } from "./methods.ts";
import { createPeople, type People } from "./people.ts";
import { acceptWebSocket } from "./web-socket-server.ts";
import { app, bot, createWorld, type Fields, team, type World } from "./world.ts";

export const botToken = "xoxb-4711-the-bot-of-the-bakery";
export const appToken = "xapp-1-A0APP0001-the-app";
export const signingSecret = "8f742231b10e8888abcd99yyyzzz85a5";

/** The app as others install it. */
export const oauth = {
  id: "4711.0815",
  secret: "client-secret-of-the-app",
  code: "a-code-of-one-time",
  redirect: "https://localhost/slack",
} as const;

/** What happens to the next calls of a method. */
export interface Fault {
  readonly method: string | RegExp;
  readonly times?: number;
  readonly kind: "limit" | "refuse" | "status" | "html" | "cut-before" | "cut-after" | "hang" | "hang-after";
  /** `refuse`: the name of the error; `status`: the number. */
  readonly what?: string | number;
}

export interface SlackServer {
  readonly url: string;
  readonly apiUrl: string;
  readonly world: World;
  readonly people: People;
  readonly delivery: Delivery;
  readonly calls: { readonly method: string; readonly args: Readonly<Record<string, string>> }[];
  /** What no careful client does, such as an argument that a method does not have. */
  readonly complaints: string[];
  /** Addresses to which the token went although they need none. */
  readonly tokenAt: string[];
  /** The scopes of the bot's token. */
  scopes: readonly string[];
  /** `invalid_auth` and the like, for all calls. */
  refusal: string | undefined;
  faults: Fault[];
  /** Takes everything, and answers nothing any more. */
  isSilent: boolean;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly port?: number;
  /** What another server knew: it is the same workspace, at the same address. */
  readonly world?: World;
  /** How soon an event that was not confirmed comes again. */
  readonly retryMs?: number;
  readonly pingMs?: number;
}

const allScopes = [
  ...new Set(Object.values(methods).flatMap(({ scopes }) => scopes)),
  "app_mentions:read",
  "commands",
  "reactions:read",
];

export async function startSlack({
  port = 0,
  world = createWorld(),
  retryMs = 3_000,
  pingMs = 10_000,
}: ServerOptions = {}): Promise<SlackServer> {
  const tickets = new Set<string>();
  const codes = new Set<string>([oauth.code]);
  const http = createServer();
  const open = new Set<import("node:stream").Duplex>();
  let isClosed = false;
  let tries = 0;
  const delivery = createDelivery({ world, signingSecret, retryMs, pingMs });
  const server: SlackServer = {
    url: "",
    apiUrl: "",
    world,
    people: createPeople(world, delivery),
    delivery,
    ...{ calls: [], complaints: [], tokenAt: [], scopes: allScopes, refusal: undefined, faults: [], isSilent: false },
    async close() {
      if (isClosed) return;
      isClosed = true;
      delivery.close();
      for (const socket of open) socket.destroy();
      http.close();
      http.closeAllConnections();
      await once(http, "close");
    },
  };

  function faultFor(method: string): Fault | undefined {
    const at = server.faults.findIndex((fault) =>
      typeof fault.method === "string" ? fault.method === method : fault.method.test(method),
    );
    const fault = server.faults[at];
    if (fault === undefined) return undefined;
    const times = (fault.times ?? 1) - 1;
    server.faults = server.faults.flatMap((one, index) =>
      index !== at ? [one] : times > 0 ? [{ ...fault, times }] : [],
    );
    return fault;
  }

  const send = (response: ServerResponse, body: Fields, status = 200, headers: Readonly<Record<string, string>> = {}) =>
    response
      .writeHead(status, {
        "content-type": "application/json; charset=utf-8",
        "x-oauth-scopes": server.scopes.join(","),
        ...headers,
      })
      .end(JSON.stringify(body));

  /** Ends the call as the fault says; `true`: nothing more is to be done. */
  function failed(
    fault: Fault | undefined,
    { request, response, isDone }: { request: IncomingMessage; response: ServerResponse; isDone: boolean },
  ): boolean {
    const { kind, what } = fault ?? {};
    if (isDone) {
      if (kind === "cut-after") request.socket.destroy();
      return kind === "cut-after" || kind === "hang-after";
    }
    if (kind === "limit") send(response, { ok: false, error: "ratelimited" }, 429, { "retry-after": "2" });
    if (kind === "refuse") send(response, { ok: false, error: String(what) });
    if (kind === "status") response.writeHead(Number(what)).end("upstream error");
    if (kind === "html") response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    if (kind === "cut-before") request.socket.destroy();
    return kind !== undefined && kind !== "cut-after" && kind !== "hang-after";
  }

  function argsOf(request: IncomingMessage, body: Buffer, method: string): Readonly<Record<string, string>> {
    const type = request.headers["content-type"] ?? "";
    if (request.method === "GET") return Object.fromEntries(new URL(request.url ?? "", server.url).searchParams);
    if (type.startsWith("application/x-www-form-urlencoded"))
      return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
    if (type.startsWith("application/json")) {
      // Methods that read do not take JSON: they ignore the body.
      if (!/^(?:chat|reactions|conversations\.open)/.test(method)) return {};
      const fields = JSON.parse(body.toString("utf8")) as Fields;
      return Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === "string" ? value : JSON.stringify(value),
        ]),
      );
    }
    server.complaints.push(`${method}: content type ${type}`);
    throw new Refused("invalid_form_data");
  }

  function run(method: string, args: Readonly<Record<string, string>>, token: string): Fields {
    if (server.refusal !== undefined) throw new Refused(server.refusal);
    if (method === "apps.connections.open") {
      if (token !== appToken) throw new Refused(token === botToken ? "not_allowed_token_type" : "invalid_auth");
      tries += 1;
      const ticket = `${world.nextId("T")}-${tries}`;
      tickets.add(ticket);
      return { url: `${server.url.replace("http", "ws")}/link/?ticket=${ticket}&app_id=${app}` };
    }
    if (method === "oauth.v2.access") return installed(args);
    if (token === "") throw new Refused("not_authed");
    if (token !== botToken) throw new Refused(token === appToken ? "not_allowed_token_type" : "invalid_auth");
    const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (known === undefined) throw new Refused("unknown_method");
    const provided = server.scopes;
    if (known.scopes.length > 0 && !known.scopes.some((scope) => provided.includes(scope)))
      throw new Refused("missing_scope", { needed: known.scopes[0], provided: provided.join(",") });
    for (const name of Object.keys(args))
      if (!known.takes.includes(name) && name !== "token") server.complaints.push(`${method}: no argument ${name}`);
    return known.run({ args, world, heard: (event) => delivery.event(event), origin: server.url });
  }

  /** A code is good for one installation, with the secret of the app and the address that it was sent to. */
  function installed({ client_id, client_secret, code, redirect_uri }: Readonly<Record<string, string>>): Fields {
    if (client_id !== oauth.id || client_secret !== oauth.secret) throw new Refused("invalid_client_id");
    if (redirect_uri !== oauth.redirect) throw new Refused("bad_redirect_uri");
    if (code === undefined || !codes.delete(code)) throw new Refused("invalid_code");
    const scope = server.scopes.join(",");
    return {
      access_token: botToken,
      token_type: "bot",
      scope,
      bot_user_id: bot.user,
      app_id: app,
      team: { id: team, name: "Bakery" },
    };
  }

  async function api(method: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    try {
      const args = argsOf(request, body, method);
      server.calls.push({ method, args });
      if (server.isSilent) return;
      const fault = faultFor(method);
      if (failed(fault, { request, response, isDone: false })) return;
      const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      const answer = run(method, args, token);
      if (!failed(fault, { request, response, isDone: true })) send(response, { ok: true, ...answer });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      send(response, { ok: false, error: error.message, ...error.more });
    }
  }

  async function upload(ticket: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const file = [...world.files.values()].find((one) => one.ticket === ticket && one.bytes === undefined);
    if (request.headers.authorization !== undefined) server.tokenAt.push("upload");
    const bytes = await fileIn(await buffer(request), request.headers["content-type"] ?? "");
    if (file === undefined) return void response.writeHead(404).end();
    if (request.method !== "POST" || bytes.length !== file.length)
      return void response.writeHead(400).end("wrong length");
    file.bytes = bytes;
    response.end(`OK - ${bytes.length}`);
  }

  function download(id: string, request: IncomingMessage, response: ServerResponse): void {
    const file = world.files.get(id);
    const mayRead = request.headers.authorization === `Bearer ${botToken}` && server.scopes.includes("files:read");
    // Slack asks a program without the right token to sign in, as it asks a person.
    if (!mayRead) return void response.writeHead(302, { location: `${server.url}/signin` }).end();
    if (file?.bytes === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": file.mimetype }).end(file.bytes);
  }

  async function answer(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse((await buffer(request)).toString("utf8")) as { text?: string; response_type?: string };
    const at = delivery.interaction(id);
    if (at === undefined) return void response.writeHead(404).end("expired_url");
    if (request.headers.authorization !== undefined) server.tokenAt.push("response_url");
    if (body.response_type === "ephemeral") world.ephemerals.push({ ...at, text: body.text ?? "", ts: world.nextTs() });
    response.end("ok");
  }

  http.on("request", (request, response) => {
    const [, first = "", ...rest] = new URL(request.url ?? "/", "http://slack.test").pathname.split("/");
    const last = rest.at(-1) ?? "";
    const work =
      first === "api"
        ? api(rest.join("/"), request, response)
        : first === "upload"
          ? upload(last, request, response)
          : first === "response"
            ? answer(last, request, response)
            : first === "files-pri"
              ? download(rest[0] ?? "", request, response)
              : void response.writeHead(404).end();
    Promise.resolve(work).catch((error: unknown) => {
      server.complaints.push(`${request.url}: ${String(error)}`);
      response.writeHead(500).end();
    });
  });
  http.on("upgrade", (request, stream) => {
    open.add(stream);
    stream.on("close", () => open.delete(stream));
    const ticket = new URL(request.url ?? "/", "http://slack.test").searchParams.get("ticket") ?? "";
    // An address can be used once.
    if (!tickets.delete(ticket)) return void stream.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
    const socket = acceptWebSocket(request, stream);
    if (socket !== undefined && !server.isSilent) delivery.connect(socket, (words) => server.complaints.push(words));
  });
  http.listen(port, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  delivery.origin = url;
  return Object.assign(server, { url, apiUrl: `${url}/api` });
}

/** The bytes themselves, or a form with one file. */
async function fileIn(body: Buffer, type: string): Promise<Buffer> {
  if (!type.startsWith("multipart/form-data")) return body;
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  const [file] = [...form.values()];
  return typeof file === "object" ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0);
}
