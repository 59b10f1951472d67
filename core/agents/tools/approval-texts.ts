/** What an owner reads who is asked whether a tool may run, and the end of it. */
import type { Button, Json } from "../../contract/index.ts";
import type { NamedRequester } from "./requester.ts";

/** A call of a tool that an owner is asked about. */
export interface AskedCall extends NamedRequester {
  readonly tool: string;
  readonly plugin: string;
  /**
   * Distinguishes the tool from another one with its name, and from what it becomes when its plugin describes it
   * differently.
   */
  readonly definition: string;
  readonly args: Json;
  /** Their text, where `args` has lost digits of it. */
  readonly written?: string;
  readonly agentId: string;
  /** Why the tool asks, in its own words. */
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
const visible = (text: string): string =>
  text.replace(deceptive, (character) => character.split("").map(codeUnit).join(""));

const longestInSentence = 500;

/** A text on one line, and never markup. */
export const inSentence = (text: string): string =>
  visible(text.replace(/\s+/g, " ").trim().slice(0, longestInSentence)).replace(/[\\*_~|`[\]<>#]/g, "\\$&");

/** Words that came from outside, on a line of their own and in quotes, so that they cannot read as the gateway's. */
const quotedLine = (label: string, text: string): string => `${label}: "${inSentence(text.replaceAll('"', "'"))}"`;

export const writtenArguments = ({
  args,
  written = JSON.stringify(args, null, 2),
}: Pick<AskedCall, "args" | "written">): string => visible(written);

/** A fence that the arguments cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

export function approvalQuestion(
  code: string,
  { tool, plugin, agentId, requester, requesterName, reason, ...asked }: AskedCall,
  { minutes, holder }: { readonly minutes: number; readonly holder?: string | undefined },
): { readonly text: string; readonly buttons: readonly (readonly Button[])[] } {
  const written = writtenArguments(asked);
  const short = written.length <= mostCharactersWithButton;
  const text = [
    `**The agent ${agentId} asks to use \`${tool}\`** (${plugin}), for ${inSentence(requester)}.`,
    ...(requesterName === undefined ? [] : [quotedLine("The name given there", requesterName)]),
    ...(reason === undefined ? [] : [quotedLine("The reason given by the tool", reason)]),
    "",
    fenced(written),
    "",
    `Answer with a button, or with \`/approve ${code}\` or \`/deny ${code}\`. Without an answer within ` +
      `${minutes} minutes, the agent must do without.`,
  ].join("\n");
  const deny: Button = { text: "Deny", value: `/deny ${code}` };
  if (!short) return { text, buttons: [[deny]] };
  const lasting =
    holder === undefined ? [] : [[{ text: `Allow for ${holder} until /new`, value: `/approve ${code} session` }]];
  return { text, buttons: [[{ text: "Allow once", value: `/approve ${code}` }, deny], ...lasting] };
}

export const answeredText = (verdict: "Allowed" | "Denied", by: string, until = ""): string =>
  `${verdict} by ${inSentence(by)}${until}.`;

/** To whom a tool is allowed for the rest of a conversation. */
export const grantedText = ({ name, senderId }: { readonly name: string; readonly senderId: string }): string =>
  ` for ${inSentence(name === senderId ? senderId : `${name} (${senderId})`)} until /new in that ` +
  "conversation, whatever its arguments";

/** The message of the request after it was answered or has expired. */
export const approvalEnded = ({ tool, agentId, ...asked }: AskedCall, end: string): string =>
  [`**The agent ${agentId} asked to use \`${tool}\`**`, "", fenced(writtenArguments(asked)), "", end].join("\n");

/** For an owner who was asked too often. */
export const tooOftenText = (most: number, until: string): string =>
  `I have asked you ${most} times within an hour whether a tool may run. Until ${until}, I deny further ` +
  "calls of others without a question.";
