/** Which models a turn that begins now would pass over, and why. */
import { EngineError, type EngineTurn } from "service-gateway/sdk";
import type { Cooldowns } from "./cooldowns.ts";
import type { SkippedModel } from "./order.ts";
import { findTarget } from "./provider.ts";

export function skippedModels(
  { model, fallbacks, providers }: Pick<EngineTurn, "model" | "fallbacks" | "providers">,
  cooldowns: Pick<Cooldowns, "pauseOf">,
): readonly SkippedModel[] {
  return [...(model === undefined ? [] : [model]), ...fallbacks].flatMap((name): readonly SkippedModel[] => {
    try {
      const pause = cooldowns.pauseOf(findTarget(name, providers));
      return pause === undefined
        ? []
        : [{ model: name, reason: pause.reason, detail: pause.detail, until: pause.until }];
    } catch (error) {
      return error instanceof EngineError ? [{ model: name, reason: error.reason, detail: error.message }] : [];
    }
  });
}
