/** The text of each refusal: the option that caused it, its configuration path, and how to change it. */
import { type Inbound, type InboundSender, product, programCommand, type Refusal } from "../contract/index.ts";
import { maxPending } from "./pairing.ts";
import type { PathOf, PlaceSettings } from "./place.ts";

const nobody = "Messages sent on behalf of a chat cannot be attributed to a user.";

export const chatKindNotHandled = (kind: string, pathOf: PathOf): Refusal => ({
  code: "chat_kind_not_handled",
  detail: `There are no rules for a ${kind} chat.`,
  path: pathOf([]),
  hint: "Write to the bot in a direct chat or in a group.",
});

export const dmDisabled = (pathOf: PathOf): Refusal => ({
  code: "dm_disabled",
  detail: "Direct messages are switched off.",
  path: pathOf(["dmPolicy"]),
  hint: `Set ${pathOf(["dmPolicy"])} to "pairing" or "allowlist".`,
});

export const dmOpenWithoutStar = (pathOf: PathOf): Refusal => ({
  code: "dm_open_without_star",
  detail: 'The policy "open" lets nobody in until allowFrom says so.',
  path: pathOf(["allowFrom"]),
  hint: `Add "*" to ${pathOf(["allowFrom"])}.`,
});

export const senderNotAllowed = ({ sender }: Inbound, pathOf: PathOf): Refusal => ({
  code: "sender_not_allowed",
  detail: sender.anonymous === true ? nobody : `Sender ${sender.id} is not in the allowlist.`,
  path: pathOf(["allowFrom"]),
  hint: addSender(sender, pathOf(["allowFrom"])),
});

export const pairingRequired = ({ sender }: Inbound, pathOf: PathOf): Refusal => ({
  code: "pairing_required",
  detail: `Sender ${sender.id} is not paired.`,
  path: pathOf(["dmPolicy"]),
  hint: `Approve the pairing code. To admit the sender without one: ${addSender(sender, pathOf(["allowFrom"]))}`,
});

export const groupNotListed = ({ chat }: Inbound, { pathTo }: PlaceSettings): Refusal => ({
  code: "group_not_listed",
  detail: `Group ${chat.id} is not listed.`,
  path: pathTo("listed"),
  hint: `Add "${chat.id}": {} to ${pathTo("listed")}.`,
});

export const placeOff = ({ off, pathTo }: PlaceSettings): Refusal => ({
  code: `${off ?? "group"}_disabled`,
  detail: `This ${off ?? "group"} is switched off.`,
  path: pathTo("enabled"),
  hint: `Remove ${pathTo("enabled")}.`,
});

export const groupPolicyDisabled = ({ pathTo }: PlaceSettings): Refusal => ({
  code: "group_policy_disabled",
  detail: "Group messages are switched off here.",
  path: pathTo("groupPolicy"),
  hint: `Set ${pathTo("groupPolicy")} to "allowlist".`,
});

export const groupSenderNotAllowed = ({ sender }: Inbound, { pathTo }: PlaceSettings): Refusal => ({
  code: "group_sender_not_allowed",
  detail: sender.anonymous === true ? nobody : `Sender ${sender.id} may not talk to the bot in this group.`,
  path: pathTo("allowFrom"),
  hint:
    sender.anonymous === true
      ? `Only ${pathTo("groupPolicy")} "open", or "*" in ${pathTo("allowFrom")}, admits them.`
      : addSender(sender, pathTo("allowFrom")),
});

export const pressSenderNotListed = ({ sender }: Inbound, { pathTo }: PlaceSettings): Refusal => ({
  code: "press_sender_not_listed",
  detail:
    sender.anonymous === true
      ? nobody
      : `Sender ${sender.id} is not listed, and buttons in groups are for listed senders and owners.`,
  path: pathTo("allowFrom"),
  hint:
    `${addSender(sender, pathTo("allowFrom"))} To open buttons to everyone in the group, set ` +
    `capabilities.inlineButtons to "all".`,
});

export const mentionRequired = ({ pathTo }: PlaceSettings): Refusal => ({
  code: "mention_required",
  outcome: "silent",
  detail: "The bot was not mentioned.",
  path: pathTo("requireMention"),
  hint: `Mention the bot, reply to it, or set ${pathTo("requireMention")} to false.`,
});

export const mentionActivated = (): Refusal => ({
  code: "mention_required",
  outcome: "silent",
  detail: "The bot was not mentioned, and /activation mention is in effect here.",
  hint: "Mention the bot, reply to it, or mention it with /activation always.",
});

