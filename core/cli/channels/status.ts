/** `channels status`: the accounts of chat platforms, and what the platforms report about them. */

import { channelMeant } from "../../access/platform-names.ts";
import { settingPath } from "../../access/setting-path.ts";
import { type AccountChange, accountKey, accountsNamespace } from "../../channels/account-states.ts";
import { absenceNote } from "../../channels/connection/absence-note.ts";
import type { ProbeReport } from "../../channels/connection/probe.ts";
import { reasonOfStatus } from "../../channels/connection/status-detail.ts";
import type { RouteReport } from "../../channels/routes/account-routes.ts";
import { renderProblem } from "../../config/problem.ts";
import type { CheckedConfig } from "../../config/reading/load.ts";
import { programCommand } from "../../contract/command.ts";
import type { GatewayDescription } from "../../gateway/gateway.ts";
import { visibleLine } from "../../log/visible.ts";
import type { ChannelCapabilities, ChannelStatus } from "../../sdk/contract.ts";
import { type ConfiguredAccount, configuredAccounts, probeAccounts } from "../accounts.ts";
import type { CommandContext } from "../context.ts";
import { showSignIn } from "../output/sign-in.ts";
import type { Style, Terminal } from "../output/terminal.ts";
import { renderAgo } from "../output/times.ts";
import { waitingLine } from "../output/waiting-line.ts";
import { readDeclarations, readyPlugins } from "../plugins/declarations.ts";

interface AccountView {
  readonly channel: string;
  readonly account: string;
  readonly path: string;
  /** `off`: disabled in the configuration. `standby`: another node receives for the account. */
  readonly state: ChannelStatus["state"] | "off" | "standby";
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
  /** What a person has to do so that the account can sign in; only while a gateway runs. */
  readonly action?: ChannelStatus["action"];
  readonly identity?: ChannelStatus["identity"];
  /** Time of the last completed exchange with the platform, in epoch milliseconds; only while a gateway runs. */
  readonly lastContactAt?: number;
  /** Sends with an unknown outcome, which are repeated when the platform answers. */
  readonly waitingSends?: number;
  /** Where the platform may call; only while a gateway runs. */
  readonly addresses?: readonly AddressView[];
  /** When the account entered this state, in epoch milliseconds. */
  readonly since?: number;
  /** The state in which the last gateway left the account, if none is running. */
  readonly last?: Pick<AccountChange, "state" | "code" | "detail" | "hint" | "since">;
  readonly probe?: ProbeReport;
  /** Whether the platform delivers later what people write while the gateway is down. */
  readonly keepsWhileAway?: ChannelCapabilities["keepsWhileAway"];
}

/** An address to give to the platform. */
interface AddressView extends Omit<RouteReport, "path"> {
  readonly url: string;
}

const stateStyles: Readonly<Record<AccountView["state"], Style>> = {
  connected: "green",
  connecting: "yellow",
  waiting: "yellow",
  stopped: "dim",
  off: "dim",
  standby: "dim",
  failed: "red",
};

export async function showChannels(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean; readonly probe?: boolean },
): Promise<number> {
  const loaded = await context.load();
  const configured = await configuredAccounts(
    loaded,
    await readDeclarations(loaded, await context.stateDirectory(), context.terminal),
    context.env,
  );
  const gateway = await context.gateway();
  const description = ((await gateway?.describe()) ?? null) as GatewayDescription | null;
  const changes = await storedChanges(context);
  const probes = options.probe === true ? await probeAccounts(context, configured) : [];
  const { publicUrl } = loaded.config.gateway;
  const base = publicUrl ?? description?.url ?? "";
  const views = configured.map((account) => viewOf(account, { description, changes, probes, base }));
  const groupPath = ({ channel, account }: AccountView, key: string) =>
    settingPath(loaded.config.channels[channel], channel, account)(["groups", key]);
  if (options.json === true) context.terminal.json({ running: gateway !== null, accounts: views });
  else {
    if (gateway === null) context.terminal.line(noGateway(context));
    else if (description === null) context.terminal.line(`The gateway at ${gateway.url} does not answer.`);
    show(views, { probed: options.probe === true, context, groupPath });
    showAddresses(views, { context, isPublic: publicUrl !== undefined });
    for (const { channel, account, action } of views)
      if (action !== undefined) await showSignIn(context.terminal, `${channel}:${account}`, action);
  }
  return probes.some((report) => !isWell(report)) ? 1 : 0;
}

