/** A homeserver that a test makes fail: real HTTP, and everything that it has accepted lasts as long as the test. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { endpoints, type Memory, RawAnswer, type Request } from "./endpoints.ts";
import { type Content, createWorld, Refusal, type World } from "./world.ts";

/** What happens to a call in place of its answer. `after`: it has had its effect. */
export type Fault =
  | {
      readonly status: number;
      readonly body?: Content | string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly after?: true;
    }
  | { readonly breaks: "before" | "after" | "hangs-before" | "hangs-after" };

export interface Called {
  readonly method: string;
  /** Below `/_matrix/`, with `v3` for each version of the API that is the same. */
  readonly path: string;
  readonly user?: string;
  readonly status?: number;
}

export interface Homeserver extends Memory {
  readonly url: string;
  readonly port: number;
  readonly world: World;
  readonly calls: Called[];
  /** Tokens that were sent in the query, where servers log them. */
  readonly tokensInQueries: () => number;
  /** Asked for each call. */
  fault: (call: Called) => Fault | undefined;
  /** The file for clients, or none. */
  wellKnown: Content | string | undefined;
  /** The last event of a room comes once more, as after a fault of the server. */
  repeat(room: string): void;
  /** Ends every connection. */
  cut(): void;
  away(): Promise<void>;
  back(): Promise<void>;
  close(): Promise<void>;
}

const maxBody = 50_000_000;

