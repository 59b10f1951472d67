/** Reports the tools that a running gateway leaves out, because the server of a model does not accept them. */
import { type Finding, ok, withoutStop } from "./finding.ts";
import type { Patient } from "./patient.ts";

export function checkRefusedTools({ description }: Patient): readonly Finding[] {
  // What a model refuses is known to the process that asked. An older gateway does not report it.
  if (description?.refusedTools === undefined) return [];
  const found = description.refusedTools.map(
    ({ model, name, plugin, reason }): Finding => ({
      check: "tools",
      verdict: "warn",
      reason: `the tool ${name} (${plugin}) is left out, because the server of ${model} does not accept it: ${withoutStop(reason)}`,
      fix: "Correct the schema of the tool where it comes from, leave the tool out with agents.*.tools.deny, or choose another model.",
    }),
  );
  return found.length > 0 ? found : [ok("tools", "no tool is refused by a model")];
}
