/** Loads a plugin, sets it up in a separate gateway, and collects what its users would stumble over. */
import { writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { validateSection } from "../../../config/checking/validate.ts";
import { HostError, reasonOf } from "../../../contract/errors.ts";
import { product } from "../../../contract/product.ts";
import { checkDeclaration } from "../../../host/declare.ts";
import { createLoader } from "../../../host/load.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import type { CommandContext } from "../../context.ts";
import { packageAround } from "../package/plugin-package.ts";
import { fromGateway, type Listed } from "../plugins.ts";
import { runContract } from "./contract-findings.ts";
import { type Finding, finding } from "./finding.ts";
import { licenceFindings } from "./licences.ts";
import { memberFindings } from "./member-findings.ts";
import { optionFindings } from "./option-findings.ts";
import { packageFindings, rangeFindings } from "./package-findings.ts";
import { placeOfError, placeOfKey, placeOfText } from "./source-place.ts";

export interface Checked {
  /** Absent when its code could not be run. */
  readonly plugin?: Listed;
  /** Rules of the contract that the channel keeps. */
  readonly contractPassed?: number;
  readonly findings: readonly Finding[];
}

export interface Trial {
  /** Who reads the findings. Users are spared what only the author can use, such as the rules of the contract. */
  readonly reader: "author" | "user";
  /** Rejects if the user cannot use a plugin that declares this. Called before its setup. */
  readonly accept?: (definition: PluginDefinition) => Promise<void>;
  readonly options: unknown;
  readonly directory: string;
  readonly env: CommandContext["env"];
}

export interface Examined {
  readonly checked: Checked;
  /** Absent when the module gives no valid declaration. */
  readonly definition?: PluginDefinition;
  /** Options that a user has to set before it starts; empty for an author, who passes them. */
  readonly missing: readonly string[];
}

/** Runs the code of the plugin in this process. */
export async function examinePlugin(file: string, trial: Trial): Promise<Examined> {
  const around = packageAround(file);
  const folder = around?.folder ?? dirname(file);
  const outOfRange = around === undefined ? [] : rangeFindings(around);
  if (outOfRange.length > 0) return { checked: { findings: outOfRange }, missing: [] };

  const loader = createLoader({ cacheDirectory: join(trial.directory, "cache"), fresh: true });
  let definition: PluginDefinition;
  try {
    const exported = await loader.load({ name: file, file, bundled: false });
    definition = checkDeclaration(relative(process.cwd(), file) || file, exported);
  } catch (error) {
    return { checked: { findings: [unusable(error, file, folder)] }, missing: [] };
  }
  await trial.accept?.(definition);
  if (trial.reader === "user") return { definition, ...(await examineForUser(definition, file, trial)) };
  const plugin = await tryOut(definition, file, trial);
  const contract =
    definition.channel === undefined
      ? undefined
      : await runContract({ folder, entry: file, directory: trial.directory });
  const checked = {
    plugin,
    ...(contract === undefined ? {} : { contractPassed: contract.passed }),
    findings: [
      ...notUp(plugin, file),
      ...optionFindings(definition, file),
      ...memberFindings(definition, plugin.unread, file),
      ...(contract?.findings ?? []),
      // A folder beside a configuration needs no package.
      ...(around === undefined ? [] : await packageFindings(around, file, definition)),
    ],
  };
  return { checked, definition, missing: [] };
}

/** Without options that have no default, the plugin cannot start yet, which is not its fault. */
async function examineForUser(
  definition: PluginDefinition,
  file: string,
  trial: Trial,
): Promise<Pick<Examined, "checked" | "missing">> {
  const { id, version, options } = definition;
  const path = `plugins.entries.${id}.options`;
  const problems = options === undefined ? [] : validateSection(options, trial.options ?? {}, path).problems;
  const missing = problems.filter(({ severity }) => severity === "error").map((problem) => problem.path);
  const plugin =
    missing.length === 0
      ? await tryOut(definition, file, trial)
      : { id, version, bundled: false, state: "off", reason: `${missing.join(", ")} must be set` };
  const around = packageAround(file);
  const findings = [
    ...(missing.length === 0 ? notUp(plugin, file) : []),
    ...[...optionFindings(definition, file), ...memberFindings(definition, plugin.unread, file)].filter(
      ({ severity }) => severity === "error",
    ),
    ...(around === undefined ? [] : licenceFindings(around)),
  ];
  return { checked: { plugin, findings }, missing };
}

const notUp = (plugin: Listed, file: string): readonly Finding[] =>
  plugin.state === "up"
    ? []
    : [finding("setup-failed", plugin.reason ?? "It does not start", placeOfText(/\bsetup\b|\bdefine\w+\(/, file))];

/** The finding for a module that gives no declaration, with the place of its fault. */
function unusable(error: unknown, entry: string, folder: string): Finding {
  const { code, hint } = error instanceof HostError ? error : { code: "", hint: "" };
  if (code === "plugin_load_failed")
    return finding("load-failed", reasonOf(error), placeOfError(error, folder) ?? { file: entry, line: 1 });
  if (code === "plugin_range") return finding("host-range", reasonOf(error), placeOfKey("host", entry), hint);
  // The sentence names the field that is wrong.
  const field = /\b(?:its (id|version|host)|(requires|options|capabilities|setup|codes|section|settings)\b)/.exec(
    reasonOf(error),
  );
  const key = field?.[1] ?? field?.[2];
  const at = key === undefined ? placeOfText(/export default/, entry) : placeOfKey(key, entry);
  return finding("declaration-invalid", reasonOf(error), at);
}

async function tryOut({ id }: PluginDefinition, file: string, { options, directory, env }: Trial): Promise<Listed> {
  const configFile = join(directory, product.configFile);
  const plugins = { load: [file], entries: { [id]: { enabled: true, options } } };
  await writeFile(configFile, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, plugins }));
  const { createGateway } = await import("../../../gateway/gateway.ts");
  const gateway = await createGateway({ configFile, environment: env, home: directory });
  try {
    const listed = fromGateway(await gateway.describe()).find(
      (plugin) => !plugin.bundled && (plugin.id === id || plugin.state === "failed"),
    );
    return { ...(listed ?? { bundled: false, state: "failed", reason: "it is not loaded" }), id };
  } finally {
    await gateway.close();
  }
}
