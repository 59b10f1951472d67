/** Renders a transform's result as JSON. Rendering also validates it: values of other types are rejected. */

// Saved before a module can replace them.
const { stringify } = JSON;
const { isFinite: isFiniteNumber } = Number;
const { isArray } = Array;
const { freeze, getOwnPropertyDescriptor, getPrototypeOf, keys, prototype: objectPrototype } = Object;

const maxDepth = 64;
/** Maximum length of the result in characters. */
const maxResult = 1_048_576;

interface Budget {
  left: number;
}

/**
 * Renders an object or `null` as JSON; `undefined` stays `undefined`. Throws an error that says which value is invalid
 * and why.
 */
export function renderAnswer(value: unknown): string | undefined {
  if (value === undefined || value === null) return value === null ? "null" : undefined;
  if (typeof value !== "object" || isArray(value))
    throw refusal(
      "The result",
      `is ${nameOf(value)}, but must be an object such as { message: "text" }, null or undefined`,
    );
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
    throw refusal(where, `is ${nameOf(value)}, which JSON cannot represent`);
  }
  // Counted before escaping, so that an enormous text is not copied first.
  spend(budget, typeof value === "string" ? value.length : 8);
  return stringify(value);
}

function renderList(list: readonly unknown[], where: string, depth: number, budget: Budget): string {
  let json = "[";
  for (let index = 0; index < list.length; index++) {
    spend(budget, 1);
    const place = `${where}[${index}]`;
    const item = plainValue(list, String(index), place);
    if (index > 0) json += ",";
    json += render(item === undefined ? null : item, place, depth + 1, budget);
  }
  return `${json}]`;
}

function renderObject(object: object, where: string, depth: number, budget: Budget): string {
  const prototype: unknown = getPrototypeOf(object);
  // The JSON of a class instance, a Date or a Map is rarely what its author intended.
  if (prototype !== null && prototype !== objectPrototype)
    throw refusal(where, `is ${nameOf(object)}, but must be a plain object`);
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
  if (typeof value !== "object" || value === null)
    return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
  return "an object of a class, such as Date or Map";
}

/** Freezes a value from `JSON.parse` deeply, because all code of a call shares its context. */
export function freezeJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const name of keys(value)) freezeJson((value as Record<string, unknown>)[name]);
  return freeze(value);
}
