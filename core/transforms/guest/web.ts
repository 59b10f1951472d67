/** Globals of the web platform: text encoding, cloning, abort signals, number and date formats, requests. */
import { ask } from "./bridge.ts";
import { binaryOf, decode, encode, fillBinary, fromBinary, inUtf8Parts } from "./bytes.ts";
import { setTimeout } from "./timers.ts";

export class GuestEncoder {
  readonly encoding = "utf-8";
  encode(text: unknown = ""): Uint8Array {
    return fromBinary(encode(String(text)));
  }
  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let [read, binary] = [0, ""];
    for (const character of text) {
      const next = encode(character);
      if (binary.length + next.length > target.length) break;
      binary += next;
      read += character.length;
    }
    fillBinary(target, binary);
    return { read, written: binary.length };
  }
}

export class GuestDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  constructor(
    label: unknown = "utf-8",
    { fatal = false, ignoreBOM = false }: { readonly fatal?: boolean; readonly ignoreBOM?: boolean } = {},
  ) {
    this.encoding = ask("decoder", String(label));
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }
  decode(data: unknown = new Uint8Array()): string {
    const textOf = (binary: string, isFirst: boolean): string =>
      ask("decode", this.encoding, this.fatal, this.ignoreBOM || !isFirst, binary);
    // Other encodings cannot be split without knowing their characters.
    return this.encoding === "utf-8" ? inUtf8Parts(binaryOf(data), textOf) : textOf(binaryOf(data), true);
  }
}

export const atob = (text: unknown): string => ask("atob", String(text));
export function btoa(text: unknown): string {
  const binary = String(text);
  if (/[^\0-\xff]/.test(binary))
    throw new DOMException("The string has characters that are not bytes", "InvalidCharacterError");
  return decode(binary, "base64");
}

export function structuredClone<T>(value: T, seen = new Map<unknown, unknown>()): T {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new DOMException(`${String(value)} could not be cloned.`, "DataCloneError");
  }
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known as T;
  const keep = <C>(copy: C): C => {
    seen.set(value, copy);
    return copy;
  };
  const inner = <V>(item: V): V => structuredClone(item, seen);
  if (value instanceof Date) return keep(new Date(value)) as T;
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags)) as T;
  if (value instanceof ArrayBuffer) return keep(value.slice(0)) as T;
  if (ArrayBuffer.isView(value)) return keep((value as unknown as Uint8Array).slice()) as T;
  if (value instanceof Map) {
    const copy = keep(new Map<unknown, unknown>());
    for (const [key, item] of value) copy.set(inner(key), inner(item));
    return copy as T;
  }
  if (value instanceof Set) {
    const copy = keep(new Set<unknown>());
    for (const item of value) copy.add(inner(item));
    return copy as T;
  }
  const copy = keep(
    (Array.isArray(value) ? new Array(value.length) : value instanceof Error ? new Error(value.message) : {}) as Record<
      string,
      unknown
    >,
  );
  for (const [key, item] of Object.entries(value)) copy[key] = inner(item);
  return copy as T;
}

type Listener = (event: { readonly type: "abort"; readonly target: GuestSignal }) => void;

export class GuestSignal {
  aborted = false;
  reason: unknown;
  onabort: Listener | null = null;
  readonly #listeners = new Set<Listener>();

