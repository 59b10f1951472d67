/** Two small proxies over real sockets. Names that end in `.invalid` are found by them only: on this machine. */
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "../../support/own-test.ts";

export interface TestProxy {
  readonly port: number;
  /** What was asked for, with the way in front: `CONNECT bot.invalid:443`. Those that were refused as well. */
  readonly asked: string[];
}

export interface Account {
  readonly user: string;
  readonly password: string;
}

export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function join(down: Socket, up: Socket): void {
  for (const [one, other] of [
    [down, up],
    [up, down],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  down.pipe(up).pipe(down);
}

/** Tunnels with CONNECT, and forwards what is asked for with a whole address. */
export async function httpProxy(account?: Account): Promise<TestProxy> {
  const asked: string[] = [];
  const wanted = account && `Basic ${Buffer.from(`${account.user}:${account.password}`).toString("base64")}`;
  const admitted = ({ headers }: IncomingMessage) => wanted === undefined || headers["proxy-authorization"] === wanted;
  const server = createHttpServer((request, response) => {
    const target = new URL(request.url ?? "");
    asked.push(`${request.method} ${target.host}`);
    if (!admitted(request)) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="house"' }).end("who are you?");
      return;
    }
    const { "proxy-authorization": _own, ...headers } = request.headers;
    const onward = httpRequest(
      { host: "127.0.0.1", port: target.port, path: target.pathname, method: request.method ?? "GET", headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.writeHead(502).end());
    request.pipe(onward);
  });
  server.on("connect", (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!admitted(request)) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="house"\r\n\r\n');
      return;
    }
    const up = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      join(socket, up);
    });
    up.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  });
  return { port: await listen(server), asked };
}

/** Pieces of what comes in, of the lengths that are asked for. */
function reader(socket: Socket) {
  let held = Buffer.alloc(0);
  let wake = () => {};
  const onData = (piece: Buffer) => {
    held = Buffer.concat([held, piece]);
    wake();
  };
  socket.on("data", onData);
  return {
    async take(length: number): Promise<Buffer> {
      while (held.length < length) await new Promise<void>((resolve) => (wake = resolve));
      const taken = held.subarray(0, length);
      held = held.subarray(length);
      return taken;
    },
    end: () => void socket.off("data", onData).pause(),
  };
}

const noMethod = 0xff;

async function negotiate(socket: Socket, asked: string[], account?: Account): Promise<void> {
  const { take, end } = reader(socket);
  const sized = async () => (await take((await take(1))[0] ?? 0)).toString();
  const [, count = 0] = await take(2);
  const methods = [...(await take(count))];
  const method = account === undefined ? 0 : 2;
  if (!methods.includes(method)) {
    asked.push("no account");
    socket.end(Buffer.from([5, noMethod]));
    return;
  }
  socket.write(Buffer.from([5, method]));
  if (account !== undefined) {
    await take(1);
    const [user, password] = [await sized(), await sized()];
    const right = user === account.user && password === account.password;
    socket.write(Buffer.from([1, right ? 0 : 1]));
    if (!right) {
      asked.push("wrong account");
      socket.end();
      return;
    }
  }
  const [, , , kind] = await take(4);
  const host = kind === 3 ? await sized() : [...(await take(4))].join(".");
  const port = (await take(2)).readUInt16BE();
  asked.push(`SOCKS5 ${host}:${port}`);
  end();
  const up = connect(port, "127.0.0.1", () => {
    socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
    join(socket, up);
  });
  up.on("error", () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
}

export async function socksProxy(account?: Account): Promise<TestProxy> {
  const asked: string[] = [];
  const port = await listen(createServer((socket) => void negotiate(socket, asked, account)));
  return { port, asked };
}
