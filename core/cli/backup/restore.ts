/** `restore`: writes a backup into an empty directory, and says what to do next. */
import { join, resolve } from "node:path";
import type { Known, ReadBackup } from "../../backups/archive-reader.ts";
import { examineBackup, hasConfig, missingAfter, partsOf, restoreBackup } from "../../backups/restore.ts";
import { embeddedStore } from "../../config/embedded-store.ts";
import { programCommand } from "../../contract/command.ts";
import { packageVersion } from "../../contract/package.ts";
import { product } from "../../contract/product.ts";
import { visible } from "../../log/visible.ts";
import { knownSchema } from "../../state/sqlite/snapshot.ts";
import type { CommandContext } from "../context.ts";
import { renderBytes, renderFiles } from "../output/sizes.ts";
import { backupProgress } from "./progress.ts";

interface Options {
  readonly to?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function restoreFrom(
  context: CommandContext,
  [source]: readonly [string],
  { to, dryRun = false, json = false }: Options,
): Promise<number> {
  const { terminal, env } = context;
  const file = resolve(source);
  const directory = to === undefined ? await context.stateDirectory() : resolve(to);
  const known: Known = { version: packageVersion(), schema: knownSchema };
  const progress = backupProgress(context, process.stderr.isTTY);
  const options = {
    ...{ file, directory, known },
    onProgress: (phase: "check" | "files", done: number, total: number) =>
      progress(phase === "check" ? "checking the backup" : "writing files", done, total),
  };
  const examined = await examineBackup(options);
  if (!dryRun) await restoreBackup({ ...options, examined });
  const missing = missingAfter(examined, { directory, env });
  const start = startLine(examined, directory);
  if (json) {
    const { createdAt, version, store, changed, leftOut } = examined.manifest;
    const parts = partsOf(examined);
    terminal.json({ directory, restored: !dryRun, createdAt, version, store, parts, changed, leftOut, missing, start });
    return 0;
  }
  // A stranger may have written what the backup says of itself.
  const line = (text: string) => terminal.line(visible(text));
  show({ line, table: terminal.table }, { examined, file, directory, dryRun });
  showNext(line, { examined, missing, start, dryRun });
  return 0;
}

function startLine(examined: ReadBackup, directory: string): string {
  const config = hasConfig(examined) ? ` --config ${join(directory, product.configFile)}` : "";
  return `${programCommand} gateway --state ${directory}${config}`;
}

function show(
  { line, table }: { readonly line: (text: string) => void; readonly table: CommandContext["terminal"]["table"] },
  {
    examined,
    file,
    directory,
    dryRun,
  }: { readonly examined: ReadBackup; readonly file: string; readonly directory: string; readonly dryRun: boolean },
): void {
  const { manifest } = examined;
  const { createdAt, version, changed, leftOut } = manifest;
  line(`${file}: a backup of ${createdAt}, made by version ${version}.`);
  line(`${dryRun ? "Would write" : "Written"} to ${directory}:`);
  table(
    partsOf(examined).map(({ part, files, bytes }) => [visible(part), renderFiles(files), renderBytes(bytes)]),
    { indent: "  " },
  );
  for (const { path, value } of changed) line(`In the configuration, ${path} is now ${value}.`);
  for (const what of leftOut) line(`The backup does not contain ${what}.`);
}

function showNext(
  line: (text: string) => void,
  {
    examined,
    missing,
    start,
    dryRun,
  }: {
    readonly examined: ReadBackup;
    readonly missing: readonly string[];
    readonly start: string;
    readonly dryRun: boolean;
  },
): void {
  if (missing.length > 0) {
    line(dryRun ? "What would be missing:" : "What is missing:");
    for (const sentence of missing) line(`  ${sentence}`);
  }
  if (dryRun) {
    line("Nothing was written.");
    return;
  }
  const { store } = examined.manifest;
  if (store !== embeddedStore) line(`Restore the database of the store ${store} first.`);
  line(
    "Stop the gateway that the backup was made of, if it still runs: both would do the same work. Then start this one:",
  );
  line(`  ${start}`);
}
