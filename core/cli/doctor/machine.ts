/** Checks the machine: the state directory, its disk, the gateway running on it, its port, and who can reach it. */

import { accessSync, chmodSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { programCommand } from "../../contract/command.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { checkListening, type ListenAddress } from "../../http/listening.ts";
import { isOnlyHere } from "../../http/reach.ts";
import { lockProblem } from "../../state/lock.ts";
import { isEmbedded } from "../../stores/place.ts";
import { isStateForbidden } from "../running-gateway.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok, orOk, withoutStop } from "./finding.ts";

const forOthers = 0o077;
/** Files that must be private. */
const privateFiles = /^(gateway-token|state\.db.*|lock\.db|gateway\.json)$/;

export function checkState({ stateDirectory, state }: CheckInput): readonly Finding[] {
  const found: Finding[] = [];
  const base = { check: "state", path: stateDirectory };
  if (state instanceof HostError)
    found.push({ ...base, verdict: "fail", reason: withoutStop(state.message), fix: state.hint });
  if (isStateForbidden(state)) return found;
  // A database elsewhere may be examined from a machine on which no gateway has run.
  if (!existsSync(stateDirectory))
    return orOk(found, "state", `there is no ${stateDirectory} yet; the first gateway creates it`);
  const lock = lockProblem(stateDirectory);
  if (lock !== undefined) found.push({ ...base, verdict: "fail", reason: withoutStop(lock.message), fix: lock.hint });
  try {
    accessSync(stateDirectory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    found.push({
      ...base,
      verdict: "fail",
      reason: `it cannot be used: ${reasonOf(error)}`,
      fix: `Give ${stateDirectory} to the user who runs the gateway.`,
    });
    return found;
  }
  const files = readdirSync(stateDirectory)
    .filter((name) => privateFiles.test(name))
    .map((name) => join(stateDirectory, name));
  for (const path of [stateDirectory, ...files]) found.push(...openToOthers(path));
  return orOk(
    found,
    "state",
    `${stateDirectory} is accessible to its owner only${state === undefined ? "; no gateway has run on it yet" : ""}`,
  );
}

function openToOthers(path: string): readonly Finding[] {
  if (process.platform === "win32") return [];
  const entry = statSync(path, { throwIfNoEntry: false });
  const mode = (entry?.mode ?? 0) & 0o777;
  if (entry === undefined || (mode & forOthers) === 0) return [];
  const wanted = entry.isDirectory() ? 0o700 : 0o600;
  return [
    {
      check: "state",
      verdict: "warn",
      path,
      reason: `other users of this machine may read ${path} (mode ${mode.toString(8)})`,
      fix: `chmod ${wanted.toString(8)} ${path}`,
      repair: { what: `make ${path} private`, edits: false, run: async () => chmodSync(path, wanted) },
    },
  ];
}

const megabyte = 1024 * 1024;
const scarceMb = 1_024;
const fullMb = 100;

export async function checkDisk({ stateDirectory, place }: CheckInput): Promise<readonly Finding[]> {
  const { bavail, bsize } = await statfs(nearestExisting(stateDirectory));
  const free = Math.floor((bavail * bsize) / megabyte);
  const size = free < scarceMb ? `${free} MB` : `${Math.floor(free / 1_024)} GB`;
  const reason = `${size} are free on the disk of ${stateDirectory}`;
  if (free >= scarceMb) return [ok("disk", reason)];
  const without = isEmbedded(place)
    ? "no event is accepted, and senders are asked to try again"
    : "no log and no file of a message is stored";
  const fix = `Free some space. Without it ${without}.`;
  return [{ check: "disk", verdict: free < fullMb ? "fail" : "warn", reason, path: stateDirectory, fix }];
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

export async function checkGateway(input: CheckInput): Promise<readonly Finding[]> {
  const { gateway, description, loaded, stateDirectory, state } = input;
  // Whether one runs is unknown.
  if (isStateForbidden(state)) return [];
  if (gateway === null) return [...(await checkPort(loaded.config.gateway)), ...leftBehind(stateDirectory)];
  if (description === null) return [await silentGateway(gateway)];
  const found: Finding[] = [];
  if (description.configFile !== loaded.file) {
    const reason = `the gateway uses ${description.configFile}, but these checks examined ${loaded.file}`;
    found.push({
      check: "gateway",
      verdict: "warn",
      reason,
      fix: `Pass --config ${description.configFile} to check that file.`,
    });
  }
  for (const { channel, account, path, status, standby } of description.accounts) {
    // Another node serves an account on standby.
    if (standby === true || (status.state !== "failed" && status.state !== "waiting")) continue;
    if (isReportedElsewhere(input, { channel, account })) continue;
    const reason = `${channel}:${account} is ${status.state}${status.detail === undefined ? "" : `: ${status.detail}`}`;
    const fix = status.hint ?? lookAtLogs;
    found.push({ check: "gateway", verdict: "fail", path, reason, fix });
  }
  return orOk(found, "gateway", `it runs at ${gateway.url}, process ${gateway.pid}`);
}

const lookAtLogs = `\`${programCommand} logs\` shows what happened before.`;

/** A gateway that refuses the token answers, so its log shows nothing. */
async function silentGateway(gateway: NonNullable<CheckInput["gateway"]>): Promise<Finding> {
  const { pid, url } = gateway;
  const answer = await gateway.call("GET", "/gateway/describe");
  const { error, hint } = (answer?.body ?? {}) as { readonly error?: string; readonly hint?: string };
  if (answer?.ok === false && error !== undefined && hint !== undefined)
    return {
      check: "gateway",
      verdict: "fail",
      reason: `process ${pid} at ${url} refuses: ${error.replace(/\.$/, "")}`,
      fix: hint,
    };
  // Where the database is away, the check of the state says what to do.
  if (answer?.ok === false && error !== undefined)
    return {
      check: "gateway",
      verdict: "fail",
      reason: `process ${pid} at ${url} answers: ${error.replace(/\.$/, "")}`,
      fix: lookAtLogs,
    };
  const fix = `\`${programCommand} logs\` may show the reason. Restart it.`;
  return { check: "gateway", verdict: "fail", reason: `process ${pid} does not answer at ${url}`, fix };
}

/** A finding about the configuration or from the platform is closer to the cause than the account's state. */
function isReportedElsewhere(
  { accounts, probes }: CheckInput,
  { channel, account }: { readonly channel: string; readonly account: string },
): boolean {
  const is = (one: { readonly channel: string; readonly account: string }) =>
    one.channel === channel && one.account === account;
  return accounts.find(is)?.state === "broken" || probes.find(is)?.probe?.ok === false;
}

async function checkPort(address: ListenAddress): Promise<readonly Finding[]> {
  const { host, port } = address;
  try {
    await checkListening(address);
    return [ok("gateway", `none runs; ${port === 0 ? "any free port" : `${host}:${port}`} is available`)];
  } catch (error) {
    const { message, hint } = error as HostError;
    return [
      {
        check: "gateway",
        verdict: "fail",
        path: "gateway.port",
        reason: `none runs, and none can start: ${withoutStop(message)}`,
        fix: hint,
      },
    ];
  }
}

function leftBehind(stateDirectory: string): readonly Finding[] {
  const path = join(stateDirectory, "gateway.json");
  if (!existsSync(path)) return [];
  const fix = `\`${programCommand} logs\` may say why. Accepted events resume at the next start.`;
  return [
    {
      check: "gateway",
      verdict: "warn",
      path,
      reason: "the last gateway did not shut down properly: it was killed, or it crashed",
      fix,
    },
  ];
}

const everybody = /\/0+$/;

export function checkExposure({ loaded }: CheckInput): readonly Finding[] {
  const { gateway, hooks } = loaded.config;
  const { host, trustedProxies } = gateway;
  const check = "reach";
  const found: Finding[] = [];
  const anyProxy = trustedProxies.find((proxy) => everybody.test(proxy));
  if (anyProxy !== undefined) {
    const reason =
      `gateway.trustedProxies contains ${anyProxy}, so every caller can claim any address, and ` +
      "limits by address have no effect";
    found.push({
      check,
      verdict: "fail",
      path: "gateway.trustedProxies",
      reason,
      fix: "List only the addresses of your proxies.",
    });
  }
  if (!isOnlyHere(host) && trustedProxies.length === 0) {
    const what = hooks.enabled ? "the hook endpoints and the management routes" : "the management routes";
    const fix =
      "Bind 127.0.0.1, or use a proxy with TLS and add its address to gateway.trustedProxies. Otherwise all " +
      "callers behind a proxy count as one.";
    const reason = `other machines reach ${what} at ${host}, and no proxy is trusted: tokens are sent unencrypted`;
    found.push({ check, verdict: "warn", path: "gateway.host", reason, fix });
  }
  return orOk(
    found,
    check,
    isOnlyHere(host) ? `only this machine reaches ${host}` : `${host} is reached through a proxy`,
  );
}
