/** Checks that what only owners may read, such as an outage or a question, reaches one. */
import { parseAllowlist } from "../../access/allowlist.ts";
import {
  type OwnerPlace,
  ownerChatKey,
  placeOwners,
  type UnplacedOwner,
  unplacedHint,
} from "../../access/owner-places.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok } from "./finding.ts";
import { ready } from "./people.ts";

const check = "owners";
const path = "commands.ownerAllowFrom";

export async function checkOwners({ loaded, accounts, state }: CheckInput): Promise<readonly Finding[]> {
  const owned = ready(accounts).map(({ channel, account, settings }) => ({
    channel,
    id: account,
    access: settings.access,
    identity: settings.identity,
  }));
  // Before the first start, no person has written to the bot.
  if (owned.length === 0 || state === undefined || state instanceof HostError) return [];
  const listed = loaded.config.commands.ownerAllowFrom;
  const isAt = (one: { readonly channel: string; readonly account: string }, at: (typeof owned)[number]) =>
    one.channel === at.channel && one.account === at.id;
  const { places, unplaced } = await placeOwners({
    listed,
    accounts: owned,
    ownersOf: async (account) => [
      ...parseAllowlist(account.access.allowFrom ?? [], account.identity).ids,
      ...state.owners.flatMap((one) => (isAt(one, account) ? [one.chat] : [])),
    ],
    async chatWith(account, id) {
      const noted = state.ownerChats.get(ownerChatKey(account.channel, id));
      if (noted?.account === account.id) return noted.chat;
      const paired = (state.paired.get(account.channel) ?? []).some(
        (one) => one.account === account.id && one.senderId === id,
      );
      return paired || state.lastRecipients.some((one) => isAt(one, account) && one.chat === id) ? id : undefined;
    },
  });
  const found = [
    ...unplaced.flatMap(leadsNowhere),
    ...places.flatMap((place) => (place.isKnown ? [] : [neverWrote(place)])),
  ];
  if (found.length > 0) return found;
  if (places.length > 0) return [ok(check, "notices and questions for owners reach one")];
  // Where strangers get a code, the first one who is approved becomes the owner.
  const isAwaited = listed === undefined && owned.some(({ access }) => (access.dmPolicy ?? "pairing") === "pairing");
  const reason =
    "the bot has no owner, so notices about models and budgets are not sent, and a tool that asks first is refused";
  const fix = `Name the ids of the owners in ${path}: /whoami prints them.`;
  return isAwaited ? [] : [{ check, verdict: "warn", path, reason, fix }];
}

/** An entry that no channel takes for an id is reported with the allowlists. */
function leadsNowhere({ entry, channels }: UnplacedOwner): readonly Finding[] {
  if (channels.length === 0) return [];
  const written = JSON.stringify(visibleLine(String(entry), 80));
  const reason = `no notice reaches ${written} in ${path}: it could be an id of ${channels.join(" or of ")}`;
  return [{ check, verdict: "warn", path, reason, fix: unplacedHint }];
}

function neverWrote({ channel, account, owner }: OwnerPlace): Finding {
  const reason =
    `nothing shows with which account of ${channel} the owner ${visibleLine(owner, 80)} writes, so notices go to ` +
    `${channel}:${account}`;
  const fix = `Write to the bot once, or name the id in the allowFrom of that owner's account of ${channel}.`;
  return { check, verdict: "warn", path, reason, fix };
}
