/** The entries of a calendar file (RFC 5545) in a mail, such as an invitation. */
import { oneLine } from "../text.ts";

export interface CalendarEntry {
  /** What the mail does with the entry, in lower case, such as `request` or `cancel`; empty if it does not say. */
  readonly method: string;
  readonly summary: string;
  /** As the file writes it, with its time zone, such as `2026-11-27 10:00 Europe/Berlin`. */
  readonly start: string;
  readonly end: string;
  readonly location: string;
  readonly repeats: boolean;
}

const maxFile = 200_000;
const maxEntries = 5;
const maxText = 300;

/** Total: lines that are not understood are passed over. */
export function parseCalendar(file: string): readonly CalendarEntry[] {
  const entries: CalendarEntry[] = [];
  let method = "";
  let fields: Map<string, string> | undefined;
  // What an entry contains, such as an alarm, has fields of its own.
  let depth = 0;
  for (const line of file
    .slice(0, maxFile)
    .replace(/\r?\n[ \t]/g, "")
    .split(/\r?\n/)) {
    const { name, zone, value } = readLine(line);
    if (name === "BEGIN") {
      if (fields !== undefined) depth += 1;
      else if (value.toUpperCase() === "VEVENT" || value.toUpperCase() === "VTODO") fields = new Map();
    } else if (name === "END" && fields !== undefined) {
      if (depth > 0) depth -= 1;
      else {
        entries.push(entryOf(fields, method));
        fields = undefined;
        if (entries.length === maxEntries) break;
      }
    } else if (fields === undefined) {
      if (name === "METHOD") method = oneLine(value).toLowerCase().slice(0, 20);
    } else if (depth === 0 && !fields.has(name))
      fields.set(name, name.startsWith("DT") || name === "DUE" ? timeOf(value, zone) : textOf(value));
  }
  return entries;
}

function entryOf(fields: ReadonlyMap<string, string>, method: string): CalendarEntry {
  const get = (name: string) => fields.get(name) ?? "";
  return {
    ...{
      method,
      summary: get("SUMMARY"),
      start: get("DTSTART"),
      end: get("DTEND") || get("DUE"),
      location: get("LOCATION"),
    },
    repeats: fields.has("RRULE") || fields.has("RDATE"),
  };
}

/** `DTSTART;TZID="Europe/Berlin":20261127T100000`. */
function readLine(line: string): { readonly name: string; readonly zone: string; readonly value: string } {
  let quoted = false;
  let colon = -1;
  for (let at = 0; at < line.length && at < 2_000; at += 1) {
    if (line[at] === '"') quoted = !quoted;
    else if (line[at] === ":" && !quoted) {
      colon = at;
      break;
    }
  }
  const head = colon < 0 ? line.slice(0, 100) : line.slice(0, colon);
  const zone = /;TZID="?([^";]{1,100})/i.exec(head)?.[1] ?? "";
  return {
    name: (head.split(";", 1)[0] ?? "").trim().toUpperCase(),
    zone,
    value: colon < 0 ? "" : line.slice(colon + 1),
  };
}

const escapes: Readonly<Record<string, string>> = { n: " ", N: " " };

const textOf = (value: string): string => {
  const text = oneLine(value.slice(0, 4 * maxText).replace(/\\(.)/gs, (_, sign: string) => escapes[sign] ?? sign));
  return text.length > maxText ? `${text.slice(0, maxText - 1).toWellFormed()}…` : text;
};

/** A time with its zone, or a day. A text of any other form is returned as it is written. */
function timeOf(value: string, zone: string): string {
  const [, day, hour, isUtc] = /^(\d{8})(?:T(\d{4})(?:\d{2})?(Z)?)?$/.exec(value.trim()) ?? [];
  if (day === undefined) return textOf(value);
  const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;
  if (hour === undefined) return `${date} (all day)`;
  const where = isUtc === undefined ? (zone === "" ? "(no time zone)" : oneLine(zone)) : "UTC";
  return `${date} ${hour.slice(0, 2)}:${hour.slice(2)} ${where}`;
}
