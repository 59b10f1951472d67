/** Codes of the gate: why a message was refused or admitted. */
import type { CodeTable } from "./code.ts";

export const accessCodes = {
  allowed: { meaning: "The access rules let the sender in.", hint: "" },
  dm_open: { meaning: 'Everyone may send direct messages: dmPolicy is "open".', hint: "" },
  group_open: { meaning: 'Everyone in the group may talk to the bot: groupPolicy is "open".', hint: "" },
  group_sender_allowed: { meaning: "The sender is listed in allowFrom of the group or the account.", hint: "" },
  authenticated: {
    meaning: "No person sent the event: its token, its signature or its plugin was checked when it was accepted.",
    hint: "",
  },
  operator: { meaning: "The operator of the gateway needs no further permission.", hint: "" },
  sender_allowed: { meaning: "The sender is listed in allowFrom.", hint: "" },
  sender_paired: { meaning: "The sender is paired.", hint: "" },
  account_gone: {
    meaning: "The account is no longer configured.",
    hint: "Configure the account again to answer the messages that wait for it.",
    outcome: "refused",
  },
  bot_not_listed: {
    meaning: "The sender is a bot that no list names. Bots that answer each other would never end.",
    hint: 'Add the id of the bot to allowFrom of the group or the account; "*" does not list bots.',
    outcome: "silent",
  },
  bot_turns_used: {
    meaning: "Bots have caused as many turns in this chat as bots.limit allows since a person last wrote.",
    hint: "Write in the chat, or raise bots.limit of the account.",
    outcome: "silent",
  },
  chat_kind_not_handled: {
    meaning: "There are no access rules for this kind of chat.",
    hint: "Write to the bot in a direct chat or in a group.",
    outcome: "refused",
  },
  command_needs_sender: {
    meaning: "The command was sent on behalf of a chat, not by a user.",
    hint: "Send the command under your own name.",
    outcome: "refused",
  },
  command_sender_not_listed: {
    meaning: "The sender may not use commands in this group.",
    hint: "Add the sender's id to allowFrom of the group or the account.",
    outcome: "refused",
  },
  dm_disabled: {
    meaning: "Direct messages are switched off for this account.",
    hint: 'Set dmPolicy to "pairing" or "allowlist".',
    outcome: "refused",
  },
  dm_open_without_star: {
    meaning: 'dmPolicy is "open", but allowFrom does not contain "*".',
    hint: 'Add "*" to allowFrom.',
    outcome: "refused",
  },
  gate_failed: {
    meaning: "A plugin failed while it checked the message, so the message was refused.",
    hint: "Correct or disable the plugin.",
    outcome: "refused",
  },
  group_disabled: {
    meaning: "The group is switched off.",
    hint: "Remove enabled: false from the group's settings.",
    outcome: "refused",
  },
  group_not_listed: {
    meaning: "The group is not listed in the account's groups.",
    hint: "Add the group's id to groups.",
    outcome: "refused",
  },
  group_policy_disabled: {
    meaning: "Group messages are switched off for this account.",
    hint: 'Set groupPolicy to "allowlist".',
    outcome: "refused",
  },
  group_sender_not_allowed: {
    meaning: "The sender may not talk to the bot in this group.",
    hint: "Add the sender's id to allowFrom of the group.",
    outcome: "refused",
  },
  mention_required: {
    meaning: "The bot was not mentioned, and the group requires it.",
    hint: "Mention the bot, reply to it, or set requireMention to false.",
    outcome: "silent",
  },
  own_account: {
    meaning: "Another account of this gateway sent the message. Accounts of one gateway do not answer each other.",
    hint: "",
    outcome: "silent",
  },
  owner_identity_weak: {
    meaning:
      "The command is for owners only, and another person can take over the sender's id, so it is never an owner.",
    hint:
      "Use an id that belongs to one person for good, such as that of a registered account, or use the " +
      "command line.",
    outcome: "refused",
  },
  owner_required: {
    meaning: "The command is for owners only.",
    hint: "Add the sender's id to the owners.",
    outcome: "refused",
  },
  pairing_full: {
    meaning: "The sender is not paired, and 100 others asked for approval within the last ten minutes.",
    hint: "Approve or deny the waiting requests: `{command} pairing list`.",
    outcome: "refused",
  },
  pairing_required: {
    meaning: "The sender is not paired yet.",
    hint: "Approve the pairing code, or add the sender's id to allowFrom.",
    outcome: "refused",
  },
  press_sender_not_listed: {
    meaning: "The sender may not press buttons in this group.",
    hint: 'Add the sender\'s id to allowFrom, or set capabilities.inlineButtons to "all".',
    outcome: "refused",
  },
  sender_not_allowed: {
    meaning: "The sender is not in the allowlist.",
    hint: "Add the sender's id to allowFrom.",
    outcome: "refused",
  },
  topic_disabled: {
    meaning: "The topic is switched off.",
    hint: "Remove enabled: false from the topic's settings.",
    outcome: "refused",
  },
} as const satisfies CodeTable;
