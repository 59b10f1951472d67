/**
 * How a channel's ids are written and compared. A channel in a worker answers with promises where one in this thread
 * answers at once.
 */
import type { ChannelIdentity } from "../sdk/contract.ts";

/** What a channel declares, as the core calls it. */
export interface CalledIdentity extends Omit<ChannelIdentity, "fold" | "weak"> {
  readonly fold?: (id: string) => string | Promise<string>;
  readonly weak?: boolean | ((id: string) => boolean | Promise<boolean>);
}

export interface IdentityRule {
  /** Prefixes allowed before an id, in lower case, without the colon. */
  readonly prefixes: readonly string[];
  /** Matches a whole id. */
  readonly pattern: RegExp;
  /** The one form of an id that the configuration contains; computed when the configuration is read. */
  formOf(written: string): string;
  /** The form in which ids compare. */
  fold(id: string): string | Promise<string>;
  /** Whether a key of `groups` can be the id of a group. `*` is not an id. */
  isGroupId(key: string): boolean;
  /** Whether another person can take the id over. */
  isWeak(id: string): boolean | Promise<boolean>;
}

/** `forms`: the ids of the configuration, each with its form. */
export function identityRule(
  channel: string,
  declared: CalledIdentity = {},
  forms: ReadonlyMap<string, string> = new Map(),
): IdentityRule {
  const { fold = (id) => id, weak = false } = declared;
  const group = wholly(declared.groupPattern ?? "[\\s\\S]+");
  return {
    formOf: (written) => forms.get(written) ?? written,
    fold(id) {
      const folded = attempt(() => fold(id));
      return typeof folded === "string" || folded instanceof Promise ? folded : id;
    },
    // A channel that fails to answer makes no one an owner.
    isWeak(id) {
      if (id === "" || typeof weak === "boolean") return id !== "" && weak === true;
      const answer = attempt(() => weak(id));
      return answer instanceof Promise ? answer.catch(() => true) : answer !== false;
    },
    prefixes: [channel, ...(declared.prefixes ?? [])].map((prefix) => prefix.toLowerCase()),
    pattern: wholly(declared.pattern ?? "\\S+"),
    isGroupId: (key) => key !== "*" && group.test(key),
  };
}

const wholly = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`, "u");

/** These functions belong to a plugin; `undefined` if one throws. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** The id in an entry of a list, without its prefix, or `*`; `null` if it is neither. */
export function bareId(
  entry: string | number,
  { prefixes, pattern }: Pick<IdentityRule, "prefixes" | "pattern">,
): string | null {
  const text = String(entry).trim();
  if (text === "*") return text;
  const colon = text.indexOf(":");
  const bare = colon > 0 && prefixes.includes(text.slice(0, colon).toLowerCase()) ? text.slice(colon + 1).trim() : text;
  return pattern.test(bare) ? bare : null;
}

/**
 * The form of each id. Rejects if the worker of the channel does not answer: an id without its form would match no one.
 */
export async function formsOf(
  ids: Iterable<string>,
  { fold }: Pick<IdentityRule, "fold">,
): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all([...new Set(ids)].map(async (id) => [id, await fold(id)] as const)));
}
