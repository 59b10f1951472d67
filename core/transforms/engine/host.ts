/**
 * The host's operations for code in the engine. Each takes and returns JSON, has no side effects and reads nothing from
 * this machine. Bytes are strings with one character for each byte.
 */
import { createHash, createHmac, randomBytes, randomInt, randomUUID } from "node:crypto";
import { posix } from "node:path";
import * as querystring from "node:querystring";

/** Maximum length of a request in characters, unless its operation takes less. */
const maxQuestion = 2_097_152;
const maxRandom = 65_536;

/**
 * Maximum length of a request, by the beginning of its name. Limits are checked before and after an operation, so each
 * must end within some milliseconds: these are lengths that take at most 20 on a slow machine. Resolving a path takes
 * the square of its length.
 */
const most: readonly (readonly [beginning: string, characters: number])[] = [
  ["path.", 16_384],
  ["url", 65_536],
  ["query", 65_536],
  ["format", 4_096],
  ["decoder", 64],
  ["decode", 262_144],
  ["text", 262_144],
  ["bytes", 262_144],
  ["require", 8_192],
  ["timer", 64],
  ["clear", 64],
  ["atob", 1_048_576],
];

export const mostCharacters = (name: string): number =>
  most.find(([beginning]) => name.startsWith(beginning))?.[1] ?? maxQuestion;

type Given = readonly unknown[];
type Operation = (...given: Given) => unknown;

const text = (value: unknown): string => {
  if (typeof value !== "string")
    throw new TypeError(`A text was expected, not ${value === null ? "null" : `a ${typeof value}`}`);
  return value;
};
const whole = (value: unknown, most: number): number => {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw new RangeError(`A whole number up to ${most} was expected`);
  return value;
};

const encodings: Readonly<Record<string, BufferEncoding>> = {
  utf8: "utf8",
  "utf-8": "utf8",
  hex: "hex",
  base64: "base64",
  base64url: "base64url",
  latin1: "latin1",
  binary: "latin1",
  ascii: "ascii",
  utf16le: "utf16le",
  ucs2: "utf16le",
};
const encoding = (name: unknown): BufferEncoding => {
  const known = Object.hasOwn(encodings, text(name).toLowerCase()) ? encodings[text(name).toLowerCase()] : undefined;
  if (known === undefined) throw new TypeError(`Unknown encoding: ${text(name).slice(0, 40)}`);
  return known;
};
const bytes = (binary: unknown): Buffer => Buffer.from(text(binary), "latin1");

const parts = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
const partsOf = (url: URL) => Object.fromEntries(parts.map((name) => [name, url[name]]));

/** Accepts digest names as Node and the web write them: `sha256`, `SHA-256`. */
const algorithm = (name: unknown): string => {
  const plain = text(name)
    .toLowerCase()
    .replace(/^sha-?/, "sha");
  if (!/^(?:md5|sha(?:1|224|256|384|512))$/.test(plain))
    throw new TypeError(`Unknown digest: ${text(name).slice(0, 40)}`);
  return plain;
};

/** Paths are only strings. They are resolved against `/`, never against this process's directory. */
const paths: Readonly<Record<string, Operation>> = {
  basename: (path, ending) => posix.basename(text(path), ending === undefined ? undefined : text(ending)),
  dirname: (path) => posix.dirname(text(path)),
  extname: (path) => posix.extname(text(path)),
  isAbsolute: (path) => posix.isAbsolute(text(path)),
  join: (...names) => posix.join(...names.map(text)),
  normalize: (path) => posix.normalize(text(path)),
  parse: (path) => posix.parse(text(path)),
  format: (path) => posix.format(path as object),
  resolve: (...names) => posix.resolve("/", ...names.map(text)),
  relative: (from, to) => posix.relative(posix.resolve("/", text(from)), posix.resolve("/", text(to))),
};

const prefixed = (room: string, operations: Readonly<Record<string, Operation>>) =>
  Object.entries(operations).map(([name, operation]) => [`${room}.${name}`, operation] as const);

export const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["url", (address, base) => partsOf(new URL(text(address), base === undefined ? undefined : text(base)))],
  [
    "url.set",
    (address, name, value) => {
      const url = new URL(text(address));
      const part = parts.find((known) => known === name && known !== "origin");
      if (part !== undefined && part !== "origin") url[part] = text(value);
      return partsOf(url);
    },
  ],
  ["query.parse", (query) => [...new URLSearchParams(text(query))]],
  ["query.write", (pairs) => new URLSearchParams(pairs as [string, string][]).toString()],
  ["bytes", (value, name) => Buffer.from(text(value), encoding(name)).toString("latin1")],
  ["text", (binary, name) => bytes(binary).toString(encoding(name))],
  ["atob", (value) => atob(text(value))],
  ["decoder", (label) => new TextDecoder(text(label)).encoding],
  [
    "decode",
    (label, fatal, ignoreBOM, binary) =>
      new TextDecoder(text(label), { fatal: fatal === true, ignoreBOM: ignoreBOM === true }).decode(bytes(binary)),
  ],
  ["digest", (name, binary) => createHash(algorithm(name)).update(bytes(binary)).digest("latin1")],
  ["hmac", (name, key, binary) => createHmac(algorithm(name), bytes(key)).update(bytes(binary)).digest("latin1")],
  ["random", (size) => randomBytes(whole(size, maxRandom)).toString("latin1")],
  ["integer", (low, high) => randomInt(whole(low, 2 ** 47), whole(high, 2 ** 47))],
  ["uuid", () => randomUUID()],
  ["format", format],
  ...prefixed("path", paths),
  ...prefixed("querystring", {
    parse: (query) => querystring.parse(text(query)),
    stringify: (values) => querystring.stringify(values as querystring.ParsedUrlQueryInput),
    escape: (value) => querystring.escape(text(value)),
    unescape: (value) => querystring.unescape(text(value)),
  }),
]);

/** Calls methods of `Intl` objects, and the methods of dates and numbers that use them. */
function format(kind: unknown, method: unknown, locales: unknown, options: unknown, value: unknown): unknown {
  const given = [(locales ?? undefined) as string | undefined, (options ?? undefined) as object | undefined] as const;
  const number = typeof value === "string" ? BigInt(value) : ((value ?? undefined) as number | undefined);
  if (kind === "Number") return (number as number).toLocaleString(...given);
  if (kind === "Date") {
    const date = new Date(number as number);
    if (method === "toLocaleDateString") return date.toLocaleDateString(...given);
    return method === "toLocaleTimeString" ? date.toLocaleTimeString(...given) : date.toLocaleString(...given);
  }
  const formatter = kind === "NumberFormat" ? new Intl.NumberFormat(...given) : new Intl.DateTimeFormat(...given);
  if (method === "resolvedOptions") return formatter.resolvedOptions();
  return method === "formatToParts" ? formatter.formatToParts(number as number) : formatter.format(number as number);
}
