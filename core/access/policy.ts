/**
 * The only authorize(), for every channel and every kind of event. It is pure: callers pass the facts in and act on the
 * refusal. Absent or empty settings refuse.
 */
import type { Inbound, InboundSender, Refusal } from "../contract/index.ts";
import { type Allowlist, allows, parseAllowlist } from "./allowlist.ts";
import type { IdentityRule } from "./identity.ts";
import { type AccountAccess, type PathOf, type PlaceSettings, pathsBelow, placeSettings } from "./place.ts";
import {
  botMentionRequired,
  botNotListed,
  chatKindNotHandled,
  dmDisabled,
  dmOpenWithoutStar,
  groupNotListed,
  groupPolicyDisabled,
  groupSenderNotAllowed,
  mentionActivated,
  mentionRequired,
  ownAccount,
  pairingRequired,
  placeOff,
  pressSenderNotListed,
  senderNotAllowed,
} from "./refusals.ts";

export type { AccountAccess } from "./place.ts";

export interface AuthorizeInput {
  readonly inbound: Inbound;
  readonly access: AccountAccess;
  readonly rule: IdentityRule;
  /** Configuration path of the account, such as `channels.irc`, or a function that finds the path of each option. */
  readonly path: string | PathOf;
  /** Whether this sender's pairing code was approved for this account. Called for direct messages only. */
  readonly approved: (senderId: string) => boolean | Promise<boolean>;
  /** Whether a configured mention pattern matches the text. */
  readonly mentioned: (text: string) => boolean;
  /** The mode set by `/activation`, which overrides `requireMention`. */
  readonly activation?: "always" | "mention" | undefined;
  /** The message is a control command, which a listed sender or an owner may use without a mention. */
  readonly control?: boolean;
  /** Only listed senders and owners may press buttons in groups. */
  readonly listedPresses?: boolean;
  /** The other account of this gateway that sent the message. */
  readonly sentByAccount?: string | undefined;
  /** Whether the sender is an owner. Called only if the answer matters. */
  readonly owner?: () => boolean | Promise<boolean>;
}

export type Verdict =
  /** Admitted; `code` and `path` give the reason, for the trace. */
  | { readonly pass: true; readonly code: string; readonly path?: string }
  | { readonly pass: false; readonly refusal: Refusal };

type Asked = Omit<AuthorizeInput, "path"> & { readonly pathOf: PathOf };

const pass = (code: string, path?: string): Verdict => ({ pass: true, code, path });
const refuse = (refusal: Refusal): Verdict => ({ pass: false, refusal });

/**
 * Decides whether a message is admitted. Synchronous unless a pairing must be looked up, because every message passes
 * here.
 */
export function authorize({ path, ...input }: AuthorizeInput): Verdict | Promise<Verdict> {
  const { inbound } = input;
  if (inbound.authority !== "channel") return pass(inbound.authority === "hook" ? "authenticated" : "operator");
  if (input.sentByAccount !== undefined) return refuse(ownAccount(input.sentByAccount));
  const asked = { ...input, pathOf: typeof path === "string" ? pathsBelow(path) : path };
  switch (inbound.chat.kind) {
    case "direct":
      return authorizeDirect(asked);
    case "group":
    case "channel":
      return authorizeGroup(asked);
    default:
      return refuse(chatKindNotHandled(inbound.chat.kind, asked.pathOf));
  }
}

/** Compares only ids that the platform vouches for. A message sent on behalf of a chat has none. */
function letsIn(list: Allowlist, { id, anonymous }: InboundSender): boolean {
  return allows(list, anonymous === true ? "" : id);
}

/** Whether an entry of the list is the sender's id. `*` names no one. */
function names({ ids }: Allowlist, { id, anonymous }: InboundSender): boolean {
  return anonymous !== true && ids.has(id);
}

