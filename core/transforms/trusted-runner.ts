/** The process of a trusted module: loads it through jiti and answers calls. */
import { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { createJiti } from "jiti";
import { asText, messageHandler, onEvent, onMessage } from "../listeners/index.ts";
import { createLineReader } from "../media/line-reader.ts";
import type { TransformFault } from "./error.ts";
import { freezeJson, renderAnswer } from "./guest/answer.ts";
import { thrownMessage } from "./guest/inspect.ts";
import type { Ended } from "./protocol.ts";

interface Order {
  readonly id: number;
  readonly export?: string;
  readonly context?: string;
  /** Answered at once: shows that nothing holds the process up. */
  readonly isPing?: true;
}

const [file = ""] = process.argv.slice(2);
/** The gateway's own pipe, as `trusted-process.ts` opens it. */
const pipe = new Socket({ fd: 3, readable: true, writable: true }).setEncoding("utf8");
const send = (message: object): void => void pipe.write(`${JSON.stringify(message)}\n`);
const door = new URL(`../sdk/index${import.meta.url.slice(-3)}`, import.meta.url).pathname;
const jiti = createJiti(file, { fsCache: false, interopDefault: false, alias: { "service-gateway/sdk": door } });
type Exports = Readonly<Record<string, unknown>>;
const module = (jiti.import(file) as Promise<Exports>).then((exports) => {
  // CommonJS that was compiled from an ES module: its exports are those of the module, as in the sandbox.
  const compiled = exports.default as Exports | null | undefined;
  return compiled?.__esModule === true ? compiled : exports;
});
module.catch(() => {});

async function run({ export: name = "default", context }: Order): Promise<string | undefined> {
  const exports = await module;
  const names = Object.keys(exports).filter((one) => typeof exports[one] === "function");
  if (context === undefined) return JSON.stringify(names);
  const transform = exports[name];
  if (typeof transform !== "function")
    throw new Error(
      `The module exports no function named ${JSON.stringify(name)}; it exports ${names.join(", ") || "none"}`,
    );
  return renderAnswer(await (transform as (context: unknown) => unknown)(freezeJson(JSON.parse(context))));
}

function faultOf(error: unknown): NonNullable<Ended["error"]> {
  const kind: TransformFault = "threw";
  return { kind, message: thrownMessage(error), where: error instanceof Error ? error.stack : undefined };
}

async function answer(order: Order): Promise<void> {
  if (order.isPing === true) {
    send({ id: order.id });
    return;
  }
  const ended: Ended = await run(order).then(
    (json) => ({ id: order.id, json }),
    (error: unknown) => ({ id: order.id, error: faultOf(error) }),
  );
  send(ended);
}

const source = "the gateway";
const hear = messageHandler("message", { source, check: (order) => order as Order, handle: answer });
const read = createLineReader((line) => hear(JSON.parse(line)), {
  maxChars: Number.POSITIVE_INFINITY,
  onTooLong: () => {},
});
onMessage(pipe, "data", { source, check: asText, handle: read });
onEvent(pipe, "close", { source, handle: () => process.exit() });
onEvent(pipe, "error", { source, handle: () => process.exit() });

// A module in a loop receives no messages, but this separate thread keeps running. It ends the process if the gateway
// was killed.
const watch =
  `const parent = ${process.ppid}; setInterval(() => process.ppid === parent || ` +
  `process.kill(process.pid, "SIGKILL"), 1000);`;
new Worker(watch, { eval: true }).unref();
