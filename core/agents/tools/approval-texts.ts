/** What an owner reads who is asked whether a tool may run, and the end of it. */
import type { Button, Json } from "../../contract/index.ts";

/** A call of a tool that an owner is asked about. */
export interface AskedCall {
  readonly tool: string;
  readonly plugin: string;
  /** Distinguishes the tool from another one with its name, and from what it becomes when its plugin describes it differently. */
  readonly definition: string;
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

/** What does not show, looks like a space or turns a text around. */
const deceptive = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

const codeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** An owner must see every character of what they allow, in its order. In JSON, an escape means the same character. */
const visible = (text: string): string => text.replace(deceptive, (character) => character.split("").map(codeUnit).join(""));

const longestInSentence = 500;

/** A text of others inside a sentence: on one line, and never markup. It may repeat what the model wrote. */
const inSentence = (text: string): string =>
  visible(text.replace(/\s+/g, " ").trim().slice(0, longestInSentence)).replace(/[\\*_~|`[\]<>#]/g, "\\$&");

export const writtenArguments = (args: Json): string => visible(JSON.stringify(args, null, 2));

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
    `**The agent ${agentId} asks to use \`${tool}\`** (${plugin}), for ${inSentence(requester)}.`,
    ...(reason === undefined ? [] : [inSentence(reason)]),
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

export const answeredText = (verdict: "Allowed" | "Denied", by: string, until = ""): string => `${verdict} by ${inSentence(by)}${until}.`;

/** The message of the request, once it is answered or over. */
export const approvalEnded = ({ tool, agentId, args }: AskedCall, end: string): string =>
  [`**The agent ${agentId} asked to use \`${tool}\`**`, "", fenced(writtenArguments(args)), "", end].join("\n");
