/**
 * Checks values that plugins return at the point where they arrive, so that an unusable value is reported as the
 * plugin's fault and not later as one of the core. Each check returns what is wrong, or `undefined`.
 */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { type Json, reasonOf, type SkippedModel } from "../contract/index.ts";
import type { HookName } from "../stations/index.ts";

type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isAbsentOr = (value: unknown, check: (value: unknown) => boolean): boolean => value === undefined || check(value);
export const isTextList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);

/** Shows `null`, `undefined` and numbers by value, everything else by its kind: texts may be private. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number") return String(value);
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

const silentCode = /^[a-z0-9_]+$/;

function silentProblem({ silent }: Fields): string | undefined {
  return isText(silent) && silentCode.test(silent) ? undefined : "silent is not a reason code of a-z, 0-9 and _";
}

/** Checks what `parse` and `ingress` taps return, unless it is `undefined`. */
export function inboundProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return kindOf(value);
  if ("silent" in value) return silentProblem(value);
  const { kind, chat, sender, text, media } = value;
  if (!isText(kind)) return "kind is missing";
  if (!isObject(chat) || !isText(chat.id) || !isText(chat.kind)) return "chat has no id or no kind";
  if (!isObject(sender) || !isText(sender.id)) return "sender has no id";
  if (!isText(text) || !isAbsentOr(value.plain, isText)) return "text or plain is not a text";
  if (!Array.isArray(media) || !media.every(isObject)) return "media is not a list of files";
  return undefined;
}

function refusalProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return kindOf(value);
  return isText(value.code) && value.code !== "" && isAbsentOr(value.notice, isText)
    ? undefined
    : "a refusal needs a code, and its notice must be a text";
}

function isAddress(value: unknown): boolean {
  return (
    isObject(value) &&
    isText(value.channel) &&
    isText(value.account) &&
    isText(value.chat) &&
    isAbsentOr(value.thread, isText)
  );
}

function routeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  if (!isText(value.agentId) || !isText(value.sessionKey)) return "agentId or sessionKey is missing";
  return value.to === null || isAddress(value.to) ? undefined : "to is neither an address nor null";
}

function turnProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return kindOf(value);
  if ("silent" in value) return silentProblem(value);
  return isStream(value) ? undefined : "it is not a stream";
}

export function isStream(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function"
  );
}

function isMedia(value: unknown): boolean {
  return (
    isObject(value) &&
    ["url", "path", "data", "ref", "mimeType", "fileName"].every((name) => isAbsentOr(value[name], isText))
  );
}

function isButtons(value: unknown): boolean {
  const isButton = (button: unknown) => isObject(button) && isText(button.text) && isText(button.value);
  return Array.isArray(value) && value.every((row) => Array.isArray(row) && row.every(isButton));
}

function replyProblem(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (!isObject(value)) return kindOf(value);
  if (!isText(value.text)) return "text is not a text";
  if (!Array.isArray(value.media) || !value.media.every(isMedia)) return "media is not a list of files";
  return isButtons(value.buttons) ? undefined : "buttons are not rows of buttons";
}

function isUsage({ inputTokens, outputTokens, cacheRead, cacheWrite, reasoning }: Record<string, unknown>): boolean {
  return [inputTokens, outputTokens, cacheRead ?? 0, cacheWrite ?? 0, reasoning ?? 0].every(Number.isFinite);
}

/** Checks one event of a stream. */
export function turnEventProblem(value: unknown): string | undefined {
  if (!isObject(value)) return `an event is ${kindOf(value)}`;
  switch (value.type) {
    case "text":
    case "reasoning":
      return isText(value.delta) ? undefined : `delta of a ${value.type} event is not a text`;
    case "media":
      return isMedia(value.media) ? undefined : "media of an event is not a file";
    case "buttons":
      return isButtons(value.buttons) ? undefined : "buttons of an event are not rows of buttons";
    case "restart":
      return isText(value.reason) ? undefined : "reason of a restart event is not a text";
    case "tool-refused":
      return [value.model, value.name, value.reason].every(isText)
        ? undefined
        : "a tool-refused event lacks model, name or reason";
    case "usage":
      return isUsage(value) ? undefined : "usage must be in numbers";
    case "model":
      if (!isText(value.model)) return "model of an event is not a text";
      return areSkippedModels(value.skipped)
        ? undefined
        : "skipped of an event is not a list of models with a reason and a detail";
    default:
      return isText(value.type) ? undefined : "an event has no type";
  }
}

