/** Modules that are not files of the root: the few Node modules that payloads need, and CommonJS support. */
import { product } from "../../contract/product.ts";
import { escapeMarkdown } from "../../reply/escape-markdown.ts";
import type { Required } from "../engine/linker.ts";
import { GuestAddress, GuestParams } from "./addresses.ts";
import { ask, compile, importNow } from "./bridge.ts";
import { GuestBuffer } from "./bytes.ts";
import { nodeCrypto } from "./digests.ts";
import { format, inspect } from "./inspect.ts";
import { atob, btoa, GuestDecoder, GuestEncoder } from "./web.ts";

/** Creates functions on strings that the host computes. */
const asked = (room: string, names: string): object =>
  Object.fromEntries(
    names.split(" ").map((name) => [name, (...given: readonly unknown[]) => ask(`${room}.${name}`, ...given)]),
  );

const path = {
  sep: "/",
  delimiter: ":",
  ...asked("path", "basename dirname extname join normalize relative resolve isAbsolute parse format"),
};
const querystring = asked("querystring", "parse stringify escape unescape");
const random = {
  randomInt: (low: number, high?: number) => (high === undefined ? ask("integer", 0, low) : ask("integer", low, high)),
};

const builtins: Readonly<Record<string, object>> = {
  buffer: { Buffer: GuestBuffer, atob, btoa },
  crypto: { ...nodeCrypto, ...random },
  path: Object.assign(path, { posix: path }),
  querystring,
  url: { URL: GuestAddress, URLSearchParams: GuestParams },
  util: { format, inspect, TextEncoder: GuestEncoder, TextDecoder: GuestDecoder },
  [`${product.packageName}/sdk`]: { defineTransform: <T>(transform: T): T => transform, escapeMarkdown },
};

interface CommonModule {
  exports: unknown;
  readonly id: string;
  readonly filename: string;
  loaded: boolean;
}

const files = new Map<string, CommonModule>();

export function exportsOf(name: string): unknown {
  const builtin = name.startsWith("builtin:") ? builtins[name.slice(8)] : undefined;
  if (builtin !== undefined) return builtin;
  // Also returns a file that is still running, so that two files that require each other see what the other has
  // exported so far.
  const known = files.get(name);
  if (known !== undefined) return known.exports;
  const module: CommonModule = { exports: {}, id: name, filename: name, loaded: false };
  files.set(name, module);
  try {
    if (name.endsWith(".json")) module.exports = JSON.parse(ask("read", name));
    else
      compile(name).call(
        module.exports,
        module.exports,
        requireFrom(name),
        module,
        name,
        name.replace(/\/[^/]*$/, "") || "/",
      );
  } catch (error) {
    files.delete(name);
    throw error;
  }
  module.loaded = true;
  return module.exports;
}

const requireFrom = (from: string) => (specifier: unknown) => {
  const { name, isModule, wantsDefault } = ask<Required>("require", String(specifier), from);
  if (isModule) return importNow(name);
  const exports = exportsOf(name);
  return wantsDefault && ((typeof exports === "object" && exports !== null) || typeof exports === "function")
    ? withDefault(exports)
    : exports;
};

const withDefault = (exports: object): object =>
  new Proxy(exports, {
    get: (target, key) => (key === "default" && !("default" in target) ? target : Reflect.get(target, key)),
  });

/** The default export that an ES module sees. A user's file compiled from an ES module has its own. */
export function mainOf(name: string): unknown {
  const exports = exportsOf(name) as { readonly __esModule?: unknown; readonly default?: unknown } | undefined;
  return exports?.__esModule === true && !name.includes("/node_modules/") ? exports.default : exports;
}

/** The names that `import { name }` can take from the module, as JSON. */
export function namesOf(name: string): string {
  const exports = exportsOf(name);
  const isObject = (typeof exports === "object" && exports !== null) || typeof exports === "function";
  return JSON.stringify(isObject ? Object.getOwnPropertyNames(exports) : []);
}
