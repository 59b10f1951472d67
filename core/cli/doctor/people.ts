/**
 * Checks who may write, and who shares a conversation: entries that admit no sender, empty lists, one conversation for
 * several people.
 */
import { ignoredEntries, parseAllowlist, weakEntries, weakIds } from "../../access/allowlist.ts";
import { placeSettings } from "../../access/place.ts";
import { settingPath } from "../../access/setting-path.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { ConfiguredAccount } from "../accounts.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok, orOk } from "./finding.ts";
import { replaceEntry } from "./repairs.ts";

type ReadyAccount = ConfiguredAccount & { readonly settings: NonNullable<ConfiguredAccount["settings"]> };

export const ready = (accounts: readonly ConfiguredAccount[]): readonly ReadyAccount[] =>
  accounts.filter((account): account is ReadyAccount => account.settings !== undefined);

export const pathsOf = ({ loaded }: CheckInput, { channel, account }: Pick<ConfiguredAccount, "channel" | "account">) =>
  settingPath(loaded.config.channels[channel], channel, account);

export const ruleOf = ({ settings }: ReadyAccount) => settings.identity;

interface Ignored {
  readonly account: ReadyAccount;
  readonly path: string;
  readonly entry: string;
}

/** Lists each entry once, even if several accounts inherit it. */
export function ignoredOf(input: CheckInput): readonly Ignored[] {
  const found = ready(input.accounts).flatMap((account) =>
    ignoredEntries(account.settings.access, ruleOf(account), pathsOf(input, account)).map((one) => ({
      account,
      ...one,
    })),
  );
  return [...new Map(found.map((one) => [`${one.path} ${one.entry}`, one])).values()];
}

export async function checkAllowlists(input: CheckInput): Promise<readonly Finding[]> {
  const check = "allowlists";
  const ignored = ignoredOf(input).map(({ account, path, entry }): Finding => {
    const shown = JSON.stringify(visibleLine(entry, 80));
    const reason = `${shown} in ${path} is not an id, so it admits no one`;
    const report = input.probes.find((probe) => probe.channel === account.channel && probe.account === account.account);
    const asked = report?.names.find(({ name }) => name === entry);
    if (asked?.id === undefined) {
      const why = asked?.reason === undefined ? "" : ` It could not be looked up: ${visibleLine(asked.reason)}.`;
      return {
        check,
        verdict: "warn",
        path,
        reason,
        fix: `Use the sender's id. The refusal of a message contains it, and /whoami prints it.${why}`,
      };
    }
    const repair = replaceEntry(input, { path, entry, id: asked.id });
    return {
      check,
      verdict: "warn",
      path,
      reason: `${reason}; its current id is ${asked.id}`,
      fix: `Use ${asked.id} instead, because another person can take over a name.`,
      repair,
    };
  });
  const found = [
    ...ignored,
    ...ready(input.accounts).flatMap((account) => shutOut(input, account)),
    ...namedOwners(input),
    ...(await takenOver(input)),
  ];
  return orOk(found, check, "every entry is an id, and no required list is empty");
}

/** Places that look open but admit no sender. */
function shutOut(input: CheckInput, account: ReadyAccount): readonly Finding[] {
  const { access } = account.settings;
  const pathOf = pathsOf(input, account);
  const rule = ruleOf(account);
  const nobody = (senders: readonly (string | number)[]) => {
    const { everybody, ids } = parseAllowlist(senders, rule);
    return !everybody && ids.size === 0;
  };
  const found: Finding[] = [];
  const name = `${account.channel}:${account.account}`;
  const check = "allowlists";
  if (access.dmPolicy === "allowlist" && nobody(access.allowFrom ?? [])) {
    const path = pathOf(["allowFrom"]);
    const reason =
      `no one may send direct messages to ${name}: ${pathOf(["dmPolicy"])} is allowlist, and ` + `${path} lists no one`;
    found.push({ check, verdict: "warn", path, reason, fix: `Name senders in ${path}, or set the policy to pairing.` });
  }
  for (const id of Object.keys(access.groups ?? {})) {
    const place = placeSettings(access, pathOf, { id, kind: "group" });
    if (!place.enabled || place.groupPolicy !== "allowlist" || !nobody(place.allowFrom)) continue;
    const path = place.pathTo("allowFrom");
    const reason =
      `no one may write in the group ${visibleLine(id, 80)} of ${name}: ` +
      `${place.pathTo("groupPolicy")} is allowlist, and ${path} lists no one`;
    found.push({
      check,
      verdict: "warn",
      path,
      reason,
      fix: `Name senders in ${path}, or set ${place.pathTo("groupPolicy")} to open.`,
    });
  }
  return found;
}

