/**
 * `plugins check`: whether a plugin comes up, in a separate gateway that is removed afterwards, and what its users
 * would stumble over.
 */
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseJsonText } from "../../../config/json-text.ts";
import { HostError } from "../../../contract/errors.ts";
import { product } from "../../../contract/product.ts";
import { isObject } from "../../../host/answers.ts";
import { namedPlugin } from "../../../host/find.ts";
import { onEvent } from "../../../listeners/listen.ts";
import type { CommandContext } from "../../context.ts";
import { isTarballName } from "../package/package-source.ts";
import { showPlugins } from "../plugins.ts";
import { type Checked, examinePlugin } from "./examine.ts";
import { type Finding, fails, finding, type Severity } from "./finding.ts";
import { sarifOf } from "./sarif.ts";
import { placeOfText } from "./source-place.ts";

interface Options {
  /** JSON text. */
  readonly options?: string;
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly strict?: boolean;
}

export async function checkPlugin(
  context: CommandContext,
  [name = "."]: readonly [string | undefined],
  { options, json, sarif, strict = false }: Options,
): Promise<number> {
  const given = readOptions(options);
  const directory = await mkdtemp(join(await realpath(tmpdir()), `${product.command}-plugin-`));
  const report = (checked: Checked): number => {
    const failed = fails(checked.findings, strict);
    if (sarif === true) context.terminal.json(sarifOf(checked.findings));
    else if (json === true) context.terminal.json({ ok: !failed, ...checked });
    else show(checked, context);
    return failed ? 1 : 0;
  };
  let file = "";
  // Without it, a plugin that calls `process.exit` would pass, because its exit code would be that of this command.
  const onExit = () => {
    process.exitCode = report({ findings: [endedProcess(file)] });
    rmSync(directory, { recursive: true, force: true });
  };
  let stop = () => {};
  try {
    file = await moduleOf(name, directory, context);
    stop = onEvent(process, "exit", { source: "the plugin", handle: onExit });
    const { checked } = await examinePlugin(file, { reader: "author", options: given, directory, env: context.env });
    stop();
    return report(checked);
  } finally {
    stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** For a plugin that ends the process while it is checked. */
export const endedProcess = (file: string): Finding =>
  finding("load-failed", "The plugin ended the process, as by process.exit", placeOfText(/\bprocess\.exit\b/, file));

/** The module of a plugin, which is taken out of a tarball first. */
async function moduleOf(name: string, directory: string, { env }: CommandContext): Promise<string> {
  const path = resolve(name);
  if (!isTarballName(name) || !existsSync(path))
    // A folder here needs no dot before its name.
    return namedPlugin(existsSync(path) ? path : name, process.cwd()).file;
  const { installTarball } = await import("../package/install-package.ts");
  const installed = await installTarball(path, { directory, env });
  return namedPlugin(installed.name, installed.directory).file;
}

function readOptions(text: string | undefined): unknown {
  if (text === undefined) return {};
  const options = parseJsonText(text);
  if (isObject(options)) return options;
  const problem = options === undefined ? "is not JSON" : "is not an object";
  throw new HostError("usage", { reason: `--options ${problem}: write an object, such as '{ "size": 3 }'` });
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
