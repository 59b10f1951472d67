/** Parses addresses of a header field (RFC 5322, 3.4) and its encoded words (RFC 2047). */
import type { Mailbox } from "../source.ts";

/** Text that is not clearly an address becomes a name without one, so that no sender is mistaken for another. */
export function readAddresses(value: string): readonly Mailbox[] {
  const entries = divide(value);
  if (entries === undefined) return value.trim() === "" ? [] : [{ name: decodeWords(value) }];
  return entries.map(readOne);
}

/** Decodes encoded words that the server left unchanged. */
export function decodeWords(text: string): string {
  // Space between two encoded words is not part of the text.
  return text
    .replace(/(=\?[^?\s]+\?[bq]\?[^?\s]*\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, "$1")
    .replace(
      /=\?([^?*\s]+)(?:\*[^?\s]*)?\?([bq])\?([^?\s]*)\?=/gi,
      (word, charset: string, kind: string, content: string) => {
        try {
          return new TextDecoder(charset).decode(
            kind.toLowerCase() === "b" ? Buffer.from(content, "base64") : quoted(content),
          );
        } catch {
          return word;
        }
      },
    );
}

function quoted(content: string): Uint8Array {
  const bytes = content
    .replace(/_/g, " ")
    .replace(/=([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, "latin1");
}

function readOne(entry: string): Mailbox {
  const angle = /^([^<>]*)<\s*([^<>\s]+@[^<>\s@]+)\s*>\s*$/.exec(entry);
  if (angle !== null) {
    const name = decodeWords(
      (angle[1] ?? "")
        .trim()
        .replace(/^"(.*)"$/s, "$1")
        .replace(/\\(.)/g, "$1"),
    );
    return { ...(name === "" ? {} : { name }), address: angle[2] ?? "" };
  }
  const bare = /^\s*([^<>()\s",:;@]+@[^<>()\s",:;@]+)\s*$/.exec(entry);
  return bare?.[1] === undefined ? { name: decodeWords(entry.trim()) } : { address: bare[1] };
}

/** Splits at commas outside quotes, comments and angle brackets; `undefined` if one of these is not closed. */
function divide(value: string): readonly string[] | undefined {
  const entries: string[] = [];
  let entry = "";
  let isQuoted = false;
  let comments = 0;
  let angles = 0;
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at] ?? "";
    if (character === "\\" && (isQuoted || comments > 0)) {
      if (comments === 0) entry += character + (value[at + 1] ?? "");
      at += 1;
      continue;
    }
    if (character === '"' && comments === 0) isQuoted = !isQuoted;
    if (!isQuoted && character === "(") comments += 1;
    if (!isQuoted && comments === 0 && character === "<") angles += 1;
    if (!isQuoted && comments === 0 && character === ">") angles -= 1;
    if (!isQuoted && comments === 0 && angles === 0 && character === ",") {
      entries.push(entry);
      entry = "";
    } else if (comments === 0) entry += character;
    if (!isQuoted && character === ")" && comments > 0) comments -= 1;
  }
  if (isQuoted || comments > 0 || angles !== 0) return undefined;
  return [...entries, entry].filter((one) => one.trim() !== "");
}