const noGateway = ({ terminal }: CommandContext): string =>
  terminal.style("yellow", "No gateway is running. This list comes from the configuration.");

/** The states in which the last gateway left the accounts. A running gateway stores its states there too. */
async function storedChanges(context: CommandContext): Promise<ReadonlyMap<string, AccountChange>> {
  if (!(await context.hasState())) return new Map();
  const store = await context.openState();
  try {
    return new Map(
      (await store.list(accountsNamespace)).map(({ key, value }) => [key, value as unknown as AccountChange]),
    );
  } finally {
    await store.close();
  }
}

function viewOf(
  { channel, account, path, state, problems, settings }: ConfiguredAccount,
  from: {
    readonly description: GatewayDescription | null;
    readonly changes: ReadonlyMap<string, AccountChange>;
    readonly probes: readonly ProbeReport[];
    /** Where the platform reaches the gateway. */
    readonly base: string;
  },
): AccountView {
  const { keepsWhileAway } = settings?.capabilities ?? {};
  const base = { channel, account, path, ...(keepsWhileAway !== undefined && { keepsWhileAway }) };
  const is = (other: { readonly channel: string; readonly account: string }) =>
    other.channel === channel && other.account === account;
  const probe = from.probes.find(is);
  const change = from.changes.get(accountKey(channel, account));
  const asked = probe === undefined ? {} : { probe };
  if (state === "off") return { ...base, state };
  const { status: live, waitingSends, addresses, standby } = from.description?.accounts.find(is) ?? {};
  if (live !== undefined) {
    const waits = {
      ...(waitingSends !== undefined && { waitingSends }),
      ...(addresses !== undefined && { addresses: addresses.map((one) => addressView(one, from.base)) }),
    };
    if (standby === true) return { ...base, ...live, ...waits, state: "standby", ...asked };
    return { ...base, ...live, ...waits, ...(change?.state === live.state ? { since: change.since } : {}), ...asked };
  }
  if (state === "broken") {
    const detail = problems
      .filter(({ severity }) => severity === "error")
      .map((problem) => renderProblem(problem))
      .join(" ");
    return { ...base, state: "failed", detail, ...asked };
  }
  const identity = probe?.probe?.identity;
  const last = change && lastState(change);
  return { ...base, state: "stopped", ...(last && { last }), ...(identity && { identity }), ...asked };
}

const addressView = ({ path, ...route }: RouteReport, base: string): AddressView => ({
  url: `${base.replace(/\/+$/, "")}${path}`,
  ...route,
});

const lastState = ({ channel, account, path, ...last }: AccountChange): NonNullable<AccountView["last"]> => last;

function isWell({ probe, groups }: ProbeReport): boolean {
  return probe?.ok !== false && (probe?.findings ?? []).length === 0 && groups.every(({ ok }) => ok);
}

function show(
  views: readonly AccountView[],
  {
    probed,
    context,
    groupPath,
  }: {
    readonly probed: boolean;
    readonly context: CommandContext;
    /** Path of a key of `groups` in the configuration file. */
    readonly groupPath: (view: AccountView, key: string) => string;
  },
): void {
  const { terminal, now } = context;
  const { style } = terminal;
  if (views.length === 0) terminal.line(`No channel is configured. \`${programCommand} init\` asks for a bot.`);
  terminal.table(
    views.map((view) => [
      style("bold", `${view.channel}:${view.account}`),
      style(stateStyles[view.state], view.state),
      view.identity?.username === undefined ? "" : `@${visibleLine(view.identity.username, 64)}`,
      style("dim", contactOf(view, now())),
      visibleLine(
        [waitingLine(view.waitingSends), reasonOfStatus(view) ?? lastOf(view, now())]
          .filter((line) => line !== "")
          .join("; "),
        500,
      ),
    ]),
  );
  for (const view of views) {
    const note = absenceNote(view);
    if (note !== undefined) terminal.line(style("dim", `${view.channel}:${view.account}: ${note}.`));
  }
  for (const view of probed ? views : []) {
    if (view.probe === undefined) continue;
    terminal.line();
    terminal.line(style("bold", `${view.channel}:${view.account}`));
    showProbe(view.probe, { terminal, groupPath: (key) => groupPath(view, key) });
  }
}

