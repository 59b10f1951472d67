/**
 * Received calls as text that a person can read: one call a block, sorted parameters, nothing that differs from run to
 * run.
 */
import type { RecordedCall } from "../../../plugins/playground/platform/server/calls.ts";

/** What shows something to people; typing goes by the clock. */
const shows = /^(?:send(?!ChatAction)|edit|delete(?!MyCommands|Webhook)|setMessageReaction)/;

export interface Names {
  /** `#1` is the first message of the chat in this case: the one that asked, as a rule. */
  readonly messages: ReadonlyMap<number, string>;
  /** Topics and files by what they are. */
  readonly others: ReadonlyMap<string, string>;
}

const idFields: ReadonlySet<string> = new Set(["message_id"]);

export function renderCalls(calls: readonly RecordedCall[], names: Names): string {
  const shown = calls.filter(({ method }) => shows.test(method)).map((call) => renderCall(call, names));
  return shown.length === 0 ? "(no call)\n" : `${shown.join("\n\n")}\n`;
}

function renderCall({ method, params, status, description }: RecordedCall, names: Names): string {
  const uploads = uploadsOf(params);
  const lines = Object.entries(params)
    .map(([name, value]) => [uploads.get(name) ?? name, value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `  ${name}:${renderValue(named(parsed(value), name, { ...names, uploads }))}`);
  const refused = status === 200 ? [] : [`  -> ${status} ${description ?? ""}`];
  return [method, ...lines, ...refused].join("\n");
}

/** Names of uploaded files are drawn anew each time. */
function uploadsOf(params: RecordedCall["params"]): ReadonlyMap<string, string> {
  const found = JSON.stringify(params).matchAll(/attach:\/\/([A-Za-z0-9_-]+)/g);
  return new Map(
    [...new Set([...found].map(([, name = ""]) => name))].map((name, index) => [name, `upload-${index + 1}`]),
  );
}

/** A form holds its objects as text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function named(
  value: unknown,
  name: string,
  names: Names & { readonly uploads: ReadonlyMap<string, string> },
): unknown {
  if (Array.isArray(value)) return value.map((item) => named(item, name, names));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => [key, named(item, key, names)]),
    );
  }
  if (idFields.has(name)) return names.messages.get(Number(value)) ?? value;
  const text = String(value);
  if (names.others.has(text)) return names.others.get(text);
  return text.startsWith("attach://") ? `attach://${names.uploads.get(text.slice(9))}` : value;
}

function renderValue(value: unknown): string {
  if (typeof value !== "string") return ` ${JSON.stringify(value)}`;
  return value.includes("\n") ? `\n${value.replace(/^/gm, "    | ").replace(/ +$/gm, "")}` : ` ${value}`;
}