function authorizeDirect({ inbound, access, rule, pathOf, approved }: Asked): Verdict | Promise<Verdict> {
  const policy = access.dmPolicy ?? "pairing";
  const list = parseAllowlist(access.allowFrom ?? [], rule);
  const { sender } = inbound;
  if (policy === "disabled") return refuse(dmDisabled(pathOf));
  if (policy === "open" && !list.everybody) return refuse(dmOpenWithoutStar(pathOf));
  // In a direct chat every message is for this bot, so another bot need not name it.
  if (policy === "open" && sender.isBot !== true) return pass("dm_open", pathOf(["dmPolicy"]));
  if (sender.isBot === true ? names(list, sender) : letsIn(list, sender))
    return pass("sender_allowed", pathOf(["allowFrom"]));
  const isUnknown = sender.anonymous === true || sender.id === "";
  if (policy !== "pairing" || isUnknown) return stranger(inbound, pathOf, senderNotAllowed);
  const judge = (isPaired: boolean) =>
    isPaired ? pass("sender_paired", pathOf(["dmPolicy"])) : stranger(inbound, pathOf, pairingRequired);
  const paired = approved(sender.id);
  return typeof paired === "boolean" ? judge(paired) : paired.then(judge);
}

/** `ofPerson`: the refusal of a person. */
const stranger = (inbound: Inbound, pathOf: PathOf, ofPerson: typeof senderNotAllowed): Verdict =>
  refuse(inbound.sender.isBot === true ? botNotListed(inbound, pathOf(["allowFrom"])) : ofPerson(inbound, pathOf));

function authorizeGroup(asked: Asked): Verdict | Promise<Verdict> {
  const { inbound, access, pathOf } = asked;
  const place = placeSettings(access, pathOf, inbound.chat);
  if (!place.enabled) return refuse(placeOff(place));
  if (!place.listed) return refuse(groupNotListed(inbound, place));
  const verdict = authorizeGroupSender(asked, place);
  if (!verdict.pass) return verdict;
  if (inbound.sender.isBot === true) return authorizeGroupBot(asked, place, verdict);
  const listedPress = inbound.kind === "press" && asked.listedPresses === true;
  const refusal = listedPress ? pressSenderNotListed(inbound, place) : unaddressed(asked, place);
  if (refusal === undefined) return verdict;
  if (!listedPress && asked.control !== true) return refuse(refusal);
  if (isListed(asked, place)) return verdict;
  const judge = (isOwner: boolean) => (isOwner ? verdict : refuse(refusal));
  const owner = asked.owner?.() ?? false;
  return typeof owner === "boolean" ? judge(owner) : owner.then(judge);
}

/**
 * Bots that answer each other would never end, so a bot is answered only if the operator listed it and its text names
 * this bot, whatever the place requires of people.
 */
function authorizeGroupBot({ inbound, rule, mentioned }: Asked, place: PlaceSettings, verdict: Verdict): Verdict {
  if (!names(parseAllowlist(place.allowFrom, rule), inbound.sender))
    return refuse(botNotListed(inbound, place.pathTo("allowFrom")));
  const isNamed = inbound.mentionedByName === true || mentioned(inbound.plain ?? inbound.text);
  return isNamed ? verdict : refuse(botMentionRequired());
}

/** Whether the place's list contains the sender, regardless of the place's policy. */
export function isListed(
  { inbound, rule }: Pick<Asked, "inbound" | "rule">,
  { allowFrom }: Pick<PlaceSettings, "allowFrom">,
): boolean {
  return letsIn(parseAllowlist(allowFrom, rule), inbound.sender);
}

function authorizeGroupSender(asked: Asked, place: PlaceSettings): Verdict {
  const { groupPolicy, pathTo } = place;
  if (groupPolicy === "open") return pass("group_open", pathTo("groupPolicy"));
  if (groupPolicy === "disabled") return refuse(groupPolicyDisabled(place));
  return isListed(asked, place)
    ? pass("group_sender_allowed", pathTo("allowFrom"))
    : refuse(groupSenderNotAllowed(asked.inbound, place));
}

/** The refusal of a message that must address the bot and does not. */
function unaddressed(asked: Asked, place: PlaceSettings): Refusal | undefined {
  if (isAddressed(asked)) return undefined;
  if (asked.activation === "mention") return mentionActivated();
  return place.requireMention && asked.activation === undefined ? mentionRequired(place) : undefined;
}

/** A press is always on the bot's own button, and a reaction has no text that could mention the bot. */
function isAddressed({ inbound, mentioned }: Asked): boolean {
  return (
    inbound.mention ||
    inbound.kind === "press" ||
    inbound.kind === "reaction" ||
    mentioned(inbound.plain ?? inbound.text)
  );
}
