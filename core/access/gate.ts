/** Asks authorize() what it needs to know, says who is owner, and hands a stranger a pairing code where the policy says so. */

import type { GatewayConfig } from "../config/index.ts";
import { type Inbound, programCommand, type Refusal } from "../contract/index.ts";
import type { CommandRole } from "../sdk/contract.ts";
import { passedBy, type Visit } from "../stations/index.ts";
import { type IdentityRule, identityRule, parseAllowlistEntry } from "./allowlist.ts";
import { buttonScope } from "./button-scope.ts";
import { createMentionMatcher, type MentionMatcher, mentionPatterns } from "./mention.ts";
import type { Pairing } from "./pairing.ts";
import { type AccountAccess, type PathOf, type PlaceSettings, placeSettings } from "./place.ts";
import { authorize, isListed, type Verdict } from "./policy.ts";
import { accountGone, commandForListed, commandForOwner, commandForPeople, pairingFull, pairingNotice } from "./refusals.ts";
import { settingPath } from "./setting-path.ts";

/** What the gate needs to know of an open account. */
export interface GatedAccount {
  readonly access: AccountAccess;
  readonly identity: IdentityRule;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface GateOptions {
  readonly config: () => GatewayConfig;
  readonly account: (channel: string, account: string) => GatedAccount | undefined;
  readonly pairing: Pairing;
  /** The agent that would answer, for its mention patterns. */
  readonly agentFor: (inbound: Inbound) => string;
  /** What `/activation` said in the session of this group; `undefined`: nothing. */
  readonly activation: (inbound: Inbound) => "always" | "mention" | undefined;
  /** Whether a message is a control command. */
  readonly isControl: (inbound: Inbound) => boolean;
  readonly onInvalidPattern: (pattern: string, invalid: { readonly path: string; readonly reason: string }) => void;
}

export interface Gate {
  /** Whether it may come in; what let it in is left in the visit. Changes nothing else: it may be asked outside the lanes too. */
  check(inbound: Inbound, visit?: Visit): Refusal | undefined | Promise<Refusal | undefined>;
  /** Where in the file an option of its account stands. */
  pathsOf(at: Pick<Inbound, "channel" | "account">): PathOf;
  /** The refusal with a pairing code for the sender, where the policy hands one out; it is the same one while it lives. */
  offer(inbound: Inbound, refusal: Refusal): Promise<Refusal>;
  /** Whether a sender who was let in may use a command with this role. */
  checkCommand(inbound: Inbound, command: { readonly name: string; readonly role: CommandRole }): Promise<Refusal | undefined>;
  /**
   * `commands.ownerAllowFrom` when it is set; else the explicit ids of the account's `allowFrom`, and whom pairing made owner of that
   * account.
   */
  isOwner(inbound: Inbound): Promise<boolean>;
}

export function createGate({ config, account, pairing, agentFor, activation, isControl, onInvalidPattern }: GateOptions): Gate {
  // One matcher for each list of patterns: compiling is dear, and lists are few.
  const matchers = new Map<string, MentionMatcher>();

  function matcherFor(inbound: Inbound): MentionMatcher {
    const { patterns, path } = mentionPatterns(config(), agentFor(inbound));
    const key = JSON.stringify(patterns);
    let matcher = matchers.get(key);
    if (matcher === undefined) {
      if (matchers.size > 100) matchers.clear();
      matcher = createMentionMatcher(patterns);
      for (const { pattern, reason } of matcher.invalid) onInvalidPattern(pattern, { path, reason });
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

  async function isOwner(inbound: Inbound): Promise<boolean> {
    const { authority, channel, sender } = inbound;
    if (authority === "operator") return true;
    const live = account(channel, inbound.account);
    if (authority !== "channel" || live === undefined || sender.id === "" || sender.anonymous === true) return false;
    const listed = config().commands.ownerAllowFrom;
    // A star may let every sender in, but it makes none an owner.
    const ids = (listed ?? live.access.allowFrom ?? []).map((entry) => parseAllowlistEntry(entry, live.identity));
    if (ids.includes(sender.id)) return true;
    return listed === undefined && (await pairing.owners(channel, inbound.account)).includes(sender.id);
  }

  /** The place whose list has to name the sender and does not; `undefined`: nothing more is asked of the sender. */
  function unlistedPlace(inbound: Inbound): PlaceSettings | undefined {
    if (inbound.authority !== "channel" || inbound.chat.kind === "direct") return undefined;
    const live = account(inbound.channel, inbound.account);
    const place = placeSettings(live?.access ?? {}, pathsOf(inbound), inbound.chat);
    return isListed({ inbound, rule: live?.identity ?? identityRule(inbound.channel) }, place) ? undefined : place;
  }

  return {
    isOwner,
    pathsOf,
    check(inbound, visit) {
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
        owner: () => isOwner(inbound),
      });
      return verdict instanceof Promise ? verdict.then((found) => refusalOf(found, visit)) : refusalOf(verdict, visit);
    },
    async offer(inbound, refusal) {
      const { channel, chat, sender } = inbound;
      // Only a message asks for a code; a reaction, a press or an edit of a stranger is ignored.
      if (refusal.code !== "pairing_required" || inbound.kind !== "message" || sender.isBot === true) return refusal;
      const offer = await pairing.request({
        address: { channel, account: inbound.account, chat: chat.id, ...(chat.thread === undefined ? {} : { thread: chat.thread }) },
        senderId: sender.id,
        unit: inbound.id,
        ...(sender.name === undefined ? {} : { senderName: sender.name }),
      });
      if (offer === null) return pairingFull(inbound, refusal);
      const told = { ...refusal, hint: `Let the sender in: ${programCommand} pairing approve ${channel} ${offer.code}` };
      return offer.tell ? { ...told, notice: pairingNotice(inbound, offer.code) } : told;
    },
    async checkCommand(inbound, { name, role }) {
      if (role === "anyone") return undefined;
      if (inbound.sender.anonymous === true) return commandForPeople(name);
      if (role === "allowed") {
        const place = unlistedPlace(inbound);
        return place === undefined || (await isOwner(inbound)) ? undefined : commandForListed(name, inbound, place);
      }
      if (await isOwner(inbound)) return undefined;
      const listed = config().commands.ownerAllowFrom !== undefined;
      return commandForOwner(name, inbound, listed ? "commands.ownerAllowFrom" : pathsOf(inbound)(["allowFrom"]));
    },
  };
}
