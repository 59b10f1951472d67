/**
 * The registry of codes: what each reason means that an event, a reply or an account can end with, and what to do about it.
 * Errors of the gateway itself are in `error-table.ts`, answers of its HTTP server in `http/problem.ts`; a plugin registers its own codes
 * in its declaration. `core/CODES.md` is generated from all of them.
 */
import { accessCodes } from "./codes/access.ts";
import { actionCodes } from "./codes/actions.ts";
import { channelCodes } from "./codes/channels.ts";
import type { CodeDefinition, CodeTable } from "./codes/code.ts";
import { engineCodes } from "./codes/engines.ts";
import { mediaCodes } from "./codes/media.ts";
import { pathCodes } from "./codes/path.ts";
import { webhookCodes } from "./codes/webhooks.ts";
import { programCommand } from "./command.ts";

export type { CodeDefinition, CodeTable };

/** The gateway's own codes, by the part that owns them. */
export const codesByOwner: Readonly<Record<string, CodeTable>> = {
  "the access rules": accessCodes,
  "the path of an event": pathCodes,
  "agents, engines and models": engineCodes,
  "channels and their platforms": channelCodes,
  files: mediaCodes,
  actions: actionCodes,
  webhooks: webhookCodes,
};

const gatewayCodes: ReadonlyMap<string, CodeDefinition> = new Map(Object.values(codesByOwner).flatMap((table) => Object.entries(table)));

/**
 * What a code means: by the tables of `own` first, such as those of the plugin that decided, then by the gateway's. A code that ends in `*`
 * stands for all that begin like it.
 */
export function findCode(code: string, own: readonly CodeTable[] = []): CodeDefinition | undefined {
  for (const table of own) {
    const family = Object.keys(table).find((name) => name.endsWith("*") && code.startsWith(name.slice(0, -1)));
    const found = Object.hasOwn(table, code) ? table[code] : family === undefined ? undefined : table[family];
    if (found !== undefined) return withCommand(found);
  }
  const found = gatewayCodes.get(code);
  return found === undefined ? undefined : withCommand(found);
}

/** `{command}` in a hint is the command that runs this program here. */
function withCommand(definition: CodeDefinition): CodeDefinition {
  return { ...definition, hint: definition.hint.replaceAll("{command}", programCommand) };
}
