/** What `plugins add` shows of a plugin: before its code runs, and when it is added. */
import { programCommand } from "../../../contract/command.ts";
import { visible } from "../../../log/visible.ts";
import type { PluginDefinition } from "../../../sdk/contract.ts";
import type { CommandContext } from "../../context.ts";
import { renderBytes } from "../../output/sizes.ts";
import type { Terminal } from "../../output/terminal.ts";
import type { Checked } from "../check/examine.ts";
import type { Finding } from "../check/finding.ts";
import type { PackageFacts } from "../package/install-package.ts";
import { declaredBy } from "./declared-names.ts";

interface Output {
  readonly json?: boolean;
}

export function showFacts(
  { name, version, licence, bytes, libraries, doors, node, scripts }: PackageFacts,
  { before, integrity }: { readonly before: string | undefined; readonly integrity: string },
  { line, table, style }: Terminal,
): void {
  const rows = [
    ["package", `${style("bold", name)} ${version}${before === undefined ? "" : ` (now ${before})`}`],
    ["licence", licence],
    ["size", `${renderBytes(bytes)}, ${libraries.length === 0 ? "no libraries" : `with ${listOf(libraries)}`}`],
    ["integrity", integrity],
    ["imports", doors.length === 0 ? "no module of the SDK" : listOf(doors)],
    ["of Node", node.length === 0 ? "no modules" : listOf(node)],
    ...(scripts.length === 0 ? [] : [["not run", `the install scripts of ${listOf(scripts)}`]]),
  ];
  table(rows.map(([title = "", text = ""]) => [style("dim", title), visible(text)]));
  line();
}

const shownNames = 12;

const listOf = (names: readonly string[]): string =>
  names.length <= shownNames
    ? names.join(", ")
    : `${names.slice(0, shownNames).join(", ")} and ${names.length - shownNames} more`;

/** Returns the exit code. */
export function showRefused(
  name: string,
  { findings }: Pick<Checked, "findings">,
  { json }: Output,
  { terminal }: CommandContext,
): number {
  if (json === true) {
    const error = `${name} was not added: ${findings.map(({ message }) => message).join(" ")}`;
    terminal.json({ ok: false, changed: false, error, code: "plugin_refused", findings });
    return 1;
  }
  showFindings(findings, terminal);
  terminal.line(`\n${name} was not added; nothing was changed.`);
  return 1;
}

function showFindings(findings: readonly Finding[], terminal: Terminal): void {
  for (const { severity, message, rule } of findings) {
    const mark = severity === "error" ? terminal.style("red", "✗") : terminal.style("yellow", "!");
    terminal.line(`${mark} ${visible(message)} ${terminal.style("dim", rule)}`);
  }
}

interface Added {
  readonly facts: PackageFacts;
  readonly definition: PluginDefinition;
  readonly checked: Checked;
  readonly missing: readonly string[];
  /** The version before. */
  readonly before: string | undefined;
  readonly integrity: string;
  readonly running: boolean;
}

export function showAdded(added: Added, { json }: Output, { terminal, configFile: { file } }: CommandContext): void {
  const { facts, definition, checked, missing, before, integrity, running } = added;
  const { name, version } = facts;
  if (json === true) {
    const plugin = { ...declaredBy(definition), capabilities: capabilitiesOf(definition), ...partsOf(checked) };
    const base = { ok: true, changed: true, name, version, before, integrity, file };
    terminal.json({ ...base, package: facts, plugin, missing, findings: checked.findings, restart: running });
    return;
  }
  showFindings(checked.findings, terminal);
  for (const text of partsInWords(definition, checked)) terminal.line(visible(text));
  terminal.line(
    before === undefined
      ? `\nAdded ${name} ${version}: it is in plugins.load of ${file}.`
      : `\nUpdated ${name} from ${before} to ${version}.`,
  );
  for (const path of missing) terminal.line(`Before it starts, set ${path}.`);
  const { channel, sections } = declaredBy(definition);
  const places = [...(channel === undefined ? [] : [`channels.${channel}`]), ...sections];
  if (places.length > 0)
    terminal.line(`Its settings are in ${places.join(", ")}; \`${programCommand} config validate\` checks them.`);
  if (running) terminal.line(`The running gateway uses it after a restart: \`${programCommand} restart\`.`);
}

const partsOf = ({ plugin }: Checked) => ({ taps: plugin?.taps ?? [], routes: plugin?.routes ?? [] });

function partsInWords(definition: PluginDefinition, checked: Checked): readonly string[] {
  const { taps, routes } = partsOf(checked);
  const { channel } = definition;
  const abilities = capabilitiesOf(definition);
  const named = abilities.length === 0 ? "" : `: ${abilities.join(", ")}`;
  return [
    ...(channel === undefined ? [] : [`provides the channel ${channel.id}${named}`]),
    ...taps.map((tap) => `takes part in ${tap}`),
    ...routes.map((route) => `answers ${route}`),
  ];
}

/** The names of what its channel can do; of a channel that decides by its options, none are known. */
function capabilitiesOf({ channel }: PluginDefinition): readonly string[] {
  if (channel === undefined || typeof channel.capabilities === "function") return [];
  return Object.entries(channel.capabilities)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name]) => name);
}