/** The code of a message without a mention: the next turn of the group reads it as context. */
export const botMentionRequired = (): Refusal => ({
  code: "mention_required",
  outcome: "silent",
  detail: "The sender is a bot, and its text does not name this bot. A reply is not enough.",
  hint: "Let the other bot mention this bot by its name.",
});

export const botNotListed = ({ sender }: Inbound, list: string): Refusal => ({
  code: "bot_not_listed",
  outcome: "silent",
  detail: `Sender ${sender.id} is a bot, and bots are answered only if their id is listed. "*" does not list bots.`,
  path: list,
  hint: `To let this bot talk to yours: ${addSender(sender, list)}`,
});

export const botTurnsUsed = (limit: number, path: string): Refusal => ({
  code: "bot_turns_used",
  outcome: "silent",
  detail: `Bots have caused ${limit} turns in this chat since a person last wrote.`,
  path,
  hint: `Write in the chat, or raise ${path}.`,
});

export const ownAccount = (account: string): Refusal => ({
  code: "own_account",
  outcome: "silent",
  detail: `The account ${account} of this gateway sent the message. Accounts of one gateway do not answer each other.`,
});

export const accountGone = ({ channel, account }: Inbound): Refusal => ({
  code: "account_gone",
  detail: `The account ${account} is no longer configured.`,
  path: `channels.${channel}`,
  hint: "Configure it again to answer the waiting messages.",
});

export const commandForPeople = (name: string): Refusal => ({
  code: "command_needs_sender",
  detail: `/${name} is for users. A message sent on behalf of a chat cannot be attributed to a user.`,
  hint: "Send it under your own name.",
  notice: `\`/${name}\` works for people only. Send it under your own name.`,
});

export const commandForOwner = (name: string, { sender }: Inbound, path: string): Refusal => ({
  code: "owner_required",
  detail: `/${name} is for owners only; sender ${sender.id} is not an owner.`,
  path,
  hint: addSender(sender, path),
  notice: `Only the owner of this bot may use \`/${name}\`.`,
});

export const ownerIdWeak = (name: string, { channel, sender }: Inbound): Refusal => ({
  code: "owner_identity_weak",
  detail: `/${name} is for owners only, and another person can take over the id ${sender.id}, so it is never an owner.`,
  hint:
    `Use an id of ${channel} that belongs to one person for good, such as that of a registered account, ` +
    "or use the command line.",
  notice:
    `Only an owner may use \`/${name}\`, and your id, \`${sender.id}\`, cannot be one: another person ` +
    "could take it over.",
});

/** Why an approval expires, for the operator. */
export const weakApproval = ". The approval expires after 24 hours, because another person can take this id over.";

export const commandForListed = (name: string, { sender }: Inbound, { pathTo }: PlaceSettings): Refusal => ({
  code: "command_sender_not_listed",
  detail: `/${name} in a group is for listed senders and owners, and sender ${sender.id} is neither.`,
  path: pathTo("allowFrom"),
  hint: addSender(sender, pathTo("allowFrom")),
  notice: `You may not use \`/${name}\` in this group. Ask the owner of the bot to add your id, \`${sender.id}\`.`,
});

export const pairingFull = ({ channel, sender }: Inbound, refusal: Refusal): Refusal => ({
  ...refusal,
  code: "pairing_full",
  detail: `Sender ${sender.id} is not paired, and ${maxPending} others asked for approval within the last ten minutes.`,
  hint: `Approve or deny them: ${programCommand} pairing list ${channel}`,
});

/** What a stranger reads after `/whoami`. */
export const idNotice = ({ id }: InboundSender): string => `Your id: \`${id}\``;

/** What a stranger reads who writes again before the approval. */
export const pairingWaits =
  "I wait for the owner's approval. When you are approved, I answer the last message that you wrote within the hour.";

/** The text that a stranger reads. The code and the command are on their own lines, so that they can be copied. */
export function pairingNotice({ channel, account, sender }: Inbound, code: string): string {
  const named = account === "default" ? "" : ` --account ${account}`;
  return [
    `**${product.name}**: you are not allowed to talk to this bot yet.`,
    `Your id: \`${sender.id}\``,
    `Pairing code: \`${code}\``,
    `The owner of the bot can approve you with:\n\`\`\`\n${programCommand} pairing approve ${channel} ` +
      `${code}${named}\n\`\`\`\nThe code is valid for one hour.`,
  ].join("\n\n");
}

function addSender({ id }: InboundSender, list: string): string {
  return id === "" ? `Only "*" in ${list} admits a sender without an id.` : `Add "${id}" to ${list}.`;
}
