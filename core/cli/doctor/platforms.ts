/**
 * Compares what the platforms report with the configuration: tokens, groups, and which messages the bot receives there.
 */

import { misnamedGroups } from "../../access/allowlist.ts";
import { placeSettings } from "../../access/place.ts";
import { absenceNote } from "../../channels/connection/absence-note.ts";
import type { ProbeReport } from "../../channels/connection/probe.ts";
import { parsePath, renderPath } from "../../config/path.ts";
import { programCommand } from "../../contract/command.ts";
import { asSentence } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk } from "./finding.ts";
import { pathsOf, ready, ruleOf } from "./people.ts";
import { renameEntry } from "./repairs.ts";

const nameOf = ({ channel, account }: { readonly channel: string; readonly account: string }): string =>
  `${channel}:${account}`;

export function checkPlatforms({ probes, accounts, description }: CheckInput): readonly Finding[] {
  const found: Finding[] = [];
  for (const report of probes) {
    const { probe, path } = report;
    if (probe?.ok === false) {
      const { reason, fix } = remedyIn(probe.detail);
      found.push({
        check: "platform",
        verdict: "fail",
        path,
        reason: `${nameOf(report)}: ${visibleLine(reason, 500)}`,
        ...fix,
      });
    }
    for (const { name, reason, fix } of probe?.findings ?? [])
      found.push({
        check: "platform",
        verdict: "warn",
        path,
        reason: `${nameOf(report)}: ${name}: ${visibleLine(reason, 500)}`,
        fix,
      });
  }
  if (accounts.length === 0)
    return orOk(found, "platform", `no channel is configured; \`${programCommand} init\` asks for a bot`);
  return orOk(
    [...found, ...twins(probes)],
    "platform",
    probes.length === 0
      ? "no account is enabled"
      : probes.map((report) => described(report, description) + absenceOf(report, accounts)).join("; "),
  );
}

/**
 * A channel without a probe is known by what the gateway reports; `checkGateway` reports an account that is not
 * connected.
 */
function described(report: ProbeReport, description: CheckInput["description"]): string {
  const name = nameOf(report);
  if (report.probe !== undefined) return `${name} is ${visibleLine(report.probe.detail, 300)}`;
  if (description === null) return `${name} shows its connection only while the gateway runs`;
  const status = description.accounts.find(
    ({ channel, account }) => channel === report.channel && account === report.account,
  )?.status;
  const as = status?.identity?.username;
  return (
    `${name} is ` +
    `${status?.state ?? "unknown to the gateway"}${as === undefined ? "" : ` as ${visibleLine(as, 100)}`}`
  );
}

/** What the platform does not deliver later. */
function absenceOf({ channel, account }: ProbeReport, accounts: CheckInput["accounts"]): string {
  const found = accounts.find((one) => one.channel === channel && one.account === account)?.settings;
  const note = found && absenceNote(found.capabilities);
  return note === undefined ? "" : `, and ${note}`;
}

/** Two accounts that receive for the same bot take each other's events, even with different tokens. */
function twins(probes: readonly ProbeReport[]): readonly Finding[] {
  const seen = new Map<string, ProbeReport>();
  return probes.flatMap((report): readonly Finding[] => {
    const id = report.probe?.identity?.id;
    if (id === undefined) return [];
    const first = seen.get(`${report.channel}:${id}`);
    if (first === undefined) {
      seen.set(`${report.channel}:${id}`, report);
      return [];
    }
    const both = `${nameOf(first)} and ${nameOf(report)}`;
    const reason = `${both} are the same bot (${id}), so each takes messages from the other`;
    return [
      {
        check: "platform",
        verdict: "fail",
        path: report.path,
        reason,
        fix: "Give each account a bot of its own, or remove one of the two.",
      },
    ];
  });
}

