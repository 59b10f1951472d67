/** A relay between a bot and its platform that fails in one way for a while, and records what it did with each send. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";

/**
 * `refused` and `closed` cut open connections. Then `refused` stops listening, and `closed` ends each new connection at
 * once.
 */
export const faults = [
  "refused",
  "closed",
  "reset after request",
  "reset in the answer",
  "502",
  "504",
  "silence",
] as const;
export type Fault = (typeof faults)[number];

/** One send that reached the relay. */
export interface Attempt {
  readonly chat: string;
  readonly text: string;
  /** The platform received the call and sent the message. */
  readonly carriedOut: boolean;
  /** What the bot learned: that it was sent, that it was not, or nothing. */
  readonly reported: "sent" | "not sent" | "nothing";
}

export interface Relay {
  readonly url: string;
  readonly attempts: readonly Attempt[];
  /**
   * Delays this many sends, so that all of them are in progress when the fault begins, and then resolves. On a busy
   * machine the fault begins 3 s after the first of them, before the bot gives up.
   */
  breakUnder(sends: number): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

const longestHoldMs = 3_000;

interface Call {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

async function read(from: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of from) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function openRelay(platformUrl: string, fault: Fault): Promise<Relay> {
  const attempts: Attempt[] = [];
  const held: Call[] = [];
  let broken = false;
  let wanted = 0;
  let onset = () => {};
  let sends = 0;
  let patience: NodeJS.Timeout | undefined;

  const server = createServer((incoming, response) => {
    response.on("error", () => {});
    void read(incoming).then(
      (body) => take({ incoming, response, body }),
      () => {},
    );
  });
  // Only the fault closes connections of the bot.
  server.keepAliveTimeout = 0;
  const listen = (port: number, on: Server) => new Promise<void>((resolve) => on.listen(port, "127.0.0.1", resolve));
  await listen(0, server);
  const { port } = server.address() as AddressInfo;
  /** Takes over the port while connections are closed on arrival. */
  const closer = createTcpServer((socket) => socket.destroy());

  const isSend = ({ incoming }: Call) => incoming.url?.endsWith("/sendMessage") === true;

  function note({ body }: Call, outcome: Omit<Attempt, "chat" | "text">): void {
    const { chat_id, text } = JSON.parse(body.toString("utf8")) as { chat_id: string; text: string };
    attempts.push({ chat: String(chat_id), text, ...outcome });
  }

  function carryOut({ incoming, body }: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { host: _host, connection: _connection, ...headers } = incoming.headers;
      // Uses a new connection, because the platform could close a reused one just when it is used again.
      const onward = request(
        `${platformUrl}${incoming.url}`,
        { method: incoming.method ?? "POST", headers, agent: false },
        (answer) => {
          void read(answer).then(
            (bytes) => resolve({ status: answer.statusCode ?? 500, headers: answer.headers, body: bytes }),
            reject,
          );
        },
      );
      onward.on("error", reject);
      // The platform must not deliver updates to a poll that has been closed.
      const leave = () => onward.destroy();
      incoming.socket.once("close", leave);
      onward.once("close", () => incoming.socket.off("close", leave));
      onward.end(body);
    });
  }

  async function pass(call: Call): Promise<void> {
    const answer = await carryOut(call);
    // It was in progress when the platform stopped answering.
    const isReported = !(broken && fault === "silence") && !call.response.destroyed;
    if (isSend(call)) note(call, { carriedOut: true, reported: isReported ? "sent" : "nothing" });
    if (!isReported) return;
    const {
      "transfer-encoding": _coding,
      connection: _connection,
      "keep-alive": _keepAlive,
      ...headers
    } = answer.headers;
    call.response.writeHead(answer.status, headers as Record<string, string>).end(answer.body);
  }

  async function fail(call: Call): Promise<void> {
    const { response, incoming } = call;
    if (fault === "502" || fault === "504") {
      if (isSend(call)) note(call, { carriedOut: false, reported: "not sent" });
      response
        .writeHead(Number(fault), { "content-type": "text/html" })
        .end("<html><body><h1>Bad Gateway</h1></body></html>");
      return;
    }
    const send = isSend(call);
    if (send) sends += 1;
    // Every second one arrives, if possible; the bot cannot know which.
    const carriedOut = send && (fault === "reset in the answer" || sends % 2 === 0);
    const answer = carriedOut ? await carryOut(call) : undefined;
    if (send) note(call, { carriedOut, reported: "nothing" });
    if (fault === "silence") return;
    if (fault === "reset in the answer") {
      const half = answer?.body.subarray(0, 20) ?? Buffer.from('{"ok":true,"resu');
      response.writeHead(200, { "content-type": "application/json", "content-length": half.length + 200 });
      await new Promise<void>((resolve) => response.write(half, () => resolve()));
    }
    incoming.socket.resetAndDestroy();
  }

  function take(call: Call): void {
    const work = broken ? fail : isSend(call) && wanted > 0 ? hold : pass;
    void work(call).catch(() => call.response.destroy());
  }

  async function hold(call: Call): Promise<void> {
    held.push(call);
    if (held.length === 1) patience = setTimeout(() => void begin().catch(() => {}), longestHoldMs);
    if (held.length === wanted) await begin();
  }

  async function begin(): Promise<void> {
    clearTimeout(patience);
    wanted = 0;
    broken = true;
    const cuts = fault === "refused" || fault === "closed";
    const closed = cuts ? new Promise((resolve) => server.close(resolve)) : undefined;
    await Promise.allSettled(held.splice(0).map(fail));
    if (cuts) {
      server.closeAllConnections();
      await closed;
    }
    if (fault === "closed") await listen(port, closer);
    onset();
  }

  return {
    url: `http://127.0.0.1:${port}`,
    attempts,
    breakUnder(count) {
      wanted = count;
      return new Promise((resolve) => {
        onset = resolve;
      });
    },
    async mend() {
      broken = false;
      if (fault === "closed") await new Promise((resolve) => closer.close(resolve));
      if (fault === "refused" || fault === "closed") await listen(port, server);
    },
    async close() {
      clearTimeout(patience);
      server.close();
      server.closeAllConnections();
      if (closer.listening) closer.close();
    },
  };
}
