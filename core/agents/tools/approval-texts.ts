/** What an owner reads who is asked whether a tool may run, and the end of it. */
import type { Button, Json } from "../../contract/index.ts";

/** A call of a tool that an owner is asked about. */
export interface AskedCall {
  readonly tool: string;
  readonly plugin: string;
  readonly args: Json;
  readonly agentId: string;
  /** Who caused the turn, as people know them. */
  readonly requester: string;
  /** Why the tool asks. */
  readonly reason?: string;
}

/** Longer arguments are rarely read before a press: they are allowed by a typed command only. */
const mostCharactersWithButton = 3_000;
/** Longer ones are not sent at all. */
export const mostCharacters = 20_000;

export const writtenArguments = (args: Json): string => JSON.stringify(args, null, 2);

/** A fence that the arguments cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

export function approvalQuestion(
  code: string,
  { tool, plugin, args, agentId, requester, reason }: AskedCall,
  minutes: number,
): { readonly text: string; readonly buttons: readonly (readonly Button[])[] } {
  const written = writtenArguments(args);
  const short = written.length <= mostCharactersWithButton;
  const text = [
    `**The agent ${agentId} asks to use \`${tool}\`** (${plugin}), for ${requester}.`,
    ...(reason === undefined ? [] : [reason]),
    "",
    fenced(written),
    "",
    `Answer with a button, or with \`/approve ${code}\` or \`/deny ${code}\`. Without an answer within ${minutes} minutes, the agent must do without.`,
  ].join("\n");
  const deny: Button = { text: "Deny", value: `/deny ${code}` };
  if (!short) return { text, buttons: [[deny]] };
  return {
    text,
    buttons: [[{ text: "Allow once", value: `/approve ${code}` }, deny], [{ text: "Allow until /new", value: `/approve ${code} session` }]],
  };
}

/** The message of the request, once it is answered or over. */
export const approvalEnded = ({ tool, agentId, args }: AskedCall, end: string): string =>
  [`**The agent ${agentId} asked to use \`${tool}\`**`, "", fenced(writtenArguments(args)), "", end].join("\n");