/** Owners are given as ids too. */
function namedOwners({ loaded, accounts }: CheckInput): readonly Finding[] {
  const path = "commands.ownerAllowFrom";
  const rules = ready(accounts).map(ruleOf);
  if (rules.length === 0) return [];
  const listed = loaded.config.commands.ownerAllowFrom ?? [];
  const unknown = listed.filter((entry) => rules.every((rule) => parseAllowlist([entry], rule).ids.size === 0));
  return unknown.map((entry): Finding => {
    const reason =
      `${JSON.stringify(visibleLine(String(entry), 80))} in ${path} is not an id of any ` +
      "channel, so it makes no one owner";
    return { check: "allowlists", verdict: "warn", path, reason, fix: "Use the sender's id: /whoami prints it." };
  });
}

/** Entries that another person can take over. Each once, although several accounts inherit it. */
async function takenOver(input: CheckInput): Promise<readonly Finding[]> {
  const accounts = ready(input.accounts);
  const path = "commands.ownerAllowFrom";
  const listed = input.loaded.config.commands.ownerAllowFrom ?? [];
  const weak = accounts.map(async (account) => {
    const owners = (await weakIds(listed, ruleOf(account))).map((entry) => ({ path, entry }));
    return { owners, senders: await weakEntries(account.settings.access, ruleOf(account), pathsOf(input, account)) };
  });
  const judged = await Promise.all(weak);
  const found = [...judged.flatMap(({ owners }) => owners), ...judged.flatMap(({ senders }) => senders)].map(
    ({ path: at, entry }): Finding => {
      const lets = at === path ? "it makes no one owner" : "its next holder is admitted too, and it makes no one owner";
      const reason = `another person can take over ${JSON.stringify(visibleLine(entry, 80))} in ${at}: ${lets}`;
      return {
        check: "allowlists",
        verdict: "warn",
        path: at,
        reason,
        fix: "Use an id that no other person can take over.",
      };
    },
  );
  return [...new Map(found.map((one) => [one.reason, one])).values()];
}

/** Open access can be intended, but is a reason to review what the agent may do. */
export function checkStrangers(input: CheckInput): readonly Finding[] {
  const check = "strangers";
  const found = ready(input.accounts).flatMap((account): readonly Finding[] => {
    const { access } = account.settings;
    const pathOf = pathsOf(input, account);
    const name = `${account.channel}:${account.account}`;
    const fix = "If this is not intended, list the senders; if it is, limit what the agent can do.";
    const everybody = (senders: readonly (string | number)[]) => parseAllowlist(senders, ruleOf(account)).everybody;
    const direct = access.dmPolicy === "open" && everybody(access.allowFrom ?? []);
    // A group that the configuration does not name, if such groups are admitted: any user may add the bot to one.
    const group = placeSettings(access, pathOf, { id: "", kind: "group" });
    const lets = group.groupPolicy === "open" || (group.groupPolicy === "allowlist" && everybody(group.allowFrom));
    const anywhere = group.listed && group.enabled && lets;
    return [
      ...(direct
        ? [{ path: pathOf(["dmPolicy"]), reason: `anyone who finds ${name} may send it direct messages` }]
        : []),
      ...(anywhere
        ? [{ path: group.pathTo("groupPolicy"), reason: `anyone who adds ${name} to a group may talk to it there` }]
        : []),
    ].map((one) => ({ check, verdict: "warn", fix, ...one }));
  });
  return orOk(found, check, "only configured or approved senders are admitted");
}

