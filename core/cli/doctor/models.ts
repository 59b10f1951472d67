/**
 * Checks which models a running gateway passes over, such as one whose key is refused, and which servers of models get
 * their key without encryption.
 */
import { isLocal } from "../../agents/context/model-rooms.ts";
import { findCode } from "../../contract/codes.ts";
import { renderDuration } from "../output/times.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, orOk, withoutStop } from "./finding.ts";

export function checkModels(input: CheckInput): readonly Finding[] {
  const { models } = input.loaded.config;
  return [...keysInTheClear(models.providers), ...passedOver(input)];
}

/** A key that is sent to another network without encryption can be read on the way. */
function keysInTheClear(providers: CheckInput["loaded"]["config"]["models"]["providers"]): readonly Finding[] {
  return Object.entries(providers).flatMap(([id, { baseUrl = "", apiKey, headers = {} }]): readonly Finding[] => {
    const address = URL.parse(baseUrl);
    const hasSecret = apiKey !== undefined || Object.keys(headers).length > 0;
    if (address?.protocol !== "http:" || !hasSecret || isLocal({ baseUrl })) return [];
    const reason = `${id} gets its key without encryption, at ${address.origin}`;
    const fix = "Use https, or a server in your own network.";
    return [{ check: "models", verdict: "warn", reason, path: `models.providers.${id}.baseUrl`, fix }];
  });
}

function passedOver({ description, context }: CheckInput): readonly Finding[] {
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
