/**
 * What the model reads of the answer of an MCP server: its texts, data that they do not contain, and images as images.
 */
import type { Json } from "service-gateway/sdk";
import { parseExact } from "service-gateway/sdk/tools";
import type { Answer } from "./answers.ts";
import { oneLine } from "./fault.ts";

interface Shown {
  readonly text?: string;
  readonly media?: { readonly mimeType: string; readonly data: string };
}

type Part = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Part =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function file(mimeType: unknown, data: unknown): Shown {
  return typeof mimeType === "string" && typeof data === "string"
    ? { media: { mimeType, data } }
    : { text: "[a file that cannot be read]" };
}

function resource(given: unknown): Shown {
  const { uri, text, blob, mimeType } = isObject(given) ? given : {};
  if (typeof text === "string") return { text: `[content of ${textOf(uri)}]\n${text}` };
  return typeof blob === "string"
    ? file(mimeType ?? "application/octet-stream", blob)
    : { text: `[the resource ${textOf(uri)}]` };
}

function shown(part: unknown): Shown {
  if (typeof part === "string") return { text: part };
  if (!isObject(part)) return part === null || part === undefined ? {} : { text: "[a part that cannot be read]" };
  if (part.type === "text" || (part.type === undefined && typeof part.text === "string"))
    return { text: textOf(part.text) };
  if (part.type === "image" || part.type === "audio") return file(part.mimeType, part.data);
  if (part.type === "resource") return resource(part.resource);
  if (part.type === "resource_link") return { text: `[the resource ${textOf(part.name)}, ${textOf(part.uri)}]` };
  return { text: `[a part of the type ${textOf(part.type) || "none"} that cannot be shown]` };
}

/** The parts, or `undefined` if there is nothing that can be read as such. `null` is as good as absent. */
function partsOf(content: unknown): readonly Shown[] | undefined {
  if (Array.isArray(content)) return content.map(shown);
  if (typeof content === "string") return [{ text: content }];
  return isObject(content) && (typeof content.type === "string" || typeof content.text === "string")
    ? [shown(content)]
    : undefined;
}

const unreadable = (error: string): Json => ({ ok: false, code: "mcp_unreadable", outcome: "unreadable", error });

export function shownAnswer(server: string, answer: Answer, hide: (text: string) => string = (text) => text): Json {
  if (answer.kind === "error") return shownError(server, answer.error, hide);
  if (answer.kind === "unreadable") return unreadable(`The server ${server} sent an answer that is not a message.`);
  if (!isObject(answer.result)) return unreadable(`The server ${server} answered without a result.`);
  const { content, structuredContent, toolResult, isError } = answer.result;
  const parts = partsOf(content);
  const data = structuredContent ?? toolResult ?? undefined;
  if (parts === undefined && data === undefined)
    return unreadable(`The answer of the server ${server} has no content.`);
  const texts = (parts ?? []).flatMap(({ text }) => (text === undefined || text === "" ? [] : [text]));
  const media = (parts ?? []).flatMap((part) => (part.media === undefined ? [] : [part.media]));
  if (data !== undefined && !contains(texts, data)) texts.push(JSON.stringify(data));
  if (texts.length === 0 && media.length === 0) texts.push("(empty)");
  const text = texts.join("\n");
  if (isError === true || isError === "true" || isError === 1)
    return { ok: false, error: text, code: "mcp_tool_error", outcome: "answered" };
  return { text, ...(media.length > 0 && { media }) };
}

/** Servers repeat their data in a text, for clients that know only texts, and many do not. */
function contains(texts: readonly string[], data: unknown): boolean {
  const joined = texts.join("\n");
  if (joined === "") return false;
  const wanted = ordered(data);
  if (joined.includes(JSON.stringify(data)) || [...texts, joined].some((text) => ordered(parsed(text)) === wanted))
    return true;
  // A common library wraps a result that is not an object, and whose text is the part beside it.
  const wrapped = isObject(data) && Object.keys(data).length === 1 ? data.result : undefined;
  return wrapped !== undefined && leaves(wrapped).every((leaf) => joined.includes(leaf));
}

function parsed(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

/** JSON with the keys in a fixed order. */
const ordered = (value: unknown): string | undefined =>
  JSON.stringify(value, (_key, one: unknown) =>
    isObject(one) && !isExactNumber(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );

const isExactNumber = (value: object): boolean =>
  (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);

function leaves(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || isExactNumber(value)) return [JSON.stringify(value)];
  return Object.values(value).flatMap(leaves);
}

/** Errors by which the protocol says that a call was not understood. With any other one, it may have run. */
const refusing: readonly unknown[] = [-32_700, -32_600, -32_601, -32_602];
const mostData = 2_000;

function shownError(server: string, error: unknown, hide: (text: string) => string): Json {
  const { code, message, data } = isObject(error) ? error : {};
  const given = typeof error === "string" ? error : message;
  const reason = oneLine(hide(typeof given === "string" && given !== "" ? given : "it gave no reason"));
  const more = data === undefined || data === null ? "" : `\n${hide(JSON.stringify(data)).slice(0, mostData)}`;
  if (refusing.includes(code))
    return {
      ok: false,
      code: "mcp_refused",
      outcome: "refused",
      error: `The server ${server} refused the call: ${reason}${more}`,
    };
  return {
    ok: false,
    code: "mcp_outcome_unknown",
    outcome: "unknown",
    error: `The server ${server} answered the call with an error: ${reason}${more}`,
  };
}
