/** `status`: the gateway, its channels, and what is waiting. */

import { existsSync } from "node:fs";
import type { BackupRecord } from "../backups/record.ts";
import { reasonOfStatus } from "../channels/connection/status-detail.ts";
import { programCommand } from "../contract/command.ts";
import { HostError } from "../contract/errors.ts";
import type { GatewayDescription } from "../gateway/gateway.ts";
import { workerDetail } from "../host/isolated.ts";
import { type PendingWork, readWork, type Status, type Work } from "../reports/status.ts";
import { waitsLine } from "../reports/waits.ts";
import type { NodeReport } from "../state/nodes.ts";
import { isEmbedded } from "../stores/place.ts";
import type { CommandContext } from "./context.ts";
import type { Style } from "./output/terminal.ts";
import { renderAgo, renderDuration } from "./output/times.ts";
import { waitingLine } from "./output/waiting-line.ts";

const stateStyles: Readonly<Record<string, Style>> = {
  connected: "green",
  connecting: "yellow",
  waiting: "yellow",
  stopped: "dim",
  failed: "red",
};

export async function showStatus(
  context: CommandContext,
  _: readonly [],
  options: { readonly json?: boolean },
): Promise<number> {
  const status = await collect(context);
  if (options.json === true) context.terminal.json(status);
  else show(status, context);
  return 0;
}

async function collect(context: CommandContext): Promise<Status<GatewayDescription>> {
  const stateDirectory = await context.stateDirectory();
  const broken = await whyBroken(context);
  const base = {
    configFile: context.configFile.file,
    stateDirectory,
    store: (await context.place()).store,
    ...(broken === undefined ? {} : { configError: broken.message }),
    ...((await context.hasState()) ? await work(context) : {}),
  };
  const gateway = await context.gateway();
  if (gateway === null) return { running: false, ...base };
  const [{ ready, reasons }, description] = await Promise.all([gateway.readiness(), gateway.describe()]);
  const { url, pid, startedAt } = gateway;
  const described = description as GatewayDescription | null;
  return {
    ...described?.watched,
    running: true,
    ready,
    reasons,
    url,
    pid,
    startedAt,
    ...base,
    configFile: described?.configFile ?? base.configFile,
    gateway: described,
  };
}

async function work(context: CommandContext): Promise<PendingWork> {
  const store = await context.openState();
  try {
    return await readWork(store);
  } finally {
    await store.close();
  }
}

async function whyBroken(context: CommandContext): Promise<HostError | undefined> {
  try {
    return (await context.glance()).broken;
  } catch (error) {
    if (error instanceof HostError) return error;
    throw error;
  }
}

function show(status: Status<GatewayDescription>, { terminal, now }: CommandContext): void {
  const { style } = terminal;
  const rows: (readonly [string, string])[] = [["gateway", gatewayLine(status, now(), style)]];
  for (const reason of status.reasons ?? []) rows.push(["", reason]);
  rows.push(["config", existsSync(status.configFile) ? status.configFile : missingFile(status.configFile)]);
  if (status.configError !== undefined) rows.push(["", style("red", status.configError)]);
  if (status.configError !== undefined && status.running)
    rows.push(["", "The gateway continues with the last valid configuration."]);
  const waiting = status.gateway?.waiting ?? [];
  if (waiting.length > 0)
    rows.push([
      "",
      style("yellow", `Changes of ${waiting.join(", ")} take effect after a restart: ${programCommand} restart`),
    ]);
  rows.push(["state", status.stateDirectory]);
  if (!isEmbedded(status)) rows.push(["store", status.store]);
  if (status.events !== undefined) rows.push(...eventRows(status.events, now()));
  for (const waits of status.waits ?? [])
    rows.push(["", style("yellow", `${waitsLine(waits, now())}. ${waits.fix}`.trimEnd())]);
  if (status.backup !== undefined) rows.push(["backup", backupLine(status.backup, now(), style)]);
  if (status.gateway?.hooks !== undefined) {
    const { enabled, path } = status.gateway.hooks;
    rows.push(["webhooks", enabled ? `${status.url}${path}` : style("dim", "off")]);
  }
  if (status.gateway) rows.push(["engines", status.gateway.engines.join(", ")]);
  for (const standing of status.gateway?.models ?? [])
    rows.push(["model", style("yellow", standingLine(standing, now()))]);
  terminal.table(rows.map(([name, text]) => [style("dim", name), text]));
  if (status.events?.nodes !== undefined) showNodes(status.events.nodes, terminal);
  if (status.gateway) showAccounts(status.gateway, { terminal, now: now() });
}

function backupLine({ problem, last }: BackupRecord, now: number, style: CommandContext["terminal"]["style"]): string {
  const made = last === undefined ? "none yet" : `${last.file}, ${renderAgo(last.at, now)}`;
  return problem === undefined
    ? made
    : style("yellow", `the last one failed: ${problem.replace(/\.$/, "")}; before: ${made}`);
}

