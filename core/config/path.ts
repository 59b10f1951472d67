/** Dotted paths: `a.b[0].c`; a key that is not a plain word is quoted, `groups["a.b"]`. */

export type Segment = string | number;

/** Never keys of ours: assigned somewhere, they would reach a prototype. */
export const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const plainKey = /^[^.[\]"'\s]+$/;
const arrayIndex = /^\[(0|[1-9][0-9]{0,8})\]/;
const quotedKey = /^\["((?:[^"\\]|\\.)*)"\]/;
const bareKey = /^[^.[\]"'\s]+/;

/** `undefined` when the text is not a path, or names a forbidden key. Digits behind a dot are a key, in brackets an index. */
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

/** The text of a path; `parsePath` reads it back. */
export function renderPath(segments: readonly Segment[]): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (plainKey.test(segment)) text += text === "" ? segment : `.${segment}`;
    else text += `[${JSON.stringify(segment)}]`;
  }
  return text;
}

/** Reads own properties only; `undefined` when there is nothing. A key of digits also reads an array. */
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
