/** Parses the URL of a hook request: base path, sub-path and query. */

/** Normalizes `hooks.path`: one leading slash, no trailing ones. `undefined` if nothing is left. */
export function parseBasePath(path: string): string | undefined {
  const base = path.trim().replace(/^\/*/, "/").replace(/\/+$/, "");
  return base === "" ? undefined : base;
}

export interface HookAddress {
  /** The part after the base path and its slash, as sent and without the query. */
  readonly subPath: string;
  /** The query without the question mark; empty if there is none. */
  readonly query: string;
}

/**
 * Parses a URL below the base path; `undefined` for other URLs. The URL is compared as sent, case-sensitive and not
 * decoded, so that no alternative spelling bypasses a check.
 */
export function parseHookAddress(url: string, base: string): HookAddress | undefined {
  if (!url.startsWith(base)) return undefined;
  const mark = url.indexOf("?", base.length);
  const end = mark === -1 ? url.length : mark;
  if (end > base.length && url.charCodeAt(base.length) !== slash) return undefined;
  return { subPath: url.slice(base.length + 1, end), query: mark === -1 ? "" : url.slice(mark + 1) };
}

const slash = 47;

/** Whether a query contains a parameter `token` in any spelling, whatever its value. */
export function hasTokenParameter(query: string): boolean {
  for (const name of new URLSearchParams(query).keys()) {
    if (name.trim().toLowerCase() === "token") return true;
  }
  return false;
}

/** A query without the parameters of these names, however they are spelled. The others stay as they were sent. */
export function withoutParameters(query: string, names: ReadonlySet<string>): string {
  if (names.size === 0 || query === "") return query;
  const isNamed = (part: string) => [...new URLSearchParams(part).keys()].some((name) => names.has(name));
  return query
    .split("&")
    .filter((part) => !isNamed(part))
    .join("&");
}

/** Whether a path is empty or consists only of slashes. */
export function isBlankPath(subPath: string): boolean {
  return subPath === "" || /^\/+$/.test(subPath);
}

/**
 * Removes slashes at both ends. A regular expression for the end would retry at each slash of a path with thousands of
 * them.
 */
export function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === slash) start += 1;
  while (end > start && path.charCodeAt(end - 1) === slash) end -= 1;
  return path.slice(start, end);
}
