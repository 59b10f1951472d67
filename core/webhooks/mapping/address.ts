/** The address of a hook request: is it below the base path, what is the sub-path, is there a token in the query? */

/** `hooks.path` as it is compared: a leading slash, no trailing ones. `undefined`: it names no path of its own. */
export function parseBasePath(path: string): string | undefined {
  const base = path.trim().replace(/^\/*/, "/").replace(/\/+$/, "");
  return base === "" ? undefined : base;
}

export interface HookAddress {
  /** What stands behind the base path and its slash, as it was sent; the query is not part of it. */
  readonly subPath: string;
  /** Without the question mark; empty when there is none. */
  readonly query: string;
}

/** Compared as it was sent, case-sensitive and not decoded: an address has one spelling, so no other gets past a check. */
export function parseHookAddress(url: string, base: string): HookAddress | undefined {
  if (!url.startsWith(base)) return undefined;
  const mark = url.indexOf("?", base.length);
  const end = mark === -1 ? url.length : mark;
  if (end > base.length && url.charCodeAt(base.length) !== slash) return undefined;
  return { subPath: url.slice(base.length + 1, end), query: mark === -1 ? "" : url.slice(mark + 1) };
}

const slash = 47;

/** Whether a query carries a parameter `token`, however it is spelled; its value does not matter. */
export function hasTokenParameter(query: string): boolean {
  for (const name of new URLSearchParams(query).keys()) {
    if (name.trim().toLowerCase() === "token") return true;
  }
  return false;
}

/** Slashes alone name nothing. */
export function isBlankPath(subPath: string): boolean {
  return subPath === "" || /^\/+$/.test(subPath);
}

/** Without slashes at its ends. A pattern for the end would try again at each slash of a path that has thousands. */
export function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === slash) start += 1;
  while (end > start && path.charCodeAt(end - 1) === slash) end -= 1;
  return path.slice(start, end);
}
