/** `backup`: writes a backup to one file. */
import { resolve } from "node:path";
import { type BackupProgress, createBackup } from "../../backups/create.ts";
import { planBackup } from "../../backups/plan.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import { isEmbedded } from "../../stores/place.ts";
import type { CommandContext } from "../context.ts";
import { renderBytes, renderFiles } from "../output/sizes.ts";
import { declaredSchemas, loadDeclared } from "../plugins/declarations.ts";
import { backupProgress } from "./progress.ts";

interface Options {
  readonly withoutMedia?: boolean;
  readonly withSecrets?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const phases: Readonly<Record<BackupProgress["phase"], string>> = {
  database: "copying the database",
  files: "adding files",
  check: "reading the backup back",
};

export async function writeBackup(
  context: CommandContext,
  [target]: readonly [string],
  { withoutMedia = false, withSecrets = false, force = false, json = false }: Options,
): Promise<number> {
  const { terminal } = context;
  if (target.trim() === "") throw new HostError("usage", { reason: "the name of the backup is empty" });
  const file = resolve(target);
  if (!(await context.hasState())) throw new HostError("state_missing", { directory: await context.stateDirectory() });
  const place = await context.place();
  const { loaded, declared } = await loadDeclared(context);
  const plan = await planBackup({
    ...{ loaded, schemas: declaredSchemas(declared), place },
    ...{ excluded: [file], withSecrets, withMedia: !withoutMedia },
  });
  const progress = backupProgress(context, process.stderr.isTTY);
  const created = await createBackup(plan, {
    ...{ file, force, now: context.now },
    onProgress: ({ phase, done, total }) => progress(phases[phase], done, total),
  });
  const database = isEmbedded(place) ? undefined : await context.backupHelp();
  if (json) {
    terminal.json({
      ...created,
      withSecrets,
      withMedia: !withoutMedia,
      ...(database === undefined ? {} : { database }),
    });
    return 0;
  }
  terminal.line(`Written and read back: ${file}, ${renderFiles(created.files)}, ${renderBytes(created.bytes)}.`);
  for (const what of created.leftOut) terminal.line(`It does not contain ${what}.`);
  if (!withSecrets) terminal.line("It contains no secrets of the configuration; --with-secrets adds them.");
  if (created.skipped > 0) terminal.line(`${created.skipped} links and special files were left out.`);
  for (const path of created.unsafeNames)
    terminal.line(`${visibleLine(path, 300)} was left out: its name is not safe on every system. Rename it.`);
  for (const path of created.torn)
    terminal.line(`${path} became shorter while it was read; its end is filled with zeros.`);
  if (database !== undefined)
    terminal.line(`Copy the database now:\n  ${database.backup}\nand restore it with:\n  ${database.restore}`);
  return 0;
}