export function checkGroups(input: CheckInput): readonly Finding[] {
  const found = [
    ...input.probes.flatMap((report) => [...unreachable(input, report), ...halfBlind(input, report)]),
    ...misnamed(input),
  ];
  const named = input.probes.flatMap(({ groups }) => groups).length;
  const star = input.probes.some(({ unprobed }) => unprobed.includes("*"));
  const rest = star ? "; * means every group, so there is none to check" : "";
  return orOk(
    found,
    "groups",
    `${named === 0 ? "none is named by its id" : `the bots are in the ${named} that are named by their ids`}${rest}`,
  );
}

function unreachable(input: CheckInput, { channel, account, groups }: ProbeReport): readonly Finding[] {
  return groups
    .filter(({ ok }) => !ok)
    .map(({ chat, detail }) => {
      const { reason, fix } = remedyIn(detail);
      const what = `${channel}:${account} cannot be reached in the group ${chat}: ${visibleLine(reason, 300)}`;
      const path = pathsOf(input, { channel, account })(["groups", chat]);
      return { check: "groups", verdict: "warn", path, reason: what, ...fix };
    });
}

/** A channel's detail says what is wrong and, after the last colon, what to do. */
function remedyIn(detail: string): { readonly reason: string; readonly fix: Pick<Finding, "fix"> } {
  const [reason = "", remedy] = detail.split(/: (?=[^:]*$)/);
  return { reason, fix: remedy === undefined ? {} : { fix: sentence(visibleLine(remedy, 500)) } };
}

const sentence = (text: string): string => asSentence(`${text.charAt(0).toUpperCase()}${text.slice(1)}`);

/** A name in place of a group's id matches no group. Each is listed once, even if several accounts inherit it. */
function misnamed(input: CheckInput): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const owner of ready(input.accounts)) {
    const report = input.probes.find((one) => one.channel === owner.channel && one.account === owner.account);
    for (const key of misnamedGroups(owner.settings.access, ruleOf(owner))) {
      const path = pathsOf(input, owner)(["groups", key]);
      const id = report?.groupNames.find(({ name }) => name === key)?.id;
      if (!found.has(path) || id !== undefined) found.set(path, misnamedGroup(input, { path, key, id }));
    }
  }
  return [...found.values()];
}

function misnamedGroup(
  input: CheckInput,
  { path, key, id }: { readonly path: string; readonly key: string; readonly id: string | undefined },
): Finding {
  const name = JSON.stringify(visibleLine(key, 80));
  const reason = `${name} in ${parentOf(path)} is not a group id, so it matches no group`;
  const base = { check: "groups", verdict: "warn", path } as const;
  if (id === undefined)
    return { ...base, reason, fix: "Use the group's id. The refusal of a message there contains it." };
  return {
    ...base,
    reason: `${reason}; its current id is ${id}`,
    fix: `Use ${id} instead.`,
    repair: renameEntry(input, { path, id }),
  };
}

const parentOf = (path: string): string => renderPath((parsePath(path) ?? []).slice(0, -1));

/** If no mention is required, the bot must receive messages without a mention. */
function halfBlind(input: CheckInput, report: ProbeReport): readonly Finding[] {
  const account = ready(input.accounts).find((one) => one.channel === report.channel && one.account === report.account);
  if (account === undefined || report.probe?.seesAllGroupMessages !== false) return [];
  const { access } = account.settings;
  const pathOf = pathsOf(input, account);
  const paths = new Set<string>();
  for (const [id, group] of Object.entries(access.groups ?? {})) {
    if (report.groups.find(({ chat }) => chat === id)?.seesAll === true) continue;
    for (const thread of [undefined, ...Object.keys(group.topics ?? {})]) {
      const place = placeSettings(access, pathOf, { id, kind: "group", thread });
      if (place.enabled && place.groupPolicy !== "disabled" && !place.requireMention)
        paths.add(place.pathTo("requireMention"));
    }
  }
  return [...paths].map((path) => ({
    check: "groups",
    verdict: "warn",
    path,
    reason:
      `${path} is false, but the platform delivers to ${nameOf(report)} only messages that address it ` +
      "(privacy mode)",
    fix:
      "Switch privacy mode off at the platform's bot maker and add the bot to the group again, or make " +
      "it an administrator there.",
  }));
}
