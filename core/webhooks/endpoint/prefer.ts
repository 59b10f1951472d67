/** The request header `Prefer` (RFC 7240), as far as a hook endpoint honours it: how long the sender waits for the end of its run. */
import type { IncomingHttpHeaders } from "node:http";

/** No sender is made to wait longer. */
const longestWaitSeconds = 60;

/** Preferences are separated by commas; a comma in a quoted value separates nothing. */
const preference = /(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g;
const wait = /^\s*wait\s*(?:=\s*("?)(\d{1,9})\1\s*)?(?:;.*)?$/i;

/**
 * Whole seconds of the preference `wait`, at most 60; `undefined` when there is none that can be honoured. An invalid header is not an
 * error: a preference may be ignored.
 */
export function parsePrefer(headers: IncomingHttpHeaders): number | undefined {
  const { prefer } = headers;
  const text = Array.isArray(prefer) ? prefer.join(",") : prefer;
  if (text === undefined || text.length > 1_024) return undefined;
  for (const part of text.match(preference) ?? []) {
    if (!/^\s*wait(?![\w!#$%&'*+.^`|~-])/i.test(part)) continue;
    // Of a preference that is given twice the first counts, also when it says nothing that can be read.
    const seconds = wait.exec(part)?.[2];
    return seconds === undefined ? undefined : Math.min(Number(seconds), longestWaitSeconds);
  }
  return undefined;
}