/** Other bots in open groups: they are not answered, but a list that names one lets it talk to this bot. */
export function checkBots(input: CheckInput): readonly Finding[] {
  const check = "other bots";
  const { state } = input;
  const seen = state === undefined || state instanceof HostError ? [] : state.botsSeen;
  const found = ready(input.accounts).flatMap((account) =>
    seen.flatMap(({ channel, account: id, chat, title, bots }): readonly Finding[] => {
      if (channel !== account.channel || id !== account.account) return [];
      const place = placeSettings(account.settings.access, pathsOf(input, account), { id: chat, kind: "group" });
      if (place.groupPolicy !== "open") return [];
      const ids = `${bots.length === 1 ? "the bot" : "the bots"} ${bots.map((bot) => visibleLine(bot, 40)).join(", ")}`;
      const where =
        `${title === undefined ? "" : `${visibleLine(title, 60)}, `}${channel}:${id} ` + `${visibleLine(chat, 80)}`;
      const reason =
        `in the open group ${where}, ${ids} wrote; bots are not answered unless ` +
        `${place.pathTo("allowFrom")} names them`;
      const fix = `To close the group to strangers, set ${place.pathTo("groupPolicy")} to allowlist.`;
      return [{ check, verdict: "warn", path: place.pathTo("groupPolicy"), reason, fix }];
    }),
  );
  return orOk(found, check, "no other bot has written in an open group");
}

/** If all direct chats share one conversation, the agent may repeat to one person what another one said. */
export function checkConversations(input: CheckInput): readonly Finding[] {
  const check = "conversations";
  const { loaded, accounts, state } = input;
  const scope = loaded.config.session.dmScope;
  if (scope !== "main") return [ok(check, `each person has a conversation of their own (session.dmScope ${scope})`)];
  const people = new Set<string>();
  let everybody = false;
  for (const account of ready(accounts)) {
    const { access } = account.settings;
    if (access.dmPolicy === "disabled") continue;
    const list = parseAllowlist(access.allowFrom ?? [], ruleOf(account));
    if (list.everybody && access.dmPolicy === "open") everybody = true;
    for (const id of list.ids) people.add(`${account.channel}:${id}`);
    if (access.dmPolicy !== "pairing" || state === undefined || state instanceof HostError) continue;
    for (const sender of state.paired.get(account.channel) ?? []) {
      if (sender.account === account.account) people.add(`${account.channel}:${sender.senderId}`);
    }
  }
  if (!everybody && people.size < 2) return [ok(check, "at most one person sends direct messages")];
  const who = everybody ? "everyone may send direct messages and all" : `${people.size} people may write directly and`;
  const reason = `${who} share one conversation (session.dmScope main): the agent may reveal to one what another said`;
  const fix = `Unless all of them are you: ${programCommand} config set session.dmScope per-channel-peer`;
  return [{ check, verdict: "warn", path: "session.dmScope", reason, fix }];
}

/** Stored data of removed accounts: if an account with the same id is added again, its old approvals apply. */
export function checkOldState({ accounts, state }: CheckInput): readonly Finding[] {
  const check = "old state";
  if (state === undefined || state instanceof HostError) return [];
  const found: Finding[] = [];
  for (const [channel, senders] of state.paired) {
    const gone = new Set(senders.map(({ account }) => account));
    for (const { channel: other, account } of accounts) if (other === channel) gone.delete(account);
    for (const account of gone) {
      const ids = senders.filter((sender) => sender.account === account).map(({ senderId }) => senderId);
      const reason =
        `${ids.length === 1 ? "one sender is" : `${ids.length} senders are`} still approved ` +
        `for ${channel}:${account}, which is no longer configured`;
      const fix = `${programCommand} pairing revoke ${channel} ${visibleLine(ids[0] ?? "", 40)} --account ${account}`;
      found.push({ check, verdict: "warn", reason, fix });
    }
  }
  const channels = new Set(accounts.map(({ channel }) => channel));
  const waiting = new Map<string, number>();
  for (const lane of state.lanes) {
    const [channel = "", account = ""] = lane.split(":");
    if (!channels.has(channel) || accounts.some((one) => one.channel === channel && one.account === account)) continue;
    waiting.set(`${channel}:${account}`, (waiting.get(`${channel}:${account}`) ?? 0) + 1);
  }
  for (const [name, lanes] of waiting) {
    const reason =
      `work of ${lanes === 1 ? "one chat" : `${lanes} chats`} waits for ` +
      `${visibleLine(name, 80)}, which is no longer configured`;
    found.push({
      check,
      verdict: "warn",
      reason,
      fix: "Configure the account again, or leave it: waiting events end after seven days.",
    });
  }
  return orOk(found, check, "no data of removed accounts is left");
}
