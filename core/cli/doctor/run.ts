/** `doctor`: checks everything that can go wrong, says what to do, and repairs what needs no decision. */
import { constants, copyFileSync } from "node:fs";
import type { LoadedConfig } from "../../config/reading/load.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import type { CommandContext } from "../context.ts";
import { checkBackups } from "./backups.ts";
import { checkBudgets } from "./budgets.ts";
import { type CheckInput, gather } from "./check-input.ts";
import { checkConfiguration, checkFileMode, checkTokens } from "./configuration.ts";
import { type Finding, type Repair, withoutStop } from "./finding.ts";
import { checkDisk, checkExposure, checkGateway, checkState } from "./machine.ts";
import { checkModels } from "./models.ts";
import { checkOwners } from "./owners.ts";
import { checkAllowlists, checkBots, checkConversations, checkOldState, checkStrangers } from "./people.ts";
import { checkGroups, checkPlatforms } from "./platforms.ts";
import { checkRefusedTools } from "./refused-tools.ts";
import { type Mended, showFindings } from "./report.ts";
import { checkRoom } from "./room.ts";
import { checkAgents, checkByPlugins, checkPlugins, checkTransforms } from "./software.ts";
import { checkStore } from "./store.ts";
import { checkVoice } from "./voice.ts";
import { checkWaits } from "./waits.ts";

const checks: readonly ((input: CheckInput) => readonly Finding[] | Promise<readonly Finding[]>)[] = [
  checkConfiguration,
  checkFileMode,
  checkTokens,
  checkState,
  checkStore,
  checkDisk,
  checkRoom,
  checkBackups,
  checkWaits,
  checkGateway,
  checkExposure,
  checkPlugins,
  checkByPlugins,
  checkAgents,
  checkModels,
  checkBudgets,
  checkRefusedTools,
  checkVoice,
  checkTransforms,
  checkPlatforms,
  // Before the check of the groups: repairs inside a group find it by its key, which a later repair may change.
  checkAllowlists,
  checkOwners,
  checkGroups,
  checkStrangers,
  checkBots,
  checkConversations,
  checkOldState,
];

interface DoctorOptions {
  readonly fix?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Exits with 1 if a failure remains unrepaired; warnings do not count. */
export async function runDoctor(context: CommandContext, _: readonly [], options: DoctorOptions): Promise<number> {
  const findings = await examine(context);
  const repairs = findings.flatMap(({ repair }) => repair ?? []);
  const mending = options.fix === true && options.dryRun !== true;
  const backup =
    mending && repairs.some(({ edits }) => edits) ? backUp(context.configFile.file, context.now()) : undefined;
  const mended = mending ? await mend(repairs) : new Map<Repair, Mended>();
  showFindings(context.terminal, {
    findings,
    mended,
    backup,
    json: options.json === true,
    dryRun: options.dryRun === true,
  });
  return findings.some(({ verdict, repair }) => verdict === "fail" && !(repair && mended.get(repair)?.done)) ? 1 : 0;
}

async function examine(context: CommandContext): Promise<readonly Finding[]> {
  let loaded: LoadedConfig;
  try {
    loaded = await context.load();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    // Nothing else can be checked: without the configuration, the place of the state and the accounts are unknown.
    return [
      {
        check: "configuration",
        verdict: "fail",
        reason: withoutStop(error.message),
        path: context.configFile.file,
        fix: error.hint,
      },
    ];
  }
  const input = await gather(context, loaded);
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check(input)));
  return findings;
}

async function mend(repairs: readonly Repair[]): Promise<ReadonlyMap<Repair, Mended>> {
  const mended = new Map<Repair, Mended>();
  for (const repair of repairs) {
    try {
      await repair.run();
      mended.set(repair, { done: true });
    } catch (error) {
      mended.set(repair, { done: false, reason: reasonOf(error) });
    }
  }
  return mended;
}

/**
 * Copies the configuration file before the first edit. The copy contains the same secrets, so it gets the same
 * permissions.
 */
function backUp(file: string, now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const copy = `${file}.${time}.backup`;
  copyFileSync(file, copy, constants.COPYFILE_EXCL);
  return copy;
}
