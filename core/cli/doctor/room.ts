/**
 * Checks for a database created by an earlier version, which never returns space to the disk and is too large to be
 * rewritten at a start.
 */
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { lostRoom, rewriteDatabase } from "../../state/sqlite/database/shrinking.ts";
import { isEmbedded } from "../../stores/place.ts";
import type { CheckInput } from "./check-input.ts";
import type { Finding } from "./finding.ts";

const megabyte = 1024 * 1024;
const worthwhileMb = 16;

export function checkRoom({ state, place, stateDirectory, gateway }: CheckInput): readonly Finding[] {
  if (!isEmbedded(place) || state === undefined || state instanceof HostError) return [];
  const lost = Math.floor(lostRoom(stateDirectory) / megabyte);
  if (lost < worthwhileMb) return [];
  const reason =
    `state.db contains ${lost} MB of unused space that it cannot return to the disk, because ` +
    "an earlier version created it";
  const repair = { what: "rewrite state.db", edits: false, run: async () => rewriteDatabase(stateDirectory) };
  const fix =
    `Stop the gateway and run \`${programCommand} doctor --fix\`, which rewrites state.db. This ` +
    "takes a second for each 100 MB, and space for a copy.";
  return [
    { check: "disk", verdict: "warn", path: stateDirectory, reason, fix, ...(gateway === null ? { repair } : {}) },
  ];
}
