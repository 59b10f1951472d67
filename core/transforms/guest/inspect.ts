/** Formats values for people, for `console` and `node:util`. */

const longest = 100;
const deepest = 4;

export function inspect(value: unknown, depth = 0, above: readonly unknown[] = []): string {
  if (typeof value === "string") return depth === 0 ? value : JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[function ${value.name || "without a name"}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Error)
    return value.stack === undefined || value.stack === "" ? String(value) : `${value}\n${value.stack}`.trimEnd();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return "Promise";
  if (above.includes(value)) return "[circular]";
  if (depth >= deepest) return Array.isArray(value) ? "[list]" : "[object]";
  const inner = (item: unknown) => inspect(item, depth + 1, [...above, value]);
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return listOf(Array.from(value as ArrayLike<unknown>), inner, "[", "]");
  if (value instanceof Set) return `Set ${listOf([...value], inner, "{", "}")}`;
  const pairs = value instanceof Map ? [...value] : Object.entries(value);
  const name = value instanceof Map ? "Map " : classOf(value);
  return (
    name + listOf(pairs, ([key, item]) => `${typeof key === "string" ? key : inner(key)}: ${inner(item)}`, "{ ", " }")
  );
}

function listOf<T>(items: readonly T[], show: (item: T) => string, open: string, close: string): string {
  if (items.length === 0) return (open + close).replaceAll(" ", "");
  const more = items.length > longest ? [`${items.length - longest} more`] : [];
  return open + [...items.slice(0, longest).map(show), ...more].join(", ") + close;
}

function classOf(value: object): string {
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof name === "string" && name !== "Object" ? `${name} ` : "";
}

/** What a transform threw, as a sentence without a full stop. Calls getters of the value, which may throw. */
export function thrownMessage(error: unknown): string {
  if (!(error instanceof Error)) return `It threw a value that is not an Error: ${inspect(error)}`;
  return `${error.name === "Error" || error.name === "InternalError" ? "" : `${error.name}: `}${error.message}`;
}

/** Formats like `node:util`: `%s %d %i %f %j %o %O %c %%`, then the remaining values. */
export function format(...values: readonly unknown[]): string {
  const [first, ...rest] = values;
  if (typeof first !== "string") return values.map((value) => inspect(value)).join(" ");
  let at = 0;
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === "%%") return "%";
    if (at >= rest.length) return mark;
    const value = rest[at++];
    if (mark === "%c") return "";
    if (mark === "%j") return JSON.stringify(value);
    if (mark === "%i") return String(Number.parseInt(String(value), 10));
    return mark === "%d" || mark === "%f" ? String(Number(value)) : inspect(value);
  });
  return [text, ...rest.slice(at).map((value) => inspect(value))].join(" ");
}
