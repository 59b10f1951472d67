/** `usage`: how many tokens the models used, by agent and model. */

import { visibleLine } from "../log/visible.ts";
import type { UsageReport } from "../state/model-calls.ts";
import type { CommandContext } from "./context.ts";
import { parseSince, renderClock } from "./output/times.ts";

interface Options {
  readonly since: string;
  readonly json?: boolean;
}

export async function showUsage(context: CommandContext, _: readonly [], { since, json }: Options): Promise<number> {
  const from = parseSince(since, context.now());
  const store = await context.openState();
  try {
    const usage = await store.usage({ since: from });
    if (json === true) context.terminal.json({ since: from, usage, total: totalOf(usage) });
    else show(usage, from, context);
    return 0;
  } finally {
    await store.close();
  }
}

function show(usage: readonly UsageReport[], from: number, { terminal }: CommandContext): void {
  const { style } = terminal;
  if (usage.length === 0) {
    terminal.line(`No model has reported tokens since ${renderClock(from)}.`);
    return;
  }
  const numbers = ({ calls, inputTokens, outputTokens }: Pick<UsageReport, "calls" | "inputTokens" | "outputTokens">) =>
    [calls, inputTokens, outputTokens].map(String);
  terminal.line(`Since ${renderClock(from)}:`);
  terminal.table([
    ["agent", "model", "turns", "input tokens", "output tokens"].map((cell) => style("dim", cell)),
    ...usage.map((row) => [visibleLine(row.agentId, 40), visibleLine(row.model, 80), ...numbers(row)]),
    ...(usage.length === 1 ? [] : [["total", "", ...numbers(totalOf(usage))]]),
  ]);
}

function totalOf(usage: readonly UsageReport[]) {
  const sum = (read: (row: UsageReport) => number) => usage.reduce((total, row) => total + read(row), 0);
  return { calls: sum((row) => row.calls), inputTokens: sum((row) => row.inputTokens), outputTokens: sum((row) => row.outputTokens) };
}
