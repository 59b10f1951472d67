/**
 * The registry of codes: the meaning of each reason for which an event, a reply or an account can end, and what to do
 * about it. Errors of the gateway itself are in `error-table.ts`, errors of its HTTP server in `http/problem.ts`.
 * Plugins register their own codes in their declarations. `core/CODES.md` is generated from all of them.
 */
import { accessCodes } from "./codes/access.ts";
import { actionCodes } from "./codes/actions.ts";
import { channelCodes } from "./codes/channels.ts";
import type { CodeDefinition, CodeTable } from "./codes/code.ts";
import { engineCodes } from "./codes/engines.ts";
import { mediaCodes } from "./codes/media.ts";
import { pathCodes } from "./codes/path.ts";
import { speechCodes } from "./codes/speech.ts";
import { webhookCodes } from "./codes/webhooks.ts";
import { programCommand } from "./command.ts";

export type { CodeDefinition, CodeTable };

/** The gateway's own codes, grouped by the part that owns them. */
export const codesByOwner: Readonly<Record<string, CodeTable>> = {
  "the access rules": accessCodes,
  "the path of an event": pathCodes,
  "agents, engines and models": engineCodes,
  "channels and their platforms": channelCodes,
  files: mediaCodes,
  "voice messages": speechCodes,
  actions: actionCodes,
  webhooks: webhookCodes,
};

const gatewayCodes: CodeTable = Object.assign({}, ...Object.values(codesByOwner));

/**
 * Looks up a code: first in the table of the plugin that made the decision, then in the gateway's own, then in that of
 * the event's channel. Other plugins are not consulted.
 */
export function findCode(
  code: string,
  by: { readonly plugin?: CodeTable; readonly channel?: CodeTable } = {},
): CodeDefinition | undefined {
  const found = definedIn(by.plugin, code) ?? definedIn(gatewayCodes, code) ?? definedIn(by.channel, code);
  if (found === undefined) return undefined;
  const named = (hint: string) => hint.replaceAll("{command}", programCommand);
  const { hintWhileRetrying } = found;
  return {
    ...found,
    hint: named(found.hint),
    ...(hintWhileRetrying !== undefined && { hintWhileRetrying: named(hintWhileRetrying) }),
  };
}

/** The hint of a code; `undefined` if it has none. `retrying`: the gateway tries again by itself. */
export function hintOfCode(
  code: CodeDefinition | undefined,
  { retrying }: { readonly retrying: boolean },
): string | undefined {
  return (retrying ? code?.hintWhileRetrying : undefined) ?? (code?.hint || undefined);
}

/** Matches the exact name, or a name that ends in `*` as a prefix. */
function definedIn(table: CodeTable = {}, code: string): CodeDefinition | undefined {
  if (Object.hasOwn(table, code)) return table[code];
  const family = Object.keys(table).find((name) => name.endsWith("*") && code.startsWith(name.slice(0, -1)));
  return family === undefined ? undefined : table[family];
}
