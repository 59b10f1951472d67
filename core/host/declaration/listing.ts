/** What a channel says of itself for the list of channels. */
import type { ChannelListing } from "../../sdk/contract.ts";

const addresses: readonly unknown[] = ["no", "optional", "yes"] satisfies readonly ChannelListing["publicAddress"][];

/** Longer phrases would be paragraphs in a table. */
const longest = 160;

/** What is wrong with it, as the end of a sentence; `undefined` if nothing is. */
export function listingProblem(listing: unknown): string | undefined {
  if (listing === undefined) return undefined;
  const { name, needs, publicAddress, tried } = (listing ?? {}) as Partial<Record<keyof ChannelListing, unknown>>;
  if (typeof name !== "string" || name === "" || name.length > 40)
    return "must have a name, the platform's, of at most 40 characters";
  for (const [member, phrases] of Object.entries({ needs, tried }))
    if (!Array.isArray(phrases) || !phrases.every(isPhrase))
      return `must have ${member}, a list of phrases of at most ${longest} characters, without a full stop`;
  if (!addresses.includes(publicAddress)) return 'must have publicAddress: "no", "optional" or "yes"';
  return undefined;
}

const isPhrase = (text: unknown): boolean =>
  typeof text === "string" && text !== "" && text.length <= longest && !/[.\n]$/.test(text);
