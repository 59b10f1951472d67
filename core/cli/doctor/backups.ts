/** Checks the backups that the gateway makes by itself: how old the last one is, and why there is no newer one. */
import { existsSync } from "node:fs";
import { lastDue } from "../../backups/record.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { isEmbedded } from "../../stores/place.ts";
import { renderAgo } from "../output/times.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok, withoutStop } from "./finding.ts";

const check = "backup";
const path = "state.backup";
const now = `\`${programCommand} backup FILE\` makes one now.`;

export function checkBackups({ loaded, state, place, context }: CheckInput): readonly Finding[] {
  const { backup } = loaded.config.state;
  if (backup === undefined) return [ok(check, "no backup is made by itself: state.backup is not set")];
  if (state === undefined || state instanceof HostError) return [];
  const warn = (reason: string, fix: string): readonly Finding[] => [{ check, verdict: "warn", reason, path, fix }];
  const { problem, last } = state.backup ?? {};
  if (problem !== undefined)
    return warn(
      `the last backup failed: ${withoutStop(problem)}`,
      `Correct it: the gateway tries again within the hour. ${now}`,
    );
  if (last === undefined) return warn("no backup has been made yet", `A running gateway makes the first one. ${now}`);
  const age = `the last backup was made ${renderAgo(last.at, context.now())}`;
  const due = lastDue(backup.at, context.now());
  if (last.at < lastDue(backup.at, due - 1))
    return warn(`${age}, so two were missed`, `The gateway makes them while it runs. ${now}`);
  // With several nodes, the file is on the one that made it.
  if (isEmbedded(place) && !existsSync(last.file)) return warn(`${last.file} is gone, and ${age}`, now);
  return [ok(check, `${age}: ${last.file}${isEmbedded(place) ? "" : ", without the database"}`)];
}