/** What to write into the settings of the platform, and whether the platform has found it. */
function showAddresses(
  views: readonly AccountView[],
  { context, isPublic }: { readonly context: CommandContext; readonly isPublic: boolean },
): void {
  const { terminal, now } = context;
  const { style } = terminal;
  const rows = views.flatMap(({ channel, account, addresses = [] }) =>
    addresses.map((address) => [
      style("bold", `${channel}:${account}`),
      address.methods.join(", "),
      address.url,
      calledOf(address, { now: now(), style }),
    ]),
  );
  if (rows.length === 0) return;
  terminal.line();
  terminal.line("Addresses for the platforms:");
  terminal.table(rows, { indent: "  " });
  if (!isPublic)
    terminal.line(
      style("yellow", "Set gateway.publicUrl to the address under which the platforms reach this gateway, with https."),
    );
}

function calledOf(
  { lastCallAt, lastStatus = 0 }: AddressView,
  { now, style }: { readonly now: number; readonly style: Terminal["style"] },
): string {
  if (lastCallAt === undefined) return style("yellow", "not called since the gateway started");
  const when = `called ${renderAgo(lastCallAt, now)}`;
  return lastStatus < 400 ? style("green", when) : style("red", `${when}, answered ${lastStatus}`);
}

/** For a channel that polls, the age of the last poll. */
function contactOf({ lastContactAt, since }: AccountView, now: number): string {
  if (lastContactAt !== undefined) return `last contact ${renderAgo(lastContactAt, now)}`;
  return since === undefined ? "" : `since ${renderAgo(since, now)}`;
}

/** Without a gateway, the last known state is shown. */
function lastOf({ last }: AccountView, now: number): string {
  if (last === undefined) return "";
  const reason = reasonOfStatus(last);
  return `last known: ${last.state} ${renderAgo(last.since, now)}${reason === undefined ? "" : `: ${reason}`}`;
}

function showProbe(
  { probe, groups, unprobed, misnamed }: ProbeReport,
  { terminal, groupPath }: { readonly terminal: Terminal; readonly groupPath: (key: string) => string },
): void {
  const { style } = terminal;
  const good = style("green", "✓");
  const bad = style("red", "✗");
  const rows: (readonly string[])[] = [];
  if (probe === undefined) rows.push([style("dim", "-"), "platform", "this channel has no way to ask"]);
  else rows.push([probe.ok ? good : bad, "platform", visibleLine(probe.detail, 500)]);
  for (const { name, reason, fix } of probe?.findings ?? [])
    rows.push([style("yellow", "!"), name, `${visibleLine(reason, 500)}. ${fix}`]);
  for (const { chat, ok, detail } of groups) rows.push([ok ? good : bad, `group ${chat}`, visibleLine(detail, 500)]);
  for (const key of unprobed)
    rows.push([
      style("dim", "-"),
      `group ${visibleLine(key, 80)}`,
      whyUnprobed(key, { path: groupPath(key), asked: probe?.ok === true, misnamed }),
    ]);
  terminal.table(rows, { indent: "  " });
}

function whyUnprobed(
  key: string,
  { path, asked, misnamed }: { readonly path: string; readonly asked: boolean; readonly misnamed: readonly string[] },
): string {
  if (key === "*") return "means every group, so there is none to check";
  if (misnamed.includes(key))
    return `is not a group id, so it matches no group: write the group's id as the key of ${path}`;
  return asked ? "was not checked: too many groups, or the channel cannot check this" : "was not checked";
}

/** Which channel a word means that is the name of a platform, as a sentence; `undefined` for other words. */
export async function channelMeantIn(
  context: CommandContext,
  loaded: CheckedConfig,
  word: string,
): Promise<string | undefined> {
  const declared = await readDeclarations(loaded, await context.stateDirectory(), { note() {} });
  const meant = channelMeant(
    word,
    readyPlugins(declared).flatMap(({ channel }) => channel ?? []),
  );
  return meant && `${meant.explanation}: write ${meant.id} in place of ${word}`;
}
