/** Writes what the steps of `init` have found out: first the secrets, then the configuration that names them. */
import { rmSync } from "node:fs";
import { checkProposed, type ProposedConfig, proposeConfig, replaceConfig } from "../../config/editing/edit.ts";
import { renderProblem } from "../../config/problem.ts";
import { readConfigText } from "../../config/reading/file.ts";
import type { CheckedConfig } from "../../config/reading/load.ts";
import { HostError } from "../../contract/errors.ts";
import { visible } from "../../log/visible.ts";
import { pluginProblems, sync as syncConfig } from "../config.ts";
import { writeSecret } from "../new-secret.ts";
import { declaredSchemas } from "../plugins/declarations.ts";
import { renderNewFile } from "./new-file.ts";
import type { Setup } from "./setup.ts";
import { shownChanges } from "./shown-changes.ts";

/** Resolves with whether the configuration contains everything now; the person may refuse. */
export async function writeWanted(setup: Setup): Promise<boolean> {
  const { context, options, ask } = setup;
  const wanted = setup.wanted();
  if (wanted.length === 0) return true;
  const { file } = context.configFile;
  await syncConfig(context);
  // Before the check of the configuration, which reads them. They go again unless it is written.
  const secrets: string[] = [];
  let isWritten = false;
  setup.cleanup.defer(() => {
    if (!isWritten) for (const each of secrets) rmSync(each, { force: true });
  });
  for (const { secret } of wanted) if (secret !== undefined) secrets.push(writeSecret(secret));
  const proposed = await propose(setup, file);
  const { before, after, isOwn } = proposed;
  for (const problem of proposed.problems) setup.say(renderProblem(problem), { sign: "note" });
  if (!isOwn && before !== after) {
    setup.title(`Changes of ${file}`);
    showChanges(setup, proposed);
    if (options.yes !== true && ask !== undefined && !(await ask.agree("  Write them?"))) {
      setup.say("Nothing was written.", { sign: "note" });
      return false;
    }
  }
  if (!(await replaceConfig(file, before, after)))
    throw new HostError("config_not_written", {
      file,
      reason: "another program has changed it in the meantime",
      fix: "Run this command again.",
    });
  isWritten = true;
  await syncConfig(context);
  await setup.written(isOwn ? after : undefined);
  const also = secrets.length === 0 ? "" : `, and ${secrets.join(" and ")}, which only you can read`;
  setup.say(`${before === undefined ? "Wrote" : "Changed"} ${file}${also}.`, { sign: "good" });
  return true;
}

/** `isOwn`: the file is new, or as this command has made it, so that it is written as a whole. */
async function propose(setup: Setup, file: string): Promise<ProposedConfig & { readonly isOwn: boolean }> {
  const { context, declared, loaded, ownFile } = setup;
  const edit = {
    env: context.env,
    schemas: declaredSchemas(declared),
    check: (config: CheckedConfig) => pluginProblems(declared, config, context),
  };
  const before = loaded.found ? await readConfigText(file) : undefined;
  const isOwn = before === undefined || before === ownFile?.text;
  if (!isOwn) return { ...(await proposeConfig(file, setup.wanted(), edit)), isOwn };
  const after = renderNewFile([...(ownFile?.wanted ?? []), ...setup.wanted()]);
  return { before, after, problems: await checkProposed({ before, after, file }, edit), isOwn };
}

function showChanges(setup: Setup, { before = "", after }: ProposedConfig): void {
  const { style } = setup.context.terminal;
  const looks = { added: ["green", "+"], removed: ["red", "-"], same: ["dim", " "] } as const;
  for (const line of shownChanges(before, after, setup.loaded.written)) {
    if (line === undefined) {
      setup.show(style("dim", "..."));
      continue;
    }
    const [look, mark] = looks[line.kind];
    setup.show(style(look, `${mark} ${visible(line.text)}`.trimEnd()));
  }
}
