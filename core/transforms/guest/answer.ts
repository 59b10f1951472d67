/** What a transform returned, as JSON text. The walk is the check: a value of any other kind cannot be rendered. */

// As they are before a module can replace them.
const { stringify } = JSON;
const { isFinite: isFiniteNumber } = Number;
const { isArray } = Array;
const { freeze, getOwnPropertyDescriptor, getPrototypeOf, keys, prototype: objectPrototype } = Object;

const maxDepth = 64;
/** Characters of the whole result. */
const maxResult = 1_048_576;

interface Budget {
  left: number;
}

/** JSON of an object or `null`, or `undefined`. Throws with a sentence that says where the value is and what is wrong with it. */
export function renderAnswer(value: unknown): string | undefined {
  if (value === undefined || value === null) return value === null ? "null" : undefined;
  if (typeof value !== "object" || isArray(value))
    throw refusal("The result", `is ${nameOf(value)}, but must be an object, null or undefined`);
  return render(value, "The result", 1, { left: maxResult });
}

function refusal(where: string, why: string): Error {
  return new Error(`${where} ${why}.`);
}

function render(value: unknown, where: string, depth: number, budget: Budget): string {
  if (typeof value !== "object" || value === null) return scalar(value, where, budget);
  if (depth > maxDepth) throw refusal("The result", `is nested deeper than ${maxDepth} levels, or contains itself`);
  return isArray(value) ? renderList(value, where, depth, budget) : renderObject(value, where, depth, budget);
}

function scalar(value: unknown, where: string, budget: Budget): string {
  if (typeof value === "number" && !isFiniteNumber(value)) throw refusal(where, "is not a finite number");
  if (value !== null && typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw refusal(where, `is ${nameOf(value)}, which JSON cannot carry`);
  }
  // Before it is escaped, so that an enormous text is not copied first.
  spend(budget, typeof value === "string" ? value.length : 8);
  return stringify(value);
}

function renderList(list: readonly unknown[], where: string, depth: number, budget: Budget): string {
  let json = "[";
  for (let index = 0; index < list.length; index++) {
    spend(budget, 1);
    const item = plainValue(list, String(index), `${where}[${index}]`);
    json += `${index === 0 ? "" : ","}${render(item === undefined ? null : item, `${where}[${index}]`, depth + 1, budget)}`;
  }
  return `${json}]`;
}

function renderObject(object: object, where: string, depth: number, budget: Budget): string {
  const prototype: unknown = getPrototypeOf(object);
  // A class, a Date, a Map: what JSON makes of it is rarely what its author meant.
  if (prototype !== null && prototype !== objectPrototype) throw refusal(where, `is ${nameOf(object)}, but must be a plain object`);
  let json = "{";
  for (const name of keys(object)) {
    if (name === "__proto__") throw refusal(where, "has a field __proto__");
    const at = `${where}.${name.length > 60 ? "..." : name}`;
    const value = plainValue(object, name, at);
    if (value === undefined) continue;
    spend(budget, name.length + 4);
    json += `${json === "{" ? "" : ","}${stringify(name)}:${render(value, at, depth + 1, budget)}`;
  }
  return `${json}}`;
}

function plainValue(object: object, name: string, where: string): unknown {
  const found = getOwnPropertyDescriptor(object, name);
  if (found !== undefined && !("value" in found)) throw refusal(where, "is a getter, but must be a value");
  return found?.value;
}

function spend(budget: Budget, characters: number): void {
  budget.left -= characters;
  if (budget.left < 0) throw refusal("The result", `is larger than ${maxResult} characters`);
}

function nameOf(value: unknown): string {
  if (isArray(value)) return "a list";
  if (typeof value !== "object" || value === null) return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  return "an object of a class, such as Date or Map";
}

/** Freezes a value that `JSON.parse` made, whole: the context of a call is the same for all code that reads it. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const name of keys(value)) freezeJson((value as Record<string, unknown>)[name]);
  return freeze(value);
}
