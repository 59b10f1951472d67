/** Checks which models a running gateway passes over, such as one whose key is refused. */
import { findCode } from "../../contract/codes.ts";
import { renderDuration } from "../output/times.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk, withoutStop } from "./finding.ts";

export function checkModels({ description, context }: CheckInput): readonly Finding[] {
  // What does not answer is known to the process that asked. An older gateway does not report it.
  if (description?.models === undefined) return [];
  const found = new Map<string, Finding>();
  for (const { agent, model, skipped } of description.models) {
    for (const { model: name, reason, detail, until } of skipped) {
      const again =
        until === undefined ? "" : `; it is asked again in ${renderDuration(Math.max(0, until - context.now()))}`;
      const instead =
        model === undefined ? `no other model is left for the agent ${agent}` : `${model} answers in its place`;
      const path = `models.providers.${name.slice(0, Math.max(0, name.indexOf("/")))}`;
      const hint = findCode(reason)?.hint;
      // A model that several agents use is reported once, at its worst.
      if (model !== undefined && found.has(name)) continue;
      found.set(name, {
        check: "models",
        verdict: model === undefined ? "fail" : "warn",
        reason: `${name} is passed over (${reason}): ${withoutStop(detail)}${again}; ${instead}`,
        path,
        ...(hint === undefined || hint === "" ? {} : { fix: hint }),
      });
    }
  }
  return orOk([...found.values()], "models", "no model is passed over");
}
