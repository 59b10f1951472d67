/** What a transform returned, as JSON text. The walk is the check: what it does not know cannot get out. */
import {
  create,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  IntrinsicError,
  isArray,
  isFiniteNumber,
  keys,
  objectPrototype,
  stringifyJson,
} from "./intrinsics.ts";

const maxDepth = 64;
/** Characters of the whole answer. */
const maxAnswer = 1_048_576;

interface Writing {
  left: number;
}

/** JSON of an object or `null`, or `undefined`. Throws with a sentence that says where and why. */
export function renderAnswer(value: unknown): string | undefined {
  if (value === undefined || value === null) return value === null ? "null" : undefined;
  if (typeof value !== "object" || isArray(value))
    throw refusal("The result", `is ${nameOf(value)}, but must be an object, null or undefined`);
  return render(value, "The result", 1, { left: maxAnswer });
}

function refusal(where: string, why: string): Error {
  return new IntrinsicError(`${where} ${why}.`);
}

function render(value: unknown, where: string, depth: number, writing: Writing): string {
  if (typeof value !== "object" || value === null) return scalar(value, where, writing);
  if (depth > maxDepth) throw refusal("The result", `is nested deeper than ${maxDepth} levels, or contains itself`);
  return isArray(value) ? renderList(value, where, depth, writing) : renderObject(value, where, depth, writing);
}

function scalar(value: unknown, where: string, writing: Writing): string {
  if (typeof value === "number" && !isFiniteNumber(value)) throw refusal(where, "is no finite number");
  if (value !== null && typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw refusal(where, `is ${nameOf(value)}, which JSON cannot carry`);
  }
  // Before it is escaped, so that an enormous text is not copied first.
  if (typeof value === "string") spend(writing, value.length);
  const json = stringifyJson(value);
  if (typeof value !== "string") spend(writing, json.length);
  return json;
}

function renderList(list: readonly unknown[], where: string, depth: number, writing: Writing): string {
  let json = "[";
  for (let index = 0; index < list.length; index++) {
    spend(writing, 1);
    const found = getOwnPropertyDescriptor(list, index);
    const item = found === undefined ? null : plainValue(found, `${where}[${index}]`);
    json += `${index === 0 ? "" : ","}${render(item === undefined ? null : item, `${where}[${index}]`, depth + 1, writing)}`;
  }
  return `${json}]`;
}

function renderObject(object: object, where: string, depth: number, writing: Writing): string {
  const prototype: unknown = getPrototypeOf(object);
  // A class of its own, a Date, a Map: what JSON would make of it is rarely what its author meant.
  if (prototype !== null && prototype !== objectPrototype) throw refusal(where, `is ${nameOf(object)}, but must be a plain object`);
  let json = "{";
  const names = keys(object);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (name === "__proto__") throw refusal(where, "has a field __proto__");
    const found = getOwnPropertyDescriptor(object, name);
    const at = `${where}.${name.length > 60 ? "..." : name}`;
    const value = found === undefined ? undefined : plainValue(found, at);
    if (value === undefined) continue;
    spend(writing, name.length + 4);
    json += `${json === "{" ? "" : ","}${stringifyJson(name)}:${render(value, at, depth + 1, writing)}`;
  }
  return `${json}}`;
}

function plainValue(descriptor: PropertyDescriptor, where: string): unknown {
  // The descriptor inherits from a prototype that may be patched: only its own fields count.
  const own = getOwnPropertyDescriptor(descriptor, "value");
  if (own === undefined) throw refusal(where, "is a getter, but must be a value");
  return own.value;
}

function spend(writing: Writing, characters: number): void {
  writing.left -= characters;
  if (writing.left < 0) throw refusal("The result", `is larger than ${maxAnswer} characters`);
}

function nameOf(value: unknown): string {
  if (isArray(value)) return "a list";
  if (typeof value !== "object" || value === null) return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  return "an object of a class, such as Date or Map";
}

/** Freezes what `JSON.parse` made, whole: a transform's context must be the same for whoever looks at it later. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  const names = keys(value);
  for (let index = 0; index < names.length; index++) freezeJson((value as Record<string, unknown>)[names[index] as string]);
  return freeze(value);
}

/** A map without a prototype: no payload can name its way to one. */
export const bare = <T>(): Record<string, T> => create(null) as Record<string, T>;