const missingFile = (file: string): string => `${file} does not exist; \`${programCommand} init\` asks for your bot`;

function standingLine({ agent, model, skipped }: GatewayDescription["models"][number], now: number): string {
  const others = skipped.map((one) => {
    const again =
      one.until === undefined || one.until <= now ? "" : `; it is asked again in ${renderDuration(one.until - now)}`;
    return `${one.model}: ${one.detail}${again}`;
  });
  return `${agent}: ${model === undefined ? "no model answers" : `${model} answers`} in place of ${others.join(". ")}`;
}

function showNodes(nodes: readonly NodeReport[], { line, table, style }: CommandContext["terminal"]): void {
  line();
  if (nodes.length === 0) line("No node has joined.");
  table(
    nodes.map(({ name, alive, silentMs, running, duties }) => [
      style("bold", `node ${name}`),
      alive ? style("green", "alive") : style("yellow", "gone"),
      style("dim", `renewed its lease ${renderDuration(silentMs)} ago`),
      `${running} running`,
      duties.join(", "),
    ]),
  );
}

function gatewayLine(
  { running, ready, reasons = [], url, pid, startedAt, events }: Status,
  now: number,
  style: CommandContext["terminal"]["style"],
): string {
  if (!running)
    return style("yellow", events?.nodes?.some(({ alive }) => alive) ? "not running on this machine" : "not running");
  const verdict =
    ready !== true
      ? style("yellow", "not ready")
      : reasons.length === 0
        ? style("green", "ready")
        : style("yellow", "degraded");
  return `${verdict} at ${url}, process ${pid}, up ${renderDuration(now - (startedAt ?? now))}`;
}

function forTheAgent(count: number): string {
  const reports = count === 1 ? "1 report of a webhook is" : `${count} reports of webhooks are`;
  return `${reports} read in the agent's next turn`;
}

function eventRows(
  { waiting, forNextTurn, running, outboxWaiting, settled, oldestOpenAt }: Work,
  now: number,
): readonly (readonly [string, string])[] {
  const since =
    oldestOpenAt === undefined
      ? ""
      : `; the oldest for ${renderDuration(now - oldestOpenAt)}: ${programCommand} events list --outcome waiting`;
  return [
    ["work", `${Math.max(0, waiting - forNextTurn)} waiting, ${running} running, ${outboxWaiting} to be sent${since}`],
    ...(forNextTurn === 0 ? [] : [["", forTheAgent(forNextTurn)] as const]),
    [
      "ended",
      `${settled.answered} answered, ${settled.silent} silent, ${settled.refused} refused, ${settled.failed} failed`,
    ],
  ];
}

function showAccounts(
  { accounts, watched, plugins, problems }: GatewayDescription,
  { terminal, now }: { readonly terminal: CommandContext["terminal"]; readonly now: number },
): void {
  const { style } = terminal;
  terminal.line();
  if (accounts.length === 0) terminal.line(`No channel is configured. \`${programCommand} init\` asks for a bot.`);
  terminal.table(
    accounts.map(({ channel, account, waitingSends, standby, status }) => [
      style("bold", `${channel}:${account}`),
      standby === true ? style("dim", "standby") : style(stateStyles[status.state] ?? "yellow", status.state),
      status.identity?.username === undefined ? "" : `@${status.identity.username}`,
      status.lastContactAt === undefined ? "" : style("dim", `last contact ${renderAgo(status.lastContactAt, now)}`),
      [waitingLine(waitingSends), reasonOfStatus(status) ?? ""].filter((line) => line !== "").join("; "),
    ]),
  );
  const things = Object.values(watched ?? {}).flat();
  terminal.table(
    things.map(({ source, account, state, reason, fix, last }) => [
      style("bold", `${source}:${account}`),
      style(
        state === "ok" ? "green" : state === "standby" ? "dim" : state.startsWith("needs") ? "red" : "yellow",
        state,
      ),
      last === undefined ? "" : style("dim", `last ${last.what} ${renderAgo(last.at, now)}`),
      `${reason} ${fix}`.trim(),
    ]),
  );
  for (const { severity, path, message, hint = "" } of problems) {
    if (severity === "error") terminal.line(`${style("red", `config ${path}`)}: ${message}. ${hint}`.trimEnd());
  }
  for (const { id, worker } of plugins) {
    const ended = worker && workerDetail(worker);
    if (ended !== undefined) terminal.line(`${style("yellow", `plugin ${id}`)}: ${ended}.`);
  }
  const failed = plugins.filter((plugin) => plugin.state === "failed");
  for (const { id, reason = "", hint = "" } of failed)
    terminal.line(`${style("red", `plugin ${id} failed`)}: ${reason}. ${hint}`.trimEnd());
}
