/**
 * Remembers which models did not answer, so that later turns do not wait for them. Kept in memory: a restart asks every
 * model again.
 */
import { createHash } from "node:crypto";
import type { Failure } from "./failure.ts";
import type { Target } from "./provider.ts";

const minute = 60_000;
/** The first pause after a failure that may be over soon. It doubles with each further failure. */
const shortestMs = minute;
const longestMs = 10 * minute;
const quotaMs = 10 * minute;
/**
 * A refused key is replaced in the configuration, which ends the pause. An account that is unlocked at the provider is
 * noticed by then.
 */
const keyMs = 60 * minute;
/** Failures that are further apart than this have nothing to do with each other. */
const forgottenMs = 60 * minute;
/** Longer waits that a server asks for are cut. */
const longestAskedMs = 60 * minute;
/** Names of models can come from requests, so their number is bounded. */
const mostPauses = 1_000;

/** Failures that do not end with the request: asking the model again at once costs time, and fails again. */
const pausing: ReadonlySet<string> = new Set([
  "model_busy",
  "model_cut_off",
  "model_failed",
  "model_garbled",
  "model_quota",
  "model_stalled",
  "model_unauthorized",
  "model_unavailable",
  "model_unknown",
  "model_unreachable",
]);

/** Why a model is not asked for a while. */
export interface Pause {
  /** The code of the failure, such as `model_quota`. */
  readonly reason: string;
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

interface Entry extends Pause {
  readonly failures: number;
  /** The pause is over, and one turn asks whether the model answers again. */
  probed: boolean;
}

/** The right to ask a model. The first call of `answered` or `release` ends it. */
export interface Permit {
  answered(): void;
  /**
   * The call ended otherwise: by a failure, which `pause` has noted, or without showing whether the model answers, such
   * as by `/stop`.
   */
  release(): void;
}

export interface Cooldowns {
  /** The pause of a model or of its whole provider; `undefined` if it may be asked. */
  pauseOf(target: Target): Pause | undefined;
  /**
   * Takes the right to ask. After a pause only one turn gets it, until that turn knows more. `anyway`: also during a
   * pause.
   */
  enter(target: Target, options?: { readonly anyway?: boolean }): Permit | undefined;
  /** Notes a failure. Those that concern one request only, such as too long a conversation, have no effect. */
  pause(target: Target, failure: Failure): void;
}

/** A provider with other settings is another one: a new key or address ends the pause. */
function keysOf({ providerId, modelId, provider }: Target): { readonly provider: string; readonly model: string } {
  const { api, baseUrl, apiKey, headers } = provider;
  const key = createHash("sha256")
    .update(JSON.stringify([providerId, api, baseUrl, apiKey, headers]))
    .digest("base64");
  return { provider: key, model: `${key} ${modelId}` };
}

/** Names a model with the settings of its provider. */
export const keyOfModel = (target: Target): string => keysOf(target).model;

function lengthOf({ error, waitMs }: Failure, failures: number): number {
  if (error.reason === "model_quota") return quotaMs;
  if (error.reason === "model_unauthorized") return keyMs;
  const doubled = Math.min(longestMs, shortestMs * 2 ** (failures - 1));
  return Math.max(doubled, Math.min(waitMs ?? 0, longestAskedMs));
}

export function createCooldowns({ now }: { readonly now: () => number }): Cooldowns {
  const entries = new Map<string, Entry>();

  function pause(target: Target, failure: Failure): void {
    const { reason, message } = failure.error;
    if (!pausing.has(reason)) return;
    const keys = keysOf(target);
    const key = failure.wholeProvider === true ? keys.provider : keys.model;
    const before = entries.get(key);
    // Turns that began before the pause fail too. They say nothing new.
    if (before !== undefined && now() < before.until) return;
    const failures = before === undefined || now() > before.until + forgottenMs ? 1 : before.failures + 1;
    entries.delete(key);
    entries.set(key, { reason, detail: message, until: now() + lengthOf(failure, failures), failures, probed: false });
    const oldest = entries.size > mostPauses ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  }

  function pauseOf(target: Target): Entry | undefined {
    if (entries.size === 0) return undefined;
    const keys = keysOf(target);
    return [keys.provider, keys.model]
      .flatMap((key) => entries.get(key) ?? [])
      .filter(({ until, probed }) => probed || now() < until)
      .toSorted((one, other) => other.until - one.until)[0];
  }

  return {
    pause,
    pauseOf,
    enter(target, { anyway = false } = {}) {
      if (!anyway && pauseOf(target) !== undefined) return undefined;
      const keys = keysOf(target);
      const asked = [keys.provider, keys.model].flatMap((key) => entries.get(key) ?? []);
      for (const entry of asked) entry.probed = true;
      let open = true;
      function end(answered: boolean): void {
        if (!open) return;
        open = false;
        for (const entry of asked) entry.probed = false;
        if (!answered) return;
        entries.delete(keys.provider);
        entries.delete(keys.model);
      }
      return { answered: () => end(true), release: () => end(false) };
    },
  };
}
