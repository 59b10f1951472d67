/** What a channel says it can do: the same for all of its accounts, or by the options of each. */
import { reasonOf } from "../../contract/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import type { CalledChannel } from "../called-channel.ts";

const switches = ["edits", "threads", "reactions", "media", "typing", "menu", "stickers"] as const;
const buttonLimits: readonly string[] = ["perRow", "perMessage", "labelChars", "valueBytes"];

/** What is wrong with capabilities: the member to look for, and a phrase to follow its name. */
export interface CapabilityProblem {
  readonly member: string;
  readonly reason: string;
}

/** Types alone are not enough, because plugins run without a type check. */
export function capabilitiesProblem(value: unknown): CapabilityProblem | undefined {
  const { maxChars, markup, messageIds, repeats, buttons, typingEverySeconds, ephemeral, keepsWhileAway, ...others } =
    (value ?? {}) as Partial<Record<string, unknown>>;
  if (!Number.isInteger(maxChars) || Number(maxChars) < 1)
    return { member: "maxChars", reason: "must be a whole number above 0" };
  if (markup !== undefined && markup !== "plain" && markup !== "rich")
    return { member: "markup", reason: 'must be "plain" or "rich"' };
  if (messageIds !== undefined && !isIdFormat(messageIds))
    return { member: "messageIds", reason: "needs a pattern, which is a regular expression, and a description" };
  if (repeats !== undefined && !isRepetition(repeats))
    return { member: "repeats", reason: 'must be "ever" or { withinSeconds }, a number above 0' };
  if (buttons !== undefined && typeof buttons !== "boolean" && !areLimits(buttons))
    return {
      member: "buttons",
      reason: `must be true, false or an object of ${buttonLimits.join(", ")}, each above 0`,
    };
  if (typingEverySeconds !== undefined && !(typeof typingEverySeconds === "number" && typingEverySeconds >= 1))
    return { member: "typingEverySeconds", reason: "must be a number from 1 on" };
  if (ephemeral !== undefined && typeof ephemeral !== "boolean" && ephemeral !== "interactions")
    return { member: "ephemeral", reason: 'must be true, false or "interactions"' };
  if (keepsWhileAway !== undefined && keepsWhileAway !== false && !isRetention(keepsWhileAway))
    return { member: "keepsWhileAway", reason: 'must be false, "ever" or { hours }, a number above 0' };
  const wrong = switches.find((name) => others[name] !== undefined && typeof others[name] !== "boolean");
  return wrong === undefined ? undefined : { member: wrong, reason: "must be true or false" };
}

/** The capabilities of an account with these options. Rejects with a sentence if they are not usable. */
export async function capabilitiesOf(
  { capabilities }: Pick<CalledChannel, "capabilities">,
  options: Readonly<Record<string, unknown>>,
): Promise<ChannelCapabilities> {
  if (typeof capabilities !== "function") return capabilities;
  const given: unknown = await Promise.resolve()
    .then(() => capabilities(options as never))
    .catch((error: unknown) => {
      throw new Error(`capabilities of the channel failed: ${reasonOf(error)}`, { cause: error });
    });
  const problem = capabilitiesProblem(given);
  if (problem !== undefined)
    throw new Error(`capabilities of the channel returned something unusable: ${problem.member} ${problem.reason}`);
  return given as ChannelCapabilities;
}

function isIdFormat(value: unknown): boolean {
  const { pattern, description } = (value ?? {}) as Partial<Record<string, unknown>>;
  return isPattern(pattern) && typeof description === "string";
}

function areLimits(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).every(
    ([name, limit]) => buttonLimits.includes(name) && Number.isInteger(limit) && Number(limit) > 0,
  );
}

function isRetention(value: unknown): boolean {
  const { hours } = (value ?? {}) as Partial<Record<string, unknown>>;
  return value === "ever" || (typeof hours === "number" && hours > 0);
}

function isRepetition(value: unknown): boolean {
  const { withinSeconds } = (value ?? {}) as Partial<Record<string, unknown>>;
  return value === "ever" || (typeof withinSeconds === "number" && withinSeconds > 0);
}

export function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
