/** Reports the tools that a running gateway leaves out, because the server of a model does not accept them. */

import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk, withoutStop } from "./finding.ts";

/** Where a model takes no tools at all, each of them is refused for the same reason. */
const mostNames = 10;

export function checkRefusedTools({ description }: CheckInput): readonly Finding[] {
  // What a model refuses is known to the process that asked. An older gateway does not report it.
  if (description?.refusedTools === undefined) return [];
  const groups = Map.groupBy(description.refusedTools, ({ model, reason }) => JSON.stringify([model, reason]));
  const found = [...groups.values()].map((tools): Finding => {
    const { model = "", reason = "" } = tools[0] ?? {};
    const names = tools.slice(0, mostNames).map(({ name, plugin }) => `${name} (${plugin})`);
    const more = tools.length > mostNames ? ` and ${tools.length - mostNames} others` : "";
    const what = tools.length === 1 ? "tool" : "tools";
    return {
      check: "tools",
      verdict: "warn",
      reason:
        `the server of ${model} does not accept the ${what} ${names.join(", ")}${more}, so turns go ` +
        `on without: ${withoutStop(reason)}`,
      fix:
        "Correct the schema where the tool comes from, leave it out with agents.*.tools.deny, or choose " +
        "another model.",
    };
  });
  return orOk(found, "tools", "no tool is refused by a model");
}
