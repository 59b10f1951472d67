/**
 * A load generator in a process of its own: a number of connections, each with one request in progress, for a number of
 * seconds. `node bench/load.ts --port N --connections 16 --seconds 2 --path /hooks/wake --token T`. Prints one line of
 * JSON.
 *
 * Uses bare sockets and prepared requests, because a client that builds and parses HTTP properly costs as much as the
 * measured server.
 */
import { connect, type Socket } from "node:net";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    connections: { type: "string", default: "16" },
    seconds: { type: "string", default: "2" },
    path: { type: "string", default: "/hooks/wake" },
    token: { type: "string", default: "" },
    /** Requests a second on each connection; 0: as many as possible. */
    rate: { type: "string", default: "0" },
    /** Size of a field `note` beside the text. */
    bytes: { type: "string", default: "0" },
    /** A field `delivery` whose text has forty digits, as ids and hashes have. */
    digits: { type: "boolean", default: false },
    get: { type: "boolean", default: false },
  },
});
const runMs = Number(values.seconds) * 1_000;
const sentence = 'The build (of branch "main") failed: see <https://ci.example/7>, step 3 (tests). ';
const note = sentence.repeat(Math.ceil(Number(values.bytes) / sentence.length)).slice(0, Number(values.bytes));
const pauseMs = Number(values.rate) === 0 ? 0 : 1_000 / Number(values.rate);

function request(index: number): Buffer {
  if (values.get) return Buffer.from(`GET ${values.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const body = JSON.stringify({
    text: `disk ${index} of the machine in the cellar is ${index % 100} percent full`,
    mode: "next-heartbeat",
    ...(note === "" ? {} : { note }),
    ...(values.digits ? { delivery: String(index).padStart(40, "1234567890") } : {}),
  });
  return Buffer.from(
    `POST ${values.path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ` +
      `${values.token}\r\nContent-Type: application/json\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const requests = Array.from({ length: 512 }, (_, index) => request(index));
const times: number[] = [];
let refused = 0;
let next = 0;

/** Length of the response that begins at the start of `data`; 0 while its headers are incomplete. */
function answerLength(data: Buffer): number {
  const head = data.indexOf("\r\n\r\n");
  if (head < 0) return 0;
  const length = /content-length: (\d+)/i.exec(data.toString("latin1", 0, head))?.[1];
  return head + 4 + Number(length ?? 0);
}

function run(socket: Socket, until: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let begun = 0;
    let pending: Buffer | undefined;
    const send = () => {
      begun = performance.now();
      if (begun >= until) {
        socket.destroy();
        resolve();
        return;
      }
      socket.write(requests[next++ & 511] as Buffer);
    };
    socket.on("data", (chunk: Buffer) => {
      const data = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
      const length = answerLength(data);
      if (length === 0 || data.length < length) {
        pending = data;
        return;
      }
      pending = undefined;
      // "HTTP/1.1 2..."
      if (data[9] !== 50) refused += 1;
      times.push(performance.now() - begun);
      if (pauseMs > 0) setTimeout(send, pauseMs);
      else send();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
    send();
  });
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(values.port), host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

const sockets = await Promise.all(Array.from({ length: Number(values.connections) }, open));
const start = performance.now();
await Promise.all(sockets.map((socket) => run(socket, start + runMs)));
const elapsed = performance.now() - start;
times.sort((a, b) => a - b);
const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
console.log(
  JSON.stringify({ rate: (times.length * 1_000) / elapsed, p50: at(0.5), p99: at(0.99), longest: at(1), refused }),
);
