/**
 * What the agent reads below the text of a mail: its files, its calendar entries, the messages in it, and why it has no
 * text.
 */

import type { Attachment, ForwardedMessage, Mail, Seal } from "../source.ts";
import type { CalendarEntry } from "./calendar.ts";

/** Further files are counted. The payload lists all of them. */
const mostNamed = 20;

const seals: Readonly<Record<Seal, string>> = {
  encrypted: "encrypted. Its text cannot be read here.",
  signed: "signed as a whole with S/MIME. Its text is inside the signature, which cannot be read here.",
  sealed: "encrypted, or signed as a whole. Its text cannot be read here.",
};

/** Begins with an empty line if it is not empty. */
export function notesOf({ text, attachments, forwarded = [], calendar = [], seal, bodyError }: Mail): string {
  const lines: string[] = [];
  if (text === undefined) {
    if (seal !== undefined) lines.push(`[This mail is ${seals[seal]}]`);
    else if (bodyError !== undefined) lines.push(`[The text of this mail cannot be read: ${bodyError}.]`);
    else lines.push("[This mail has no readable text.]");
  }
  for (const entry of calendar) lines.push(calendarLine(entry));
  for (const attachment of attachments.slice(0, mostNamed)) lines.push(attachmentLine(attachment));
  if (attachments.length > mostNamed) lines.push(`[and ${attachments.length - mostNamed} more files]`);
  const blocks = [...(lines.length === 0 ? [] : [lines.join("\n")]), ...forwarded.map(forwardedBlock)];
  return blocks.map((block) => `\n\n${block}`).join("");
}

function attachmentLine({ name, type, size }: Attachment): string {
  const facts = [type, size === 0 ? "" : sizeOf(size)].filter((fact) => fact !== "").join(", ");
  return (
    "[attached file, not read: " +
    `${name === "" ? "without a name" : JSON.stringify(name)}${facts === "" ? "" : ` (${facts})`}]`
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

const kinds: Readonly<Record<string, string>> = {
  request: "invitation",
  cancel: "cancellation",
  reply: "reply to an invitation",
  counter: "counterproposal",
};

function calendarLine({ method, summary, start, end, location, repeats }: CalendarEntry): string {
  const kind = Object.hasOwn(kinds, method) ? kinds[method] : "entry";
  const time = [start, end === "" || end === start ? "" : `to ${end}`].filter((part) => part !== "").join(" ");
  const facts = [
    JSON.stringify(summary === "" ? "without a title" : summary),
    time,
    repeats ? "repeats" : "",
    location === "" ? "" : `at ${JSON.stringify(location)}`,
  ];
  return `[calendar ${kind}: ${facts.filter((fact) => fact !== "").join(", ")}]`;
}

function forwardedBlock({ from, subject, date, body, bodyTruncated }: ForwardedMessage): string {
  const facts = [from === "" ? "" : `from ${from}`, subject === "" ? "" : `subject ${JSON.stringify(subject)}`, date];
  const head = `[attached message${facts
    .filter((fact) => fact !== "")
    .map((fact) => `, ${fact}`)
    .join("")}]`;
  const text =
    body === "" ? "[It has no readable text.]" : `${body}${bodyTruncated ? "\n[The rest was left out.]" : ""}`;
  return `${head}\n${text}\n[end of the attached message]`;
}