/** Whether a value is a list of models that were passed over. */
export function areSkippedModels(value: unknown): value is readonly SkippedModel[] {
  return (
    Array.isArray(value) &&
    value.every(
      (one: unknown) =>
        isObject(one) &&
        isText(one.model) &&
        isText(one.reason) &&
        isText(one.detail) &&
        (one.until === undefined || Number.isFinite(one.until)),
    )
  );
}

/** Checks a receipt. Accepts any plain object, because a channel may return more fields than the receipt has. */
export function receiptProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  if (!isText(value.messageId) || !isAbsentOr(value.messageIds, isTextList)) return "messageId is not a text";
  return isAbsentOr(value.omitted, isTextList) ? undefined : "omitted is not a list of texts";
}

/** Checks what `render` returns. Parts are stored in the outbox as JSON. */
export function partsProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return kindOf(value);
  for (const part of value as readonly unknown[]) {
    if (!isObject(part) || !isText(part.kind)) return "a part has no kind";
    if (!Number.isFinite(part.chars)) return "chars of a part is not a number";
    const others =
      isAbsentOr(part.replaces, isText) && isAbsentOr(part.replyTo, isText) && isAbsentOr(part.omitted, isTextList);
    if (!others) return "replaces, replyTo or omitted of a part has the wrong type";
    if (!isJson(part.body)) return "body of a part is not JSON";
  }
  return undefined;
}

function isJson(value: unknown): value is Json {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

/** Checks what a route's handler returns. */
export function routeAnswerProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  const { status = 200, type, headers, events } = value;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599)
    return "status is not one of HTTP";
  if (!isAbsentOr(type, isText) || !isAbsentOr(headers, isObject))
    return "type is not a text, or headers are not an object";
  const wrongHeader = headerProblem({
    ...(headers as Fields | undefined),
    ...(type !== undefined && { "content-type": type }),
  });
  if (wrongHeader !== undefined) return wrongHeader;
  return isAbsentOr(events, isStream) ? undefined : "events is not a stream";
}

/** Checks what a command of the command line returns. */
export function cliAnswerProblem(value: unknown): string | undefined {
  if (!isObject(value)) return kindOf(value);
  const { lines, data } = value;
  if (!Array.isArray(lines) || !lines.every((line) => isText(line) || isTextList(line)))
    return "lines are not a list of texts and of rows";
  return data === undefined || isJson(data) ? undefined : "data is not JSON";
}

/** Node would refuse it only when the answer is on its way. */
function headerProblem(headers: Fields): string | undefined {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value as string);
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

const watchedTexts = ["source", "account", "reason", "fix"] as const;
const watchedStates: readonly unknown[] = ["ok", "standby", "retrying", "paused", "needs_login", "needs_setup"];

/** Checks what a report of `host.status` returns. */
export function watchedProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return kindOf(value);
  const isWatched = (one: unknown) =>
    isObject(one) && watchedTexts.every((name) => isText(one[name])) && watchedStates.includes(one.state);
  return value.every(isWatched) ? undefined : "one of its reports has no source, account, state, reason or fix";
}

/** Checks what taps return at each station, unless it is `undefined`. */
export const tapProblems: Readonly<Record<HookName, (value: unknown) => string | undefined>> = {
  ingress: inboundProblem,
  gating: refusalProblem,
  routing: routeProblem,
  turn: turnProblem,
  formatting: replyProblem,
  delivery: receiptProblem,
  settled: () => undefined,
};
