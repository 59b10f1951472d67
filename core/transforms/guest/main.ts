/** Sets up the globals that a module finds in the engine, and the functions that the host calls. */

import { GuestAddress, GuestParams } from "./addresses.ts";
import { freezeJson, renderAnswer } from "./answer.ts";
import { ask, settle } from "./bridge.ts";
import { GuestBuffer } from "./bytes.ts";
import { webcrypto } from "./digests.ts";
import { format, thrownMessage } from "./inspect.ts";
import { clear, setInterval, setTimeout } from "./timers.ts";
import {
  atob,
  btoa,
  Formats,
  fetch,
  GuestController,
  GuestDecoder,
  GuestEncoder,
  GuestSignal,
  installLocales,
  structuredClone,
} from "./web.ts";

export { exportsOf, mainOf, namesOf } from "./modules.ts";
export { fire, forget } from "./timers.ts";
export { received } from "./web.ts";

const { parse, stringify } = JSON;
const { keys, setPrototypeOf } = Object;
const { apply } = Reflect;
const { then } = Promise.prototype;

/** Maximum length of a line. The host limits how much a call prints in total. */
const longest = 65_536;

/** Whether the call has reached its printing limit. */
let isMuted = false;

const print =
  (level: "debug" | "info" | "warn" | "error") =>
  (...values: readonly unknown[]): void => {
    if (isMuted) return;
    const cut = values.map((value) => (typeof value === "string" ? value.slice(0, longest) : value));
    isMuted = !ask<boolean>("print", level, format(...cut).slice(0, longest));
  };

Object.assign(globalThis, {
  URL: GuestAddress,
  URLSearchParams: GuestParams,
  TextEncoder: GuestEncoder,
  TextDecoder: GuestDecoder,
  AbortController: GuestController,
  AbortSignal: GuestSignal,
  Buffer: GuestBuffer,
  Intl: Formats,
  console: {
    debug: print("debug"),
    trace: print("debug"),
    log: print("info"),
    info: print("info"),
    dir: print("info"),
    warn: print("warn"),
    error: print("error"),
  },
  crypto: webcrypto,
  process: Object.freeze({ __proto__: null, env: Object.freeze({ __proto__: null }) }),
  structuredClone,
  atob,
  btoa,
  setTimeout,
  setInterval,
  clearTimeout: clear,
  clearInterval: clear,
  ...(ask("network") === true ? { fetch } : {}),
});
installLocales();
// Disabled, because its call sites would expose the functions of this file.
Object.defineProperty(Error, "prepareStackTrace", { get: () => undefined, set: () => {} });
// Transforms do not need a second clock.
delete (globalThis as { performance?: unknown }).performance;

let namespace: Readonly<Record<string, unknown>> = {};

const isFunction = (name: string): boolean => typeof namespace[name] === "function";

function fail(id: number, kind: "threw" | "result", error: unknown): void {
  let [message, stack] = ["It threw a value that cannot be described", ""];
  try {
    message = thrownMessage(error);
    if (message === "ReferenceError: fetch is not defined") message += "; hooks.transforms.network: true provides it";
    if (error instanceof Error) stack = String(error.stack ?? "");
  } catch {
    // A getter of the error threw. The message above is used.
  }
  settle(String(id), kind, message.slice(0, 2_000), stack.slice(0, 4_000));
}

/** Loads the module. Settles the call with the names of the exported functions. */
export function load(id: number, entry: string): void {
  import(entry).then(
    (loaded: Readonly<Record<string, unknown>>) => {
      namespace = loaded;
      settle(String(id), "value", stringify(keys(namespace).filter(isFunction)), "");
    },
    (error: unknown) => fail(id, "threw", error),
  );
}

/**
 * Runs a function. Returns the result as JSON, or an empty string if there is none. `undefined` means that the call has
 * been settled or will be settled later.
 */
export function call(id: number, name: string, json: string): string | undefined {
  const render = (value: unknown): string | undefined => {
    try {
      return renderAnswer(value) ?? "";
    } catch (error) {
      fail(id, "result", error);
      return undefined;
    }
  };
  isMuted = false;
  try {
    const run = namespace[name];
    if (typeof run !== "function") throw missing(name);
    const context = parse(json) as { readonly headers: object; readonly query: object };
    // As in the gateway, header and query names must not reach a prototype.
    for (const map of [context.headers, context.query]) setPrototypeOf(map, null);
    const value: unknown = run(freezeJson(context));
    if (!isThenable(value)) return render(value);
    apply(then, value instanceof Promise ? value : new Promise((resolve) => resolve(value)), [
      (result: unknown) => {
        const answer = render(result);
        if (answer !== undefined) settle(String(id), "value", answer, "");
      },
      (error: unknown) => fail(id, "threw", error),
    ]);
  } catch (error) {
    fail(id, "threw", error);
  }
  return undefined;
}

const isThenable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function";

function missing(name: string): Error {
  const wanted = name === "default" ? "no function as its default export" : `no function named ${stringify(name)}`;
  const names = keys(namespace).filter(isFunction);
  const instead =
    names.length === 0
      ? "it exports none: write `export default` before the function"
      : `it exports ${names.join(", ")}, which a mapping names with transform.export`;
  return new Error(`The module exports ${wanted}; ${instead}`);
}
