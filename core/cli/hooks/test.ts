/** `hooks test`: what a delivery would lead to. Nothing is queued, and no gateway is needed. */
import { programCommand } from "../../contract/command.ts";
import { HostError } from "../../contract/errors.ts";
import { visible, visibleLine } from "../../log/visible.ts";
import { plainText } from "../../sdk/text/plain-text.ts";
import { trimSlashes } from "../../webhooks/mapping/address.ts";
import { reservedPaths } from "../../webhooks/mapping/check-mapping.ts";
import type { MappedRun } from "../../webhooks/mapping/plan-runs.ts";
import { type DryRun, type DryStep, dryRun } from "../../webhooks/workbench/dry-run.ts";
import type { CommandContext } from "../context.ts";
import type { Terminal } from "../output/terminal.ts";
import { readDelivery } from "./delivery-file.ts";
import { noteSimilar } from "./similar.ts";
import { chooseMethod, findNamed, openWorkbench } from "./workbench.ts";

/** Exits with 1 if the sender would receive an error, or if nothing takes the delivery. */
export async function testDelivery(
  context: CommandContext,
  [name, file]: readonly [string, string],
  options: { readonly json?: boolean; readonly header?: readonly string[] },
): Promise<number> {
  if (reservedPaths.has(trimSlashes(name))) {
    const reason =
      `${trimSlashes(name)} is an endpoint of its own, and mappings do not receive its ` +
      `requests. \`${programCommand} hooks send\` sends one`;
    throw new HostError("usage", { reason });
  }
  const { recorded, headers } = await readDelivery(context, { name, file, header: options.header });
  const bench = await openWorkbench(context);
  noteSimilar(context, bench.loaded.config, name);
  try {
    // A recording of another path can be tested here too.
    const { path } = findNamed(bench.table, name);
    const method = chooseMethod(bench.table, path, recorded);
    const delivery = {
      ...recorded,
      ...(method === "GET" && { method }),
      path,
      headers: { ...recorded.headers, ...headers },
    };
    const result = await dryRun(bench.table, delivery, bench.deps);
    if (options.json === true) context.terminal.json(result);
    else show(result, context.terminal);
    return result.failure === undefined && result.asked.some(({ taken }) => taken) ? 0 : 1;
  } finally {
    await bench.close();
  }
}

function show(result: DryRun, terminal: Terminal): void {
  const { style } = terminal;
  const taken = result.asked.find((asked) => asked.taken);
  if (taken === undefined)
    terminal.line(
      `${style("red", "not taken")}: no mapping takes a delivery to ${visibleLine(result.path)}; it is answered 404`,
    );
  else terminal.line(`${headline(result, style)} by ${style("bold", taken.id)} (${taken.at})`);
  showAsked(result, terminal);
  for (const [index, step] of result.steps.entries())
    showStep(step, result.steps.length > 1 ? ` ${index + 1}` : "", terminal);
  showAbsent(result, terminal);
  for (const run of result.runs) {
    showRun(run, result.runs.length > 1 ? ` ${run.index + 1}` : "", terminal);
    if (run.action === "agent" && run.deliverOnly) showMessage(run.asked.message, result.steps[run.index], terminal);
  }
  if (result.failure === undefined) return;
  const { code, status, message, path, hint } = result.failure;
  terminal.line();
  terminal.line(`${style("red", `answered ${status} ${code}`)}: ${visibleLine(message, 1_000)}`);
  terminal.line(`  ${style("dim", "decided by")} ${path}`);
  terminal.line(`  ${style("dim", "to change")}  ${hint}`);
}

function headline({ runs, nothing, failure }: DryRun, style: Terminal["style"]): string {
  if (failure !== undefined) return style("red", "refused");
  if (nothing !== undefined) return style("yellow", `nothing to do (${nothing})`);
  return style("green", runs.length === 1 ? `one ${runs[0]?.action} run` : `${runs.length} runs`);
}

function showAsked({ asked }: DryRun, terminal: Terminal): void {
  const { style } = terminal;
  if (asked.length === 0) return;
  terminal.line();
  terminal.line(style("bold", "mappings, in their order"));
  terminal.table(
    asked.map(({ id, at, taken, why = "takes it" }) => [
      style(taken ? "green" : "dim", taken ? "✓" : "·"),
      id,
      style("dim", at),
      visibleLine(why),
    ]),
    { indent: "  " },
  );
}

function showStep({ rendered, transform }: DryStep, number: string, terminal: Terminal): void {
  fields(`rendered${number}`, rendered, terminal);
  if (transform === undefined) return;
  const { module, result, error } = transform;
  if (error !== undefined) fields(`${module}${number} failed`, { error }, terminal);
  else if (result === undefined) fields(`${module}${number} overrides nothing`, {}, terminal);
  else if (result === null) fields(`${module}${number} returned null: nothing to do`, {}, terminal);
  else
    fields(
      `${module}${number} returned`,
      typeof result === "object" && !Array.isArray(result) ? result : { result },
      terminal,
    );
}

function showRun(run: MappedRun, number: string, terminal: Terminal): void {
  const wrapping = run.wrapped ? {} : { allowUnsafeExternalContent: true };
  if (run.action === "wake") fields(`would wake${number}`, { ...run.wake, ...wrapping }, terminal);
  else {
    const { message, request } = run.asked;
    const title = run.deliverOnly ? `would deliver${number}, without an agent` : `would run${number}`;
    fields(title, { ...request, ...wrapping, message }, terminal);
  }
}

/** Names in templates that the payload does not have, each once. */
function showAbsent({ runs }: DryRun, terminal: Terminal): void {
  const absent = new Map(runs.flatMap((run) => run.absent ?? []).map((one) => [`${one.path} ${one.name}`, one]));
  if (absent.size === 0) return;
  terminal.line();
  terminal.line(terminal.style("bold", "absent"));
  for (const { path, detail } of absent.values())
    terminal.line(
      `  ${terminal.style("yellow", "!")} ${visibleLine(detail, 1_000)} ${terminal.style("dim", `(${path})`)}`,
    );
}

/**
 * What people read of a message that is sent without an agent, and what they would read if its values were inserted as
 * Markdown.
 */
function showMessage(message: string, step: DryStep | undefined, terminal: Terminal): void {
  const read = plainText(message);
  fields("people read", { message: read }, terminal);
  const result = step?.transform?.result;
  const isOfTransform = typeof result === "object" && result !== null && Object.hasOwn(result, "message");
  const inserted = isOfTransform ? undefined : step?.rendered.message;
  if (typeof inserted !== "string" || plainText(inserted) === read) return;
  fields("with {{{ }}} in place of {{ }}, people would read", { message: plainText(inserted) }, terminal);
}

function fields(title: string, values: object, terminal: Terminal): void {
  terminal.line();
  terminal.line(terminal.style("bold", title));
  const width = Math.max(0, ...Object.keys(values).map((name) => Math.min(name.length, 20)));
  for (const [name, value] of Object.entries(values)) {
    const text = visible(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
    const lines = text.split("\n");
    terminal.line(
      `  ${terminal.style("dim", visibleLine(name, 60).padEnd(width))}  ${lines.length === 1 ? text : ""}`.trimEnd(),
    );
    if (lines.length > 1) for (const line of lines) terminal.line(`    ${line}`);
  }
}
