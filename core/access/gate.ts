/**
 * Collects what authorize() needs, decides who is an owner, and gives strangers a pairing code if the policy allows it.
 */

import type { GatewayConfig } from "../config/index.ts";
import { type Address, type Inbound, programCommand, type Refusal } from "../contract/index.ts";
import type { CommandRole } from "../sdk/contract.ts";
import { passedBy, type Visit } from "../stations/index.ts";
import { buttonScope } from "./button-scope.ts";
import { type IdentityRule, identityRule } from "./identity.ts";
import { createMentionMatcher, type MentionMatcher, mentionPatterns } from "./mention.ts";
import { createOwners, type Owners } from "./owners.ts";
import type { Pairing } from "./pairing.ts";
import { type AccountAccess, type PathOf, type PlaceSettings, placeSettings } from "./place.ts";
import { authorize, isListed, type Verdict } from "./policy.ts";
import {
  accountGone,
  commandForListed,
  commandForOwner,
  commandForPeople,
  ownerIdWeak,
  pairingFull,
  pairingNotice,
  pairingWaits,
  weakApproval,
} from "./refusals.ts";
import { settingPath } from "./setting-path.ts";

/** What the gate needs to know about an open account. */
export interface GatedAccount {
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface GateOptions {
  readonly config: () => GatewayConfig;
  readonly account: (channel: string, account: string) => GatedAccount | undefined;
  readonly pairing: Pairing;
  /** The other account of this gateway that sent a message; `undefined` if none did. */
  readonly sentByAccount: (inbound: Inbound) => string | undefined | Promise<string | undefined>;
  /** The agent that would answer; its mention patterns apply. */
  readonly agentFor: (inbound: Inbound) => string;
  /** The mode that `/activation` set in this group's session; `undefined` if it was not used. */
  readonly activation: (inbound: Inbound) => "always" | "mention" | undefined;
  /** Whether a message is a control command. */
  readonly isControl: (inbound: Inbound) => boolean;
  readonly onInvalidPattern: (pattern: string, invalid: { readonly path: string; readonly reason: string }) => void;
}

export interface Gate extends Owners {
  /**
   * Decides whether a message is admitted and stores the reason in the visit. It has no other effect, so it may also
   * run outside the lanes.
   */
  check(inbound: Inbound, visit?: Visit): Refusal | undefined | Promise<Refusal | undefined>;
  /**
   * Whether a direct chat's policy still admits its sender, for replies to webhooks and heartbeats. False for a sender
   * whose approval was revoked, or whom the list no longer names. True while the account is not open.
   */
  admits(recipient: Address, senderId: string): Promise<boolean>;
  /** Finds the configuration path of an option of the account. */
  pathsOf(at: Pick<Inbound, "channel" | "account">): PathOf;
  /** Adds a pairing code to the refusal if the policy offers one. The sender gets the same code until it expires. */
  offer(inbound: Inbound, refusal: Refusal): Promise<Refusal>;
  /** Whether another person can take over the sender's id. */
  hasWeakId(inbound: Inbound): Promise<boolean>;
  /** Whether an admitted sender may use a command with this role. */
  checkCommand(
    inbound: Inbound,
    command: { readonly name: string; readonly role: CommandRole },
  ): Promise<Refusal | undefined>;
}

/**
 * The refusals of one sender. The others close the direct chats of an account for everyone, which does not concern its
 * recipients.
 */
const refusesSender: ReadonlySet<string> = new Set(["sender_not_allowed", "pairing_required"]);

export function createGate(options: GateOptions): Gate {
  const { config, account, pairing, agentFor, activation, isControl } = options;
  // Matchers are cached by pattern list, because compiling is expensive and there are few lists.
  const matchers = new Map<string, MentionMatcher>();

  function matcherFor(inbound: Inbound): MentionMatcher {
    const { patterns, path } = mentionPatterns(config(), agentFor(inbound));
    const key = JSON.stringify(patterns);
    let matcher = matchers.get(key);
    if (matcher === undefined) {
      if (matchers.size > 100) matchers.clear();
      matcher = createMentionMatcher(patterns);
      for (const { pattern, reason } of matcher.invalid) options.onInvalidPattern(pattern, { path, reason });
      matchers.set(key, matcher);
    }
    return matcher;
  }

  function pathsOf({ channel, account: id }: Pick<Inbound, "channel" | "account">): PathOf {
    const { channels } = config();
    return settingPath(Object.hasOwn(channels, channel) ? channels[channel] : undefined, channel, id);
  }

  function refusalOf(verdict: Verdict, visit: Visit | undefined): Refusal | undefined {
    if (!verdict.pass) return verdict.refusal;
    visit?.set(passedBy, verdict);
    return undefined;
  }

  const { isOwner, owners } = createOwners({ config, account, pairing });

  async function hasWeakId({ channel, account: id, sender }: Inbound): Promise<boolean> {
    return (await account(channel, id)?.identity.isWeak(sender.id)) === true;
  }

  /** The place whose list must name the sender but does not; `undefined` if the sender passes. */
  function unlistedPlace(inbound: Inbound): PlaceSettings | undefined {
    if (inbound.authority !== "channel" || inbound.chat.kind === "direct") return undefined;
    const live = account(inbound.channel, inbound.account);
    const place = placeSettings(live?.access ?? {}, pathsOf(inbound), inbound.chat);
    return isListed({ inbound, rule: live?.identity ?? identityRule(inbound.channel) }, place) ? undefined : place;
  }

  function check(
    inbound: Inbound,
    visit: Visit | undefined,
    sentByAccount: string | undefined,
  ): ReturnType<Gate["check"]> {
    const live = account(inbound.channel, inbound.account);
    if (inbound.authority === "channel" && live === undefined) return accountGone(inbound);
    const verdict = authorize({
      inbound,
      access: live?.access ?? {},
      rule: live?.identity ?? identityRule(inbound.channel),
      path: pathsOf(inbound),
      approved: (senderId) => pairing.isPaired(inbound.channel, inbound.account, senderId),
      mentioned: (text) => matcherFor(inbound).matches(text),
      activation: inbound.chat.kind === "direct" ? undefined : activation(inbound),
      control: inbound.chat.kind !== "direct" && isControl(inbound),
      listedPresses: buttonScope(live?.options?.capabilities) === "allowlist",
      sentByAccount,
      owner: () => isOwner(inbound),
    });
    return verdict instanceof Promise ? verdict.then((found) => refusalOf(found, visit)) : refusalOf(verdict, visit);
  }

  async function refuseCommand(
    inbound: Inbound,
    { name, role }: Parameters<Gate["checkCommand"]>[1],
  ): Promise<Refusal | undefined> {
    if (role === "anyone") return undefined;
    if (inbound.sender.anonymous === true) return commandForPeople(name);
    if (role === "allowed") {
      const place = unlistedPlace(inbound);
      return place === undefined || (await isOwner(inbound)) ? undefined : commandForListed(name, inbound, place);
    }
    if (await isOwner(inbound)) return undefined;
    if (await hasWeakId(inbound)) return ownerIdWeak(name, inbound);
    const listed = config().commands.ownerAllowFrom !== undefined;
    return commandForOwner(name, inbound, listed ? "commands.ownerAllowFrom" : pathsOf(inbound)(["allowFrom"]));
  }

  return {
    isOwner,
    owners,
    hasWeakId,
    pathsOf,
    check(inbound, visit) {
      const sentBy = options.sentByAccount(inbound);
      return sentBy instanceof Promise
        ? sentBy.then((found) => check(inbound, visit, found))
        : check(inbound, visit, sentBy);
    },
    async admits({ channel, account: id, chat, thread }, senderId) {
      const live = account(channel, id);
      if (live === undefined) return true;
      const { access, identity: rule } = live;
      const approved = (sender: string) => pairing.isPaired(channel, id, sender);
      const content = {
        kind: "message",
        text: "",
        media: [],
        mention: false,
        timestamp: 0,
        authority: "channel",
      } as const;
      const place = { id: chat, kind: "direct", thread } as const;
      const inbound: Inbound = { id: "", channel, account: id, chat: place, sender: { id: senderId }, ...content };
      const verdict = await authorize({
        inbound,
        access,
        rule,
        path: pathsOf({ channel, account: id }),
        approved,
        mentioned: () => false,
      });
      return verdict.pass || !refusesSender.has(verdict.refusal.code);
    },
    async offer(inbound, refusal) {
      const { channel, chat, sender } = inbound;
      // Only a message requests a code. Reactions, button presses and edits of strangers are ignored.
      if (refusal.code !== "pairing_required" || inbound.kind !== "message") return refusal;
      const weak = await hasWeakId(inbound);
      const offer = await pairing.request({
        address: { channel, account: inbound.account, chat: chat.id, thread: chat.thread },
        senderId: sender.id,
        unit: inbound.id,
        weak,
        senderName: sender.name,
      });
      if (offer === null) return pairingFull(inbound, refusal);
      const limit = weak ? weakApproval : "";
      const explained = {
        ...refusal,
        hint: `Approve the sender: ${programCommand} pairing approve ${channel} ${offer.code}${limit}`,
      };
      if (offer.notify) return { ...explained, notice: pairingNotice(inbound, offer.code) };
      return offer.waits === true ? { ...explained, notice: pairingWaits } : explained;
    },
    async checkCommand(inbound, command) {
      const refused = await refuseCommand(inbound, command);
      if (refused === undefined || inbound.kind !== "press" || inbound.chat.kind === "direct") return refused;
      // The channel shows the presser a notice at once. A message would reach the whole group, once for each press.
      const { notice: _, ...silent } = refused;
      return silent;
    },
  };
}
