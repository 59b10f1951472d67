/** Where the owners of the bot are reached. The gateway sends notices and questions there, and doctor checks it. */
import { parseAllowlist, parseAllowlistEntry } from "./allowlist.ts";
import type { IdentityRule } from "./identity.ts";
import type { AccountAccess } from "./place.ts";

export interface OwnedAccount {
  readonly channel: string;
  readonly id: string;
  readonly access: Pick<AccountAccess, "allowFrom">;
  readonly identity: IdentityRule;
}

export interface OwnerPlace {
  readonly channel: string;
  readonly account: string;
  readonly owner: string;
  /** The owner's direct chat. */
  readonly chat: string;
  /** False if nothing shows that the owner has ever written to the account: it is only the first one of the channel. */
  readonly isKnown: boolean;
}

/** An entry of `commands.ownerAllowFrom` that leads to no chat. */
export interface UnplacedOwner {
  readonly entry: string | number;
  /** The channels to which the id may belong, if there are several. Empty: no channel has such an id, or it is weak. */
  readonly channels: readonly string[];
}

export const unplacedHint =
  "Write the id with its channel, as in `CHANNEL:ID`, or let that person write to the bot once.";

export interface OwnersAsked {
  /** `commands.ownerAllowFrom`. */
  readonly listed: readonly (string | number)[] | undefined;
  readonly accounts: readonly OwnedAccount[];
  /** The owners of an account whom the configuration does not name. */
  readonly ownersOf: (account: OwnedAccount) => Promise<readonly string[]>;
  /** The direct chat of a person who has written to the account. */
  readonly chatWith: (account: OwnedAccount, id: string) => Promise<string | undefined>;
}

interface Candidate {
  readonly account: OwnedAccount;
  readonly owner: string;
}

/** What an owner's last direct message to a channel says, by `<channel>:<id>`: an `OwnerChat`. */
export const ownerChats = "owner-chats";

export interface OwnerChat {
  readonly account: string;
  readonly chat: string;
}

export const ownerChatKey = (channel: string, id: string): string => `${channel}:${id}`;

/** Every owner once, those first who are known to have written to the bot. */
export async function placeOwners(
  asked: OwnersAsked,
): Promise<{ readonly places: readonly OwnerPlace[]; readonly unplaced: readonly UnplacedOwner[] }> {
  const { listed, accounts, ownersOf } = asked;
  const places: OwnerPlace[] = [];
  const unplaced: UnplacedOwner[] = [];
  if (listed === undefined)
    for (const account of accounts)
      for (const owner of await ownersOf(account))
        places.push(placeAt({ account, owner }, (await asked.chatWith(account, owner)) ?? owner));
  for (const entry of listed ?? []) {
    const found = await placeOf(entry, asked);
    if ("owner" in found) places.push(found);
    else unplaced.push(found);
  }
  const known = places.filter(({ isKnown }) => isKnown);
  return { places: [...known, ...places.filter(({ isKnown }) => !isKnown)], unplaced };
}

async function placeOf(entry: string | number, asked: OwnersAsked): Promise<OwnerPlace | UnplacedOwner> {
  const candidates = await candidatesFor(entry, asked.accounts);
  for (const candidate of candidates) {
    const chat = await knownChat(candidate, asked);
    if (chat !== undefined) return placeAt(candidate, chat);
  }
  const channels = [...new Set(candidates.map(({ account }) => account.channel))];
  const [first] = candidates;
  // An id of several channels may be another person's in one of them.
  if (first === undefined || channels.length > 1) return { entry, channels };
  return placeAt(first, candidates.length === 1 ? first.owner : undefined);
}

/** On most platforms the direct chat with a person has the id of the person. */
export async function knownChat(
  { account, owner }: Candidate,
  { chatWith }: Pick<OwnersAsked, "chatWith">,
): Promise<string | undefined> {
  const chat = await chatWith(account, owner);
  if (chat !== undefined) return chat;
  return parseAllowlist(account.access.allowFrom ?? [], account.identity).ids.has(owner) ? owner : undefined;
}

/** The accounts whose ids are written like the entry. A prefix, as in `irc:ada`, names the channel. */
async function candidatesFor(entry: string | number, accounts: readonly OwnedAccount[]): Promise<readonly Candidate[]> {
  const prefix = /^\s*([^:\s]+):/.exec(String(entry))?.[1]?.toLowerCase();
  const named = accounts.filter(({ identity }) => prefix !== undefined && identity.prefixes.includes(prefix));
  const candidates: Candidate[] = [];
  for (const account of named.length > 0 ? named : accounts) {
    const owner = parseAllowlistEntry(entry, account.identity);
    if (owner === null || owner === "*" || (await account.identity.isWeak(owner))) continue;
    candidates.push({ account, owner });
  }
  return candidates;
}

const placeAt = ({ account, owner }: Candidate, chat: string | undefined): OwnerPlace => ({
  channel: account.channel,
  account: account.id,
  owner,
  chat: chat ?? owner,
  isKnown: chat !== undefined,
});
