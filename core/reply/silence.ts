/** Recognizes replies that mean "nothing to say", and removes the tokens that say so, which users must not see. */
import type { Reply } from "../contract/index.ts";

const heartbeatToken = "HEARTBEAT_OK";
const quietToken = "NO_REPLY";

/** Markup, quotes and punctuation that models put around a token. */
const wrapping = /[\s*_~`"'“”‘’«»()[\]{}<>|#.,;:!?…–—\-\\/+=^&$%@]/u;

function stripTags(text: string): string {
  return text.replace(/<\/?[a-zA-Z][^<>]{0,200}>/g, " ").replace(/&nbsp;/gi, " ");
}

function trimWrapping(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && wrapping.test(text.charAt(start))) start += 1;
  while (end > start && wrapping.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * The text without the token at its edges; `undefined` if there is none at either edge. A longer word that contains the
 * token does not match.
 */
function withoutToken(text: string, token: string): string | undefined {
  let rest = trimWrapping(text);
  let found = false;
  for (;;) {
    const isWordAt = (index: number) => /[\p{L}\p{N}_]/u.test(rest.charAt(index));
    if (rest.startsWith(token) && !isWordAt(token.length)) rest = rest.slice(token.length);
    else if (rest.endsWith(token) && !isWordAt(rest.length - token.length - 1)) rest = rest.slice(0, -token.length);
    else return found ? rest : undefined;
    found = true;
    rest = trimWrapping(rest);
  }
}

/** A fast pre-check, false for nearly every reply. Only texts that contain a token are examined further. */
export function mayBeSilent(text: string): boolean {
  return text.includes(heartbeatToken) || text.includes(quietToken);
}

/** True for `HEARTBEAT_OK` at an edge of the text, with at most `ackMaxChars` other characters. */
export function isHeartbeatAck(text: string, ackMaxChars = 300): boolean {
  const rest = withoutToken(stripTags(text), heartbeatToken);
  return rest !== undefined && [...rest].length <= ackMaxChars;
}

/** True if the text is only `NO_REPLY`, ignoring markup and punctuation around it. */
export function isNoReply(text: string): boolean {
  return withoutToken(stripTags(text), quietToken) === "";
}

/** As `ackMaxChars`: no text acknowledges a heartbeat, because there is none. */
export const noHeartbeat = -1;

/**
 * The reason not to send a reply, or `null`: a heartbeat that found nothing to report, or an agent that chooses to stay
 * silent.
 */
export function silenceReason(text: string, options: { readonly ackMaxChars: number }): string | null {
  if (isNoReply(text)) return "no_reply";
  return isHeartbeatAck(text, options.ackMaxChars) ? "heartbeat_ok" : null;
}

const tokens = [heartbeatToken, quietToken] as const;
/** The opening characters that models put around a token, with their closing counterparts. */
const pairs: Readonly<Record<string, string>> = {
  "*": "*",
  _: "_",
  "~": "~",
  "`": "`",
  "|": "|",
  '"': '"',
  "'": "'",
  "\u201c": "\u201d",
  "\u2018": "\u2019",
  "\u00ab": "\u00bb",
  "(": ")",
  "[": "]",
  "{": "}",
};
/** Most tokens removed from a text. A reply with more of them is nonsense and is shown unchanged. */
const mostTokens = 100;

/** Removes the range from `start` to `end`, along with markup that enclosed only that range. */
function cut(text: string, start: number, end: number): { readonly before: string; readonly after: string } {
  let before = text.slice(0, start);
  let after = text.slice(end);
  for (;;) {
    const left = before.trimEnd();
    const right = after.trimStart();
    const opened = /<([a-zA-Z][a-zA-Z0-9]{0,20})>$/.exec(left.slice(-24));
    const closing = opened === null ? undefined : `</${opened[1]}>`;
    if (opened !== null && closing !== undefined && right.startsWith(closing)) {
      before = left.slice(0, -opened[0].length);
      after = right.slice(closing.length);
      continue;
    }
    const last = left.at(-1);
    const other = last === undefined ? undefined : pairs[last];
    if (other === undefined || right.charAt(0) !== other) return { before, after };
    before = left.slice(0, -1);
    after = right.slice(1);
  }
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}_]/u.test(character);
}

/** Finds a token at the beginning or end of the text, ignoring markup and punctuation. */
function tokenAtEdge(
  text: string,
): { readonly start: number; readonly end: number; readonly atStart: boolean } | undefined {
  for (const token of tokens) {
    const first = text.indexOf(token);
    if (first === -1) continue;
    const last = text.lastIndexOf(token);
    for (const start of first === last ? [first] : [first, last]) {
      const end = start + token.length;
      if (isWord(text.charAt(start - 1)) || isWord(text.charAt(end))) continue;
      const { before, after } = cut(text, start, end);
      if (trimWrapping(before) === "") return { start, end, atStart: true };
      if (trimWrapping(after) === "") return { start, end, atStart: false };
    }
  }
  return undefined;
}

/** Removes the tokens at the edges of a text, for replies that contain more than a token. */
export function withoutTokens(text: string): string {
  if (!mayBeSilent(text)) return text;
  let rest = text;
  for (let count = 0; count < mostTokens; count += 1) {
    const found = tokenAtEdge(rest);
    if (found === undefined) break;
    const { before, after } = cut(rest, found.start, found.end);
    // Also removes a dash or colon that followed the token. At the beginning of a line, a dash belongs to a list.
    if (found.atStart)
      rest = `${before.trimStart()}${after.replace(/^[ \t]*(?:[.,;:!?\u2026\u2013\u2014-]+(?=\s|$))?\s*/, "")}`;
    else rest = `${before.trimEnd()}${after.replace(/[\s.,;:!?\u2026\u2013\u2014-]/g, "")}`;
  }
  return rest;
}

/** Like `withoutTokens`, for a partial text, which may end with the beginning of a token. */
export function withoutTokensSoFar(text: string): string {
  for (const token of tokens) {
    for (let length = token.length - 1; length > 0; length -= 1) {
      if (!text.endsWith(token.slice(0, length)) || isWord(text.charAt(text.length - length - 1))) continue;
      return withoutTokens(text.slice(0, -length).replace(/[*_~`|"'\u201c\u2018\u00ab([{]{0,8}$/, ""));
    }
  }
  return withoutTokens(text);
}

/** For the `formatting` station: removes the tokens, unless they mean that nothing is to be sent. */
export function speakable(reply: Reply, options: { readonly ackMaxChars: number }): Reply {
  if (options.ackMaxChars === noHeartbeat && !reply.text.includes(quietToken)) return reply;
  const text = withoutTokens(reply.text);
  if (text === reply.text || (reply.media.length === 0 && silenceReason(reply.text, options) !== null)) return reply;
  return { ...reply, text };
}
