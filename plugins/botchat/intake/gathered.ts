/**
 * Turns the updates of one unit into messages: an edit replaces its message, and the parts of a split text become one
 * text again.
 */
import type { Json } from "service-gateway/sdk";
import { type Fields, id, list, number, record, text } from "./fields.ts";

/** The current version of a message. `edit`: only the change is here, because the message already had its turn. */
export interface Version {
  readonly kind: "message" | "edit";
  readonly message: Fields;
}

/** Clients split texts at this length, or earlier at a better place. */
export const cutLength = 4_096;
/** A text of at least this length may continue in the next message. */
export const nearlyCut = 4_000;

export function versionIn(update: Fields): Version | undefined {
  const fresh = record(update.message) ?? record(update.channel_post);
  if (fresh !== undefined) return { kind: "message", message: fresh };
  const edited = record(update.edited_message);
  return edited === undefined ? undefined : { kind: "edit", message: edited };
}

/** The newest version of each message, in the order in which the messages were written. */
export function newestVersions(updates: readonly Json[]): readonly Version[] {
  const found = new Map<string, Version>();
  for (const update of updates) {
    const version = versionIn(record(update) ?? {});
    const messageId = id(version?.message.message_id);
    if (version === undefined || messageId === undefined) continue;
    const before = found.get(messageId);
    found.set(messageId, before === undefined ? version : { kind: before.kind, message: version.message });
  }
  return [...found.values()];
}

function isNextMessage(before: Fields, after: Fields): boolean {
  const [first, second] = [number(before.message_id), number(after.message_id)];
  return first !== undefined && second === first + 1;
}

/** Combines consecutive texts into one message; a message with a file stays separate. */
export function joinTexts(messages: readonly Fields[]): readonly Fields[] {
  const joined: Fields[] = [];
  let previous: Fields | undefined;
  for (const message of messages) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      previous !== undefined &&
      text(last.text) !== undefined &&
      text(message.text) !== undefined
    ) {
      joined[joined.length - 1] = append(last, message, cutBetween(previous, message));
    } else joined.push(message);
    previous = message;
  }
  return joined;
}

/**
 * `whole`: split inside a line, because the limit was reached. `line`: split at the end of a line, whose line break the
 * platform removes.
 */
function cutBetween(before: Fields, after: Fields): "whole" | "line" | undefined {
  const { length } = text(before.text) ?? "";
  if (length < nearlyCut || !isNextMessage(before, after)) return undefined;
  return length >= cutLength ? "whole" : "line";
}

/**
 * Shifts offsets with the text. A style that the split had divided is merged, so that it does not end and begin again
 * inside a word.
 */
function append(base: Fields, message: Fields, cut: "whole" | "line" | undefined): Fields {
  const start = `${text(base.text) ?? ""}${cut === "whole" ? "" : "\n"}`;
  const entities = [...list(base.entities)];
  for (const each of list(message.entities)) {
    const entity = record(each);
    const offset = number(entity?.offset);
    const length = number(entity?.length);
    if (entity === undefined || offset === undefined || length === undefined) continue;
    const begun =
      cut !== undefined && offset === 0
        ? entities.findIndex((one) => endsAtCut(one, entity, text(base.text) ?? ""))
        : -1;
    const former = record(entities[begun]);
    if (former === undefined) entities.push({ ...entity, offset: offset + start.length });
    else entities[begun] = { ...former, length: start.length + length - (number(former.offset) ?? 0) };
  }
  return { ...base, text: `${start}${text(message.text) ?? ""}`, entities };
}

/** Whether the same style extends to the split. */
function endsAtCut(
  candidate: Json | undefined,
  { offset: _offset, length: _length, ...style }: Fields,
  before: string,
): boolean {
  const { offset, length, ...other } = record(candidate) ?? {};
  return (
    (number(offset) ?? 0) + (number(length) ?? 0) === before.length && JSON.stringify(other) === JSON.stringify(style)
  );
}
