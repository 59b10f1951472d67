/**
 * `plugins check`: whether a plugin comes up, in a separate gateway that is removed afterwards, and what its users
 * would stumble over.
 */
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { HostError, reasonOf } from "../../../contract/errors.ts";
import { product } from "../../../contract/product.ts";
import { isObject } from "../../../host/answers.ts";
import { checkDeclaration } from "../../../host/declare.ts";
import { namedPlugin } from "../../../host/find.ts";
import { createLoader } from "../../../host/load.ts";
import { onEvent } from "../../../listeners/listen.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import type { CommandContext } from "../../context.ts";
import { fromGateway, type Listed, showPlugins } from "../plugins.ts";
import { runContract } from "./contract-findings.ts";
import { type Finding, fails, finding, type Severity } from "./finding.ts";
import { memberFindings } from "./member-findings.ts";
import { optionFindings } from "./option-findings.ts";
import { packageFindings, rangeFindings } from "./package-findings.ts";
import { packageAround } from "./plugin-package.ts";
import { sarifOf } from "./sarif.ts";
import { placeOfError, placeOfKey, placeOfText } from "./source-place.ts";

interface Options {
  /** JSON text. */
  readonly options?: string;
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly strict?: boolean;
}

interface Checked {
  /** Absent when its code could not be run. */
  readonly plugin?: Listed;
  /** Rules of the contract that the channel keeps. */
  readonly contractPassed?: number;
  readonly findings: readonly Finding[];
}

export async function checkPlugin(
  context: CommandContext,
  [name = "."]: readonly [string | undefined],
  { options, json, sarif, strict = false }: Options,
): Promise<number> {
  const given = readOptions(options);
  // A folder here needs no dot before its name.
  const { file } = namedPlugin(existsSync(resolve(name)) ? resolve(name) : name, process.cwd());
  const directory = await mkdtemp(join(await realpath(tmpdir()), `${product.command}-plugin-`));
  const report = (checked: Checked): number => {
    const failed = fails(checked.findings, strict);
    if (sarif === true) context.terminal.json(sarifOf(checked.findings));
    else if (json === true) context.terminal.json({ ok: !failed, ...checked });
    else show(checked, context);
    return failed ? 1 : 0;
  };
  // Without it, a plugin that calls `process.exit` would pass, because its exit code would be that of this command.
  const onExit = () => {
    rmSync(directory, { recursive: true, force: true });
    const at = placeOfText(/\bprocess\.exit\b/, file);
    process.exitCode = report({
      findings: [finding("load-failed", "The plugin ended the process, as by process.exit", at)],
    });
  };
  const stop = onEvent(process, "exit", { source: "the plugin", handle: onExit });
  try {
    const checked = await check(file, { options: given, directory, env: context.env });
    stop();
    return report(checked);
  } finally {
    stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function readOptions(text: string | undefined): unknown {
  if (text === undefined) return {};
  const options = jsonOf(text);
  if (isObject(options)) return options;
  const problem = options === undefined ? "is not JSON" : "is not an object";
  throw new HostError("usage", { reason: `--options ${problem}: write an object, such as '{ "size": 3 }'` });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Trial {
  readonly options: unknown;
  readonly directory: string;
  readonly env: CommandContext["env"];
}

async function check(file: string, trial: Trial): Promise<Checked> {
  const around = packageAround(file);
  const folder = around?.folder ?? dirname(file);
  const outOfRange = around === undefined ? [] : rangeFindings(around);
  if (outOfRange.length > 0) return { findings: outOfRange };

  const loader = createLoader({ cacheDirectory: join(trial.directory, "cache"), fresh: true });
  let definition: PluginDefinition;
  try {
    const exported = await loader.load({ name: file, file, bundled: false });
    definition = checkDeclaration(relative(process.cwd(), file) || file, exported);
  } catch (error) {
    return { findings: [unusable(error, file, folder)] };
  }
  const plugin = await tryOut(definition, file, trial);
  const notUp =
    plugin.state === "up"
      ? []
      : [finding("setup-failed", plugin.reason ?? "It does not start", placeOfText(/\bsetup\b|\bdefine\w+\(/, file))];
  const contract =
    definition.channel === undefined
      ? undefined
      : await runContract({ folder, entry: file, directory: trial.directory });
  return {
    plugin,
    ...(contract === undefined ? {} : { contractPassed: contract.passed }),
    findings: [
      ...notUp,
      ...optionFindings(definition, file),
      ...memberFindings(definition, plugin.unread, file),
      ...(contract?.findings ?? []),
      // A folder beside a configuration needs no package.
      ...(around === undefined ? [] : await packageFindings(around, file, definition)),
    ],
  };
}

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

const marks: Readonly<Record<Severity, readonly [mark: string, style: "red" | "yellow" | "dim"]>> = {
  error: ["✗", "red"],
  warning: ["!", "yellow"],
  note: ["·", "dim"],
};

function show({ plugin, contractPassed = 0, findings }: Checked, { terminal }: CommandContext): void {
  if (plugin !== undefined) showPlugins([plugin], terminal);
  if (contractPassed > 0)
    terminal.line(`\nThe channel passes ${contractPassed} rules of the contract, tested without its platform.`);
  for (const { rule, severity, message, fix, at } of findings) {
    const [mark, style] = marks[severity];
    terminal.line(`\n${terminal.style(style, mark)} ${message}`);
    terminal.line(`  ${fix}`);
    const place = at === undefined ? "" : `${relative(process.cwd(), at.file)}:${at.line}  `;
    terminal.line(`  ${terminal.style("dim", `${place}${rule}`)}`);
  }
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length;
  const counted = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  terminal.line(`\n${counted(count("error"), "error")}, ${counted(count("warning"), "warning")}.`);
}
