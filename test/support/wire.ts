/** A client on bare sockets: it sends what no library would, and reads what is on the wire. */
import { connect, type Socket } from "node:net";

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON; `undefined` when it is none. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface Wire {
  /** Sends a request as it stands, on the connection that is open, and resolves with its answer. One at a time. */
  exchange(request: string | Buffer): Promise<WireAnswer>;
  close(): void;
}

/** What came so far, cut into whole answers. */
export function parseAnswers(received: Buffer): { readonly answers: readonly WireAnswer[]; readonly rest: Buffer } {
  const answers: WireAnswer[] = [];
  let rest = received;
  for (;;) {
    const head = rest.indexOf("\r\n\r\n");
    if (head < 0) return { answers, rest };
    const [first = "", ...lines] = rest.toString("latin1", 0, head).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const status = Number(first.split(" ")[1]);
    const end = head + 4 + (status === 204 || status < 200 ? 0 : Number(headers["content-length"] ?? 0));
    if (rest.length < end) return { answers, rest };
    const body = rest.toString("utf8", head + 4, end);
    answers.push({ status, headers, body, json: parse(body) });
    rest = rest.subarray(end);
  }
}

function parse(body: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

export interface Post {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string | Buffer;
}

export function renderRequest({ method = "POST", target, headers = [], body = "" }: Post): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: localhost",
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  // Header text is one byte in each character, as it goes over the wire.
  return Buffer.concat([
    Buffer.from(`${lines.join("\r\n")}\r\nContent-Length: ${bytes.length}\r\n\r\n`, "latin1"),
    bytes,
  ]);
}

/** Keeps one connection alive, and opens another where the server ended it. */
export function createWire(port: number): Wire {
  let socket: Socket | undefined;
  let received: Buffer = Buffer.alloc(0);
  let waiting: { readonly resolve: (answer: WireAnswer) => void; readonly reject: (error: Error) => void } | undefined;

  const open = (): Socket => {
    const opened = connect({ port, host: "127.0.0.1", noDelay: true });
    received = Buffer.alloc(0);
    opened.on("data", (chunk: Buffer) => {
      const { answers, rest } = parseAnswers(received.length === 0 ? chunk : Buffer.concat([received, chunk]));
      received = rest;
      const answer = answers.find(({ status }) => status >= 200);
      if (answer === undefined) return;
      if (answer.headers.connection === "close") forget(opened);
      waiting?.resolve(answer);
      waiting = undefined;
    });
    opened.on("error", () => {});
    opened.on("close", () => {
      forget(opened);
      if (socket !== undefined) return;
      waiting?.reject(
        new Error(`the connection ended without an answer, after ${JSON.stringify(received.toString("latin1"))}`),
      );
      waiting = undefined;
    });
    return opened;
  };
  const forget = (ended: Socket): void => {
    if (socket === ended) socket = undefined;
  };

  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (socket === undefined || socket.destroyed) socket = open();
        socket.write(request);
      }),
    close() {
      socket?.destroy();
    },
  };
}
