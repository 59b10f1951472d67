/**
 * One mail from the Gmail API. It is already parsed, so only its parts have to be selected. Attachments are not
 * fetched.
 */
import { readContents, TooLongPart } from "../parts/contents.ts";
import { type Described, type EnclosedHeader, outlineOf } from "../parts/outline.ts";
import type { Header, Mail } from "../source.ts";
import { oneLine } from "../text.ts";
import { decodeWords, readAddresses } from "./addresses.ts";
import type { Message, Part } from "./api.ts";

const headerNames = new Set([
  ...["from", "authentication-results", "auto-submitted", "list-id", "list-unsubscribe", "precedence"],
  ...["x-auto-response-suppress", "return-path", "content-type", "references"],
]);
const maxHeaders = 200;
const maxHeaderLength = 20_000;
/** A longer text is not fetched for its beginning alone. */
const maxTextBytes = 2 * 1_048_576;

/** `fetchPart` resolves with the bytes of a part that was sent without them, as base64url. */
export async function readMessage(
  message: Message,
  { maxBytes, fetchPart }: { readonly maxBytes: number; readonly fetchPart: (attachmentId: string) => Promise<string> },
): Promise<Mail> {
  const mail = readEnvelope(message);
  async function read(part: Part, most: number) {
    const { size = 0, data, attachmentId } = part.body ?? {};
    if (data === undefined && size > maxTextBytes) throw new TooLongPart();
    const encoded = data ?? (attachmentId === undefined ? "" : await fetchPart(attachmentId));
    // Four characters encode three bytes.
    const length = Math.ceil(most / 3) * 4;
    const bytes = Buffer.from(encoded.slice(0, length), "base64url");
    const cut = encoded.length > length;
    return { value: decode(bytes, { declared: charsetOf(part), cut }), cut };
  }
  return { ...mail, ...(await readContents(outlineOf(message.payload ?? {}, describe), { maxBytes, read })) };
}

/** Reads the header of a mail. */
export function readEnvelope({ id, threadId, labelIds = [], snippet, internalDate, payload = {} }: Message): Mail {
  const headers = (payload.headers ?? []).slice(0, maxHeaders * 10).map(({ name, value }) => ({
    name: name.toLowerCase(),
    value: value.slice(0, maxHeaderLength).replace(/\r?\n[ \t]+/g, " "),
  }));
  const first = (name: string) => headers.find((header) => header.name === name)?.value;
  const addresses = (name: string) => readAddresses(first(name) ?? "");
  const date = new Date(Number(internalDate ?? Number.NaN));
  const optional = { threadId, messageId: first("message-id"), inReplyTo: first("in-reply-to") };
  return {
    id,
    labels: labelIds,
    from: addresses("from"),
    to: addresses("to"),
    cc: addresses("cc"),
    replyTo: addresses("reply-to"),
    subject: decodeWords(first("subject") ?? ""),
    headers: headers.filter(({ name }) => headerNames.has(name)).slice(0, maxHeaders) satisfies readonly Header[],
    attachments: [],
    ...(Number.isNaN(date.getTime()) ? {} : { date: date.toISOString() }),
    ...(snippet === undefined ? {} : { snippet: plainText(snippet) }),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined && value !== "")),
  };
}

function describe({ mimeType = "", filename = "", body, parts = [], ...part }: Part): Described<Part> {
  const type = mimeType.toLowerCase();
  const smimeType = parameterOf(part, "smime-type");
  return {
    type,
    isAttached: filename !== "" || /^\s*attachment\b/i.test(headerOf(part, "content-disposition")),
    attachment: { name: oneLine(filename), type: oneLine(type), size: body?.size ?? 0 },
    parts,
    smimeType,
    ...(type.startsWith("message/") && { message: enclosedHeader(parts[0]) }),
  };
}

/** The part in an enclosed message has that message's header. */
function enclosedHeader(part: Part = {}): EnclosedHeader {
  const get = (name: string) => decodeWords(headerOf(part, name));
  return { from: get("from"), subject: get("subject"), date: get("date") };
}

const headerOf = ({ headers = [] }: Part, wanted: string) =>
  headers.find(({ name }) => name.toLowerCase() === wanted)?.value.slice(0, maxHeaderLength) ?? "";

const charsetOf = (part: Part): string => parameterOf(part, "charset") ?? "windows-1252";

/** A parameter of the part's type. */
const parameterOf = (part: Part, name: "charset" | "smime-type"): string | undefined =>
  new RegExp(`;\\s*${name}\\s*=\\s*"?([^\\s";]+)`, "i").exec(headerOf(part, "content-type"))?.[1];

/** The API returns most texts as UTF-8, whatever the mail declares, and some unchanged. */
function decode(bytes: Uint8Array, { declared, cut }: { readonly declared: string; readonly cut: boolean }): string {
  try {
    // Decoded as a stream, because half a character at the end is not an error.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return decoderFor(declared).decode(bytes);
  }
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder("windows-1252");
  }
}

const escaped: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** A summary is escaped for HTML. */
function plainText(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (all, name: string) => escaped[name] ?? all);
}
