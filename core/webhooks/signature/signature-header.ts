/**
 * The format of a signature header: one signature, a list of them, or a template such as `t={timestamp},v1={signature}`
 * and `{timestamp}.{signature}`.
 */
import type { SignatureScheme } from "./schemes.ts";

const places = ["signature", "timestamp", "id"] as const;
export type HeaderPlace = (typeof places)[number];

/** What a header contains. A key's own prefix is still in front of each signature. */
export interface HeaderParts {
  readonly signatures: readonly string[];
  /** Empty if it is missing or there are several. */
  readonly timestamp?: string;
  readonly id?: string;
}

export interface HeaderFormat {
  readonly contains: ReadonlySet<HeaderPlace>;
  /** `undefined` if the header has another form, or was sent twice. */
  read(value: string): HeaderParts | undefined;
  write(values: Readonly<Record<HeaderPlace, string>>): string;
}

const maxSignatures = 16;
const maxHeaderLength = 4_096;

/** Compiles the format of a scheme. Throws an `Error` that says what is wrong with a template. */
export function compileHeaderFormat({
  format,
  separator,
}: Pick<SignatureScheme, "format" | "separator">): HeaderFormat {
  const { contains, read, write } = format === undefined ? listOf(separator) : fromTemplate(format);
  return { contains, write, read: (value) => (value.length > maxHeaderLength ? undefined : read(value)) };
}

/**
 * Whether unreadable items are ignored. Standard Webhooks allows signatures of future versions, and its reference
 * library ignores them.
 */
export const passesOver = ({ separator }: Pick<SignatureScheme, "separator">): boolean => separator === " ";

const onlySignature: ReadonlySet<HeaderPlace> = new Set(["signature"]);

function listOf(separator: SignatureScheme["separator"]): HeaderFormat {
  const write: HeaderFormat["write"] = ({ signature }) => signature;
  if (separator === undefined) return { contains: onlySignature, write, read: (value) => ({ signatures: [value] }) };
  return {
    contains: onlySignature,
    write,
    read(value) {
      const items = value.split(separator).filter((item) => item !== "" || !passesOver({ separator }));
      // Node joins repeated headers by a comma and a space.
      if (items.length > maxSignatures || value.includes(", ")) return undefined;
      return passesOver({ separator }) || items.every(isVisible) ? { signatures: items } : undefined;
    },
  };
}

const isVisible = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

function fromTemplate(format: string): HeaderFormat {
  const pieces = format.split(/(\{[^{}]*\})/);
  const literals = pieces.filter((_, index) => index % 2 === 0);
  const names = pieces.filter((_, index) => index % 2 === 1).map((piece) => piece.slice(1, -1));
  const odd = literals.find((literal) => /[{}]/.test(literal)) ?? names.find((name) => !isPlace(name));
  if (odd !== undefined) throw new Error(`contains ${odd}, which is none of {signature}, {timestamp} and {id}`);
  const order = names.filter(isPlace);
  const twice = order.find((name, index) => order.indexOf(name) < index);
  if (twice !== undefined) throw new Error(`contains {${twice}} twice`);
  if (!order.includes("signature")) throw new Error("must contain {signature}");
  const touching = literals.slice(1, -1).indexOf("");
  if (touching !== -1)
    throw new Error(`must have a character between {${order[touching]}} and {${order[touching + 1]}}`);
  const write: HeaderFormat["write"] = (values) =>
    literals.map((literal, index) => literal + (order[index] === undefined ? "" : values[order[index]])).join("");
  const read = readNamed(literals, order) ?? readInOrder(literals, order);
  return { contains: new Set(order), read, write };
}

const isPlace = (name: string): name is HeaderPlace => places.some((place) => place === name);

/**
 * Reads parts with names, in any order and beside parts of other names. `undefined` if the template has none, or only
 * one.
 */
function readNamed(literals: readonly string[], order: readonly HeaderPlace[]): HeaderFormat["read"] | undefined {
  const [first = "", ...others] = literals.slice(0, -1);
  const [, firstName = "", assign = ""] = /^([A-Za-z][\w-]*)([=:,])$/.exec(first) ?? [];
  const rest = others.map((literal) => /^(\W+)([A-Za-z][\w-]*)([=:,])$/.exec(literal));
  const separator = rest[0]?.[1];
  const isNamed =
    assign !== "" && literals.at(-1) === "" && rest.every((found) => found?.[1] === separator && found?.[3] === assign);
  if (!isNamed || separator === undefined) return undefined;
  const nameOf = new Map(
    [firstName, ...rest.map((found) => found?.[2] ?? "")].map((name, index) => [order[index], name]),
  );
  return (value) => {
    const items = value.split(separator).map((item): readonly [name: string, text: string] => {
      const end = item.indexOf(assign);
      return [item.slice(0, Math.max(end, 0)), item.slice(end + 1)];
    });
    const isWellFormed = items.every(([name, text]) => /^[\w-]+$/.test(name) && isVisible(text));
    if (items.length > maxSignatures || !isWellFormed) return undefined;
    const all = (place: HeaderPlace) => items.flatMap(([name, text]) => (name === nameOf.get(place) ? [text] : []));
    const single = (place: HeaderPlace): string => {
      const [only = "", ...more] = all(place);
      return more.length === 0 ? only : "";
    };
    return partsOf(order, { signatures: all("signature"), timestamp: single("timestamp"), id: single("id") });
  };
}

/** Reads parts that are separated by the texts between them. */
function readInOrder([first = "", ...behind]: readonly string[], order: readonly HeaderPlace[]): HeaderFormat["read"] {
  return (value) => {
    if (!value.startsWith(first)) return undefined;
    const found = new Map<HeaderPlace, string>();
    let start = first.length;
    for (const [index, place] of order.entries()) {
      const literal = behind[index] ?? "";
      const isLast = index === order.length - 1;
      const end = isLast ? value.length - literal.length : value.indexOf(literal, start);
      if (end < start || (isLast && !value.endsWith(literal))) return undefined;
      found.set(place, value.slice(start, end));
      start = end + literal.length;
    }
    const { signature = "", timestamp = "", id = "" } = Object.fromEntries(found);
    return partsOf(order, { signatures: [signature], timestamp, id });
  };
}

/** Leaves out what the format does not contain. */
function partsOf(order: readonly HeaderPlace[], { signatures, timestamp, id }: Required<HeaderParts>): HeaderParts {
  return { signatures, ...(order.includes("timestamp") ? { timestamp } : {}), ...(order.includes("id") ? { id } : {}) };
}
