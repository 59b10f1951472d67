/** What a channel can do and needs, as its declaration says it: for the list of channels. */
import { validateSection } from "../config/index.ts";
import type { ChannelCapabilities, ChannelDefinition, ChannelListing } from "../sdk/contract.ts";

export interface ChannelDescription {
  readonly id: string;
  /** The platform's name. */
  readonly name: string;
  /** `undefined`: they depend on the options, and none are filled in. */
  readonly capabilities?: ChannelCapabilities;
  /** Whether accounts of the channel differ in what they can do. */
  readonly varies: boolean;
  /** What people type before the name of a command. */
  readonly commandPrefix: string;
  /** Whether a person signs the bot in, in place of a credential. */
  readonly signIn: boolean;
  readonly listing?: Omit<ChannelListing, "name">;
}

/** The capabilities of an account with the default options. */
function usualCapabilities({ capabilities, options }: ChannelDefinition): ChannelCapabilities | undefined {
  if (typeof capabilities !== "function") return capabilities;
  try {
    return capabilities(validateSection(options, {}, "options", { unknownKeys: "keep" }).value as never);
  } catch {
    return undefined;
  }
}

export function describeChannel(definition: ChannelDefinition): ChannelDescription {
  const { id, platform, listing, onboarding, commandPrefix = "/", capabilities } = definition;
  const usual = usualCapabilities(definition);
  const { name = platform ?? id, ...rest } = listing ?? {};
  return {
    id,
    name,
    ...(usual !== undefined && { capabilities: usual }),
    varies: typeof capabilities === "function",
    commandPrefix,
    signIn: onboarding !== undefined && onboarding.credential === undefined,
    ...(listing !== undefined && { listing: rest as Omit<ChannelListing, "name"> }),
  };
}

/** What can be done, in words; an ability that is missing is left out. */
const abilities: readonly (readonly [keyof ChannelCapabilities, string])[] = [
  ["edits", "replies that grow"],
  ["threads", "threads"],
  ["media", "files"],
  ["buttons", "buttons"],
  ["reactions", "reactions"],
  ["typing", "typing"],
  ["menu", "a menu of commands"],
  ["stickers", "stickers"],
];

export interface ChannelWords {
  readonly can: string;
  readonly whileAway: string;
  readonly twice: string;
  readonly needs: string;
  readonly tried: string;
}

/** The same in words, for people. */
export function wordsOf({ capabilities, varies, commandPrefix, signIn, listing }: ChannelDescription): ChannelWords {
  const { maxChars, markup, ephemeral, keepsWhileAway, repeats } = capabilities ?? {};
  const has = abilities.flatMap(([member, words]) => ((capabilities?.[member] ?? false) === false ? [] : [words]));
  const can = [
    ...(maxChars === undefined ? [] : [`${markup === "rich" ? "formatted" : "plain"} text, ${maxChars} at once`]),
    ...has,
    ...(ephemeral === true ? ["messages for one person in a group"] : []),
    ...(ephemeral === "interactions" ? ["answers for one person to buttons and commands in a group"] : []),
    ...(commandPrefix === "/" ? [] : [`commands begin with ${commandPrefix}`]),
  ];
  const address = { no: "no public address", optional: "a public address only for webhooks", yes: "a public address" };
  const needs = [
    ...(listing?.needs ?? []),
    ...(signIn && listing === undefined ? ["a person who signs the bot in"] : []),
    ...(listing === undefined ? [] : [address[listing.publicAddress]]),
  ];
  return {
    can: `${can.join(", ")}${varies ? " (depends on the options)" : ""}`,
    whileAway: awayWords(keepsWhileAway),
    twice: twiceWords(repeats),
    needs: needs.join("; "),
    tried: listing?.tried.join("; ") ?? "",
  };
}

function awayWords(keeps: ChannelCapabilities["keepsWhileAway"]): string {
  if (keeps === false) return "is lost";
  if (keeps === undefined) return "is not known";
  return keeps === "ever" ? "arrives later, once" : `arrives within ${hoursWords(keeps.hours)}, once`;
}

const hoursWords = (hours: number): string =>
  hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} ${hours === 1 ? "hour" : "hours"}`;

/** What becomes of a send whose answer was lost. */
function twiceWords(repeats: ChannelCapabilities["repeats"]): string {
  if (repeats === undefined) return "may be repeated, and says so in its trace";
  return repeats === "ever"
    ? "never repeated"
    : `not repeated within ${Math.floor(repeats.withinSeconds / 60)} minutes`;
}