export async function startHomeserver({
  host = "hs.test",
  port = 0,
  uploadBytes = 5_000_000,
  isOld = false,
  ignoresTo = false,
}: {
  readonly host?: string;
  readonly port?: number;
  readonly uploadBytes?: number;
  readonly isOld?: boolean;
  readonly ignoresTo?: boolean;
} = {}): Promise<Homeserver> {
  const world = createWorld(host);
  const memory: Memory = {
    media: new Map(),
    sent: new Map(),
    filters: new Map(),
    typing: [],
    receipts: [],
    uploadBytes,
    isOld,
    ignoresTo,
  };
  const sockets = new Set<Socket>();
  const calls: Called[] = [];
  let tokensInQueries = 0;

  /** A request, as it goes on after its faults. */
  async function answerTo(request: Request): Promise<unknown> {
    const { method, path, headers, query, bytes } = request;
    if (path === "client/versions") return { versions: ["v1.1", isOld ? "v1.10" : "v1.12"] };
    if (path === "client/v3/login" && method === "POST") return logIn(bytes);
    const [, bearer] = /^Bearer (\S+)$/.exec(String(headers.authorization ?? "")) ?? [];
    if (query.get("access_token") !== null) tokensInQueries += 1;
    const token = bearer ?? query.get("access_token");
    // Until Matrix 1.11, everyone could fetch a file.
    const [, id = ""] = /^media\/v3\/download\/[^/]+\/([^/]+)/.exec(path) ?? [];
    const file = isOld && token === null ? memory.media.get(id) : undefined;
    if (file !== undefined) return new RawAnswer(file);
    if (token === null) throw new Refusal(401, "M_MISSING_TOKEN", "Missing access token");
    const user = [...world.users.values()].find(({ tokens }) => tokens.has(token));
    if (user === undefined)
      throw new Refusal(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.", {
        soft_logout: world.users.size === 0,
      });
    const known = endpoints.filter(([, pattern]) => pattern.test(path));
    if (known.length === 0) throw new Refusal(404, "M_UNRECOGNIZED", "Unrecognized request");
    const found = known.find(([one]) => one === method);
    if (found === undefined) throw new Refusal(405, "M_UNRECOGNIZED", "Unrecognized request");
    const [, pattern, act] = found;
    const at = (pattern.exec(path) ?? []).slice(1).map((value) => decodeURIComponent(value ?? ""));
    return await act({
      world,
      memory,
      request,
      user,
      device: user.tokens.get(token) ?? "",
      at,
      body: () => readBody(bytes),
    });
  }

  function readBody(bytes: Buffer): Content {
    let value: unknown;
    try {
      value = JSON.parse(bytes.toString("utf8"));
    } catch {
      throw new Refusal(400, "M_NOT_JSON", "Content not JSON.");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new Refusal(400, "M_BAD_JSON", "Content must be a JSON object.");
    return value as Content;
  }

  function logIn(bytes: Buffer): Content {
    const {
      type,
      identifier,
      user: old,
      password,
      device_id: device = `D${calls.length}`,
    } = readBody(bytes) as Readonly<Record<string, unknown>>;
    const name = String((identifier as Content | undefined)?.user ?? old);
    const user = world.users.get(name.startsWith("@") ? name : `@${name}:${host}`);
    if (type !== "m.login.password" || user === undefined || user.password !== password)
      throw new Refusal(403, "M_FORBIDDEN", "Invalid username or password");
    const token = `syt_${calls.length}_${name.replace(/\W/g, "")}`;
    user.tokens.set(token, String(device));
    return { user_id: user.id, access_token: token, device_id: String(device) };
  }

  function write(
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    if (body instanceof RawAnswer) {
      const { bytes, type } = body.media;
      response
        .writeHead(status, {
          "content-type": type,
          "content-disposition": "attachment",
          "content-length": String(bytes.length),
        })
        .end(bytes);
    } else
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(typeof body === "string" ? body : JSON.stringify(body));
  }

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(message.url ?? "/", "http://localhost");
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of message) {
      size += (piece as Buffer).length;
      if (size > maxBody) return void message.destroy();
      pieces.push(piece as Buffer);
    }
    if (pathname === "/.well-known/matrix/client")
      return write(response, homeserver.wellKnown === undefined ? 404 : 200, homeserver.wellKnown ?? "not found");
    const path = pathname.replace(/^\/_matrix\//, "").replace(/^(client|media)\/r0\//, "$1/v3/");
    const method = message.method ?? "GET";
    const [, bearer = ""] = /^Bearer (\S+)$/.exec(message.headers.authorization ?? "") ?? [];
    const caller = [...world.users.values()].find(({ tokens }) => tokens.has(bearer))?.id;
    const called = { method, path, ...(caller !== undefined && { user: caller }) };
    const fault = homeserver.fault(called);
    const isEarly = fault !== undefined && ("status" in fault ? fault.after !== true : fault.breaks.endsWith("before"));
    let status = 200;
    let body: unknown;
    if (!isEarly) {
      try {
        body = await answerTo({
          method,
          path,
          query,
          headers: message.headers,
          bytes: Buffer.concat(pieces),
          signal: gone.signal,
        });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        status = error.status;
        body = { errcode: error.errcode, error: error.message, ...error.more };
      }
    }
    calls.push({ ...called, status });
    if (fault === undefined) return write(response, status, body);
    if ("status" in fault)
      return write(response, fault.status, fault.body ?? "<html>Bad Gateway</html>", fault.headers);
    if (!fault.breaks.startsWith("hangs")) message.socket.destroy();
  }

  const server = createServer((message, response) => {
    serve(message, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(String(error));
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  let bound = port;
  const listen = async () => {
    server.listen(bound, "127.0.0.1");
    await once(server, "listening");
    bound = (server.address() as AddressInfo).port;
  };
  const away = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen();
  const homeserver: Homeserver = {
    ...memory,
    ...{ url: `http://127.0.0.1:${bound}`, port: bound, world, calls, tokensInQueries: () => tokensInQueries },
    fault: () => undefined,
    wellKnown: undefined,
    repeat(id) {
      const { events } = world.room(id);
      const last = events.findLast(({ type }) => type === "m.room.message");
      if (last !== undefined) events.push({ ...last, at: world.step() });
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    ...{ away, back: listen, close: away },
  };
  return homeserver;
}
