/** Reads and validates a call from a model, a program or a person. */

import type { Button, Json } from "../contract/index.ts";
import type { ChannelCapabilities } from "../sdk/contract.ts";
import { type ActionRefusal, refuse } from "./result.ts";
import {
  type ActionCall,
  actionNames,
  type Field,
  type FieldKey,
  type FieldKind,
  schemaOf,
  shownName,
} from "./schema.ts";

const longestText = 100_000;
const longestId = 500;
const mostButtons = 100;
const buttonDataBytes = 64;

export const invalid = (error: string): ActionRefusal => refuse("invalid_arguments", error);

/** Accepts both names of an action and every spelling of its parameters. Ids may be numbers. `null` means absent. */
export function readAction(name: string, args: Json): ActionCall | ActionRefusal {
  const schema = schemaOf(name);
  if (schema === undefined)
    return refuse("action_unknown", `There is no action "${name.slice(0, 64)}": there are ${actionNames.join(", ")}.`);
  if (typeof args !== "object" || args === null || Array.isArray(args))
    return invalid(`${name} takes an object of parameters.`);
  const long = name === schema.also;
  const call: Partial<Record<FieldKey, unknown>> = {};
  for (const [spelling, value] of Object.entries(args)) {
    const field = schema.fields.find(({ names }) => names.includes(spelling));
    if (field === undefined) {
      const known = schema.fields.map((one) => shownName(one, long)).join(", ");
      return invalid(`"${spelling.slice(0, 64)}" is not a parameter of ${name}. Its parameters: ${known}.`);
    }
    if (value === null) continue;
    const read = readValue(value, field.kind, spelling);
    if ("refusal" in read) return read.refusal;
    const before = call[field.key];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(read.value))
      return invalid(`${spelling} is given twice, in two spellings, with different values.`);
    call[field.key] = read.value;
  }
  const missing = schema.needs.find((keys) => keys.every((key) => isBlank(call[key], key)));
  if (missing !== undefined) {
    const names = missing.map((key) => shownName(schema.fields.find((field) => field.key === key) as Field, long));
    return invalid(`${name} needs ${names.join(" or ")}.`);
  }
  return { ...(call as Omit<ActionCall, "action">), action: schema.name };
}

const ids = ["messageId", "replyTo", "thread"] as const;

/**
 * Checks ids against the channel's format. Otherwise an invalid id would be ignored, and the message would go to
 * another topic or reply to nothing.
 */
export function checkIds(
  call: ActionCall,
  { messageIds }: Pick<ChannelCapabilities, "messageIds">,
): ActionRefusal | undefined {
  if (messageIds === undefined) return undefined;
  const whole = new RegExp(`^(?:${messageIds.pattern})$`);
  const odd = ids.find((key) => call[key] !== undefined && !whole.test(call[key]));
  return odd && invalid(`${odd} must be ${messageIds.description}, not "${call[odd]?.slice(0, 64)}".`);
}

/** An empty emoji is not blank: it removes the reaction. */
const isBlank = (value: unknown, key: FieldKey): boolean =>
  value === undefined || (key !== "emoji" && typeof value === "string" && value.trim() === "");

type Read<T = unknown> = { readonly value: T } | { readonly refusal: ActionRefusal };

function readValue(value: Json, kind: FieldKind, name: string): Read {
  switch (kind) {
    case "id": {
      const id = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
      if (typeof id !== "string" || id.trim() === "" || id.length > longestId)
        return { refusal: invalid(`${name} must be an id.`) };
      return { value: id.trim() };
    }
    case "text":
      if (typeof value !== "string") return { refusal: invalid(`${name} must be a text.`) };
      if (value.length > longestText)
        return { refusal: invalid(`${name} has ${value.length} characters, at most ${longestText}.`) };
      return { value };
    case "flag":
      if (value === "true" || value === "false") return { value: value === "true" };
      return typeof value === "boolean" ? { value } : { refusal: invalid(`${name} must be true or false.`) };
    case "count": {
      const count = typeof value === "string" && /^\d{1,3}$/.test(value) ? Number(value) : value;
      const fits = typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= 50;
      return fits ? { value: count } : { refusal: invalid(`${name} must be a whole number from 1 to 50.`) };
    }
    case "buttons":
      return readButtons(value, name);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? { value }
        : { refusal: invalid(`${name} must be an object of fields by channel, such as { "acme": { ... } }.`) };
  }
}

export function readButtons(rows: Json, name: string): Read<readonly (readonly Button[])[]> {
  if (!Array.isArray(rows) || !rows.every((row) => Array.isArray(row)))
    return { refusal: invalid(`${name} must be a list of rows, each a list of { text, callback_data }.`) };
  const all = rows.flat() as readonly Json[];
  if (all.length > mostButtons)
    return { refusal: invalid(`${name} has ${all.length} buttons, at most ${mostButtons}.`) };
  const read: Button[][] = [];
  for (const [r, row] of (rows as readonly (readonly Json[])[]).entries()) {
    const cells: Button[] = [];
    for (const [c, cell] of row.entries()) {
      const at = `${name}[${r}][${c}]`;
      const { text: label, callback_data: value } = (cell ?? {}) as {
        readonly text?: Json;
        readonly callback_data?: Json;
      };
      if (typeof label !== "string" || typeof value !== "string" || label.trim() === "" || value === "")
        return { refusal: invalid(`${at} needs a text and callback_data.`) };
      const bytes = Buffer.byteLength(value, "utf8");
      if (bytes > buttonDataBytes)
        return { refusal: invalid(`${at}.callback_data has ${bytes} bytes, at most ${buttonDataBytes}.`) };
      cells.push({ text: label, value });
    }
    if (cells.length > 0) read.push(cells);
  }
  return { value: read };
}
