/** `models test`: asks models something short, and prints how soon they answer. */
import type { ModelTest } from "../../agents/turn/model-test.ts";
import { agentIds } from "../../config/agents.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CommandContext } from "../context.ts";
import { openTester } from "./tester.ts";

interface Options {
  readonly agent?: string;
  readonly json?: boolean;
}

export async function testModels(
  context: CommandContext,
  [name]: readonly [string?],
  { agent, json }: Options,
): Promise<number> {
  const agents = agentIds((await context.load()).config);
  if (agent !== undefined && !agents.includes(agent))
    throw new HostError("usage", {
      reason: `--agent: there is no agent ${agent}; the agents are ${agents.join(", ")}`,
    });
  // A name is that of one model; without one, the model of each agent is asked.
  const asked = agent !== undefined ? [agent] : name !== undefined ? agents.slice(0, 1) : agents;
  const tester = await openTester(context);
  const tests: ModelTest[] = [];
  try {
    for (const one of asked) {
      if (json !== true) context.terminal.note(`Asking ${name ?? `the model of ${one}`} ...`);
      tests.push(await tester.test({ agent: one, ...(name !== undefined && { model: name }) }));
    }
  } finally {
    await tester.close();
  }
  if (json === true) context.terminal.json({ tests });
  else for (const test of tests) show(test, context);
  return tests.some(({ error }) => error !== undefined) ? 1 : 0;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;

function show(
  { agent, model, firstWordMs, totalMs, inputTokens, outputTokens, error }: ModelTest,
  context: CommandContext,
) {
  const { terminal } = context;
  const who = `${terminal.style("bold", visibleLine(model, 80) || "-")} (${visibleLine(agent, 40)})`;
  if (error !== undefined) {
    const hint = error.hint === undefined ? "" : ` ${visibleLine(error.hint, 300)}`;
    terminal.line(`${terminal.style("red", "✗")} ${who}: ${visibleLine(error.reason, 500)} (${error.code}).${hint}`);
    return;
  }
  const tokens = inputTokens === undefined ? "" : `, ${inputTokens} tokens in, ${outputTokens ?? 0} out`;
  const first = firstWordMs === undefined ? "no text" : `the first word after ${seconds(firstWordMs)}`;
  terminal.line(`${terminal.style("green", "✓")} ${who}: ${first}, complete after ${seconds(totalMs ?? 0)}${tokens}`);
}
