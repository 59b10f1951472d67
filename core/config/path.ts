/** Dotted paths such as `a.b[0].c`. Keys that are not plain words are quoted: `groups["a.b"]`. */

export type Segment = string | number;

/** Keys that are rejected everywhere, because assigning to them could reach a prototype. */
export const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const plainKey = /^[^.[\]"'\s]+$/;
const arrayIndex = /^\[(0|[1-9][0-9]{0,8})\]/;
const quotedKey = /^\["((?:[^"\\]|\\.)*)"\]/;
const bareKey = /^[^.[\]"'\s]+/;

/**
 * Parses a path; `undefined` if the text is not a path or contains a forbidden key. Digits after a dot are a key, in
 * brackets an index.
 */
export function parsePath(text: string): readonly Segment[] | undefined {
  const segments: Segment[] = [];
  let rest = text.trim();
  if (rest === "") return [];
  while (rest !== "") {
    const index = arrayIndex.exec(rest);
    const quoted = index ? null : quotedKey.exec(rest);
    if (index) {
      segments.push(Number(index[1]));
      rest = rest.slice(index[0].length);
    } else if (quoted) {
      const key = unquote(quoted[1] ?? "");
      if (key === undefined || forbiddenKeys.has(key)) return undefined;
      segments.push(key);
      rest = rest.slice(quoted[0].length);
    } else {
      if (segments.length > 0) {
        if (!rest.startsWith(".")) return undefined;
        rest = rest.slice(1);
      }
      const bare = bareKey.exec(rest)?.[0];
      if (bare === undefined || forbiddenKeys.has(bare)) return undefined;
      segments.push(bare);
      rest = rest.slice(bare.length);
    }
  }
  return segments;
}

function unquote(inner: string): string | undefined {
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return undefined;
  }
}

/** Renders a path as text that `parsePath` accepts. */
export function renderPath(segments: readonly Segment[]): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (plainKey.test(segment)) text += text === "" ? segment : `.${segment}`;
    else text += `[${JSON.stringify(segment)}]`;
  }
  return text;
}

/**
 * Reads the value at a path, from own properties only; `undefined` if it does not exist. A numeric key also reads an
 * array.
 */
export function getPath(value: unknown, path: string | readonly Segment[]): unknown {
  const segments = typeof path === "string" ? parsePath(path) : path;
  if (segments === undefined) return undefined;
  let current = value;
  for (const segment of segments) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, segment)) return undefined;
    if (Array.isArray(current) && !/^[0-9]+$/.test(String(segment))) return undefined;
    current = (current as Record<string | number, unknown>)[segment];
  }
  return current;
}

/** Sets the value at a path of keys in place; what is missing on the way is created. Without effect on a non-object. */
export function setPath(value: unknown, [key, ...below]: readonly Segment[], to: unknown): void {
  if (typeof value !== "object" || value === null || key === undefined || forbiddenKeys.has(String(key))) return;
  const holder = value as Record<Segment, unknown>;
  if (below.length === 0) holder[key] = to;
  else {
    if (!Object.hasOwn(holder, key)) holder[key] = {};
    setPath(holder[key], below, to);
  }
}