  addEventListener(_type: "abort", run: Listener): void {
    this.#listeners.add(run);
  }
  removeEventListener(_type: "abort", run: Listener): void {
    this.#listeners.delete(run);
  }
  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }
  static fire(
    signal: GuestSignal,
    reason: unknown = new DOMException("This operation was aborted", "AbortError"),
  ): void {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason;
    const event = { type: "abort", target: signal } as const;
    signal.onabort?.(event);
    for (const run of signal.#listeners) run(event);
  }
  static abort(reason?: unknown): GuestSignal {
    const signal = new GuestSignal();
    GuestSignal.fire(signal, reason);
    return signal;
  }
  static timeout(ms: number): GuestSignal {
    const signal = new GuestSignal();
    setTimeout(
      () => GuestSignal.fire(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")),
      ms,
    );
    return signal;
  }
  static any(signals: Iterable<GuestSignal>): GuestSignal {
    const either = new GuestSignal();
    for (const signal of signals) {
      if (signal.aborted) GuestSignal.fire(either, signal.reason);
      else signal.addEventListener("abort", () => GuestSignal.fire(either, signal.reason));
    }
    return either;
  }
}

export class GuestController {
  readonly signal = new GuestSignal();
  abort(reason?: unknown): void {
    GuestSignal.fire(this.signal, reason);
  }
}

/** `Intl.DateTimeFormat` and `Intl.NumberFormat`, which may be called without `new`. */
function formatOf(kind: "DateTimeFormat" | "NumberFormat") {
  return function Format(locales: unknown = null, options: unknown = null): object {
    const asked = (method: string) => (value?: unknown) => ask("format", kind, method, locales, options, plain(value));
    const format = {
      format: asked("format"),
      formatToParts: asked("formatToParts"),
      resolvedOptions: asked("resolvedOptions"),
    };
    format.resolvedOptions();
    return format;
  };
}

const plain = (value: unknown): unknown =>
  value === undefined ? null : typeof value === "bigint" ? String(value) : Number(value);

export const Formats = { DateTimeFormat: formatOf("DateTimeFormat"), NumberFormat: formatOf("NumberFormat") };

export function installLocales(): void {
  for (const method of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) {
    Object.defineProperty(Date.prototype, method, {
      value(this: Date, locales: unknown = null, options: unknown = null) {
        return ask<string>("format", "Date", method, locales, options, this.getTime());
      },
    });
  }
  for (const prototype of [Number.prototype, BigInt.prototype]) {
    Object.defineProperty(prototype, "toLocaleString", {
      value(this: number | bigint, locales: unknown = null, options: unknown = null) {
        return ask<string>("format", "Number", "toLocaleString", locales, options, plain(this.valueOf()));
      },
    });
  }
}

interface Received {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

const requests = new Map<
  number,
  { readonly resolve: (received: object) => void; readonly reject: (error: Error) => void }
>();
let lastRequest = 0;

export function fetch(
  address: unknown,
  init: { readonly method?: unknown; readonly headers?: unknown; readonly body?: unknown } = {},
): Promise<object> {
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  lastRequest += 1;
  requests.set(lastRequest, { resolve, reject });
  const pairs =
    init.headers === undefined
      ? []
      : Symbol.iterator in Object(init.headers)
        ? init.headers
        : Object.entries(init.headers as object);
  const headers = Array.from(pairs as Iterable<readonly unknown[]>).map(([name, value]) => [
    String(name),
    String(value),
  ]);
  const body =
    init.body === undefined || init.body === null
      ? null
      : binaryOf(typeof init.body === "object" && !ArrayBuffer.isView(init.body) ? String(init.body) : init.body);
  ask("fetch", lastRequest, { address: String(address), method: String(init.method ?? "GET"), headers, body });
  return promise;
}

/** Called by the host when a request has finished. */
export function received(id: number, json: string): void {
  const waiting = requests.get(id);
  requests.delete(id);
  const { error, response } = JSON.parse(json) as { readonly error?: string; readonly response?: Received };
  if (response === undefined) waiting?.reject(new TypeError(error));
  else waiting?.resolve(responseOf(response));
}

function responseOf({ status, statusText, url, headers, body }: Received): object {
  const names = new Map(headers);
  return {
    status,
    statusText,
    url,
    ok: status >= 200 && status < 300,
    headers: {
      get: (name: string) => names.get(name.toLowerCase()) ?? null,
      has: (name: string) => names.has(name.toLowerCase()),
      entries: () => names.entries(),
    },
    text: async () => decode(body),
    json: async () => JSON.parse(decode(body)) as unknown,
    arrayBuffer: async () => fromBinary(body).buffer,
  };
}
