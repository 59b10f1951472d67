/** Checks what transcribes and speaks: programs, prices, what does not answer, and people whom nothing listens to. */
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { createPrices } from "../../agents/spending/prices.ts";
import { usdLimits } from "../../agents/spending/unpriced-models.ts";
import type { GatewayConfig } from "../../config/schema.ts";
import { HostError } from "../../contract/errors.ts";
import { renderDuration } from "../output/times.ts";
import type { CheckInput } from "./check-input.ts";
import { type Finding, ok } from "./finding.ts";

const check = "voice";

interface Entry {
  readonly path: string;
  readonly model?: string;
  readonly command?: readonly string[];
}

function entriesOf({ models: { speech = {} } }: GatewayConfig): readonly Entry[] {
  const listeners = speech.in ?? [];
  const root = "models.speech";
  const into: readonly Entry[] = Array.isArray(listeners)
    ? listeners.map((listener, index) => ({ ...listener, path: `${root}.in[${index}]` }))
    : [{ ...(listeners as Omit<Entry, "path">), path: `${root}.in` }];
  return [...into, ...(speech.out === undefined ? [] : [{ ...speech.out, path: `${root}.out` }])];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** As `spawn` looks for it. */
function isFound(program: string, path: string): boolean {
  if (isAbsolute(program) || program.includes("/")) return isExecutable(program);
  return path.split(delimiter).some((directory) => directory !== "" && isExecutable(join(directory, program)));
}

function missingPrograms(entries: readonly Entry[], { PATH = "" }: CheckInput["context"]["env"]): readonly Finding[] {
  return entries.flatMap(({ command, path }): readonly Finding[] => {
    const [program] = command ?? [];
    if (program === undefined || isFound(program, PATH)) return [];
    const isThere = program.includes("/") && existsSync(program);
    const [state, fix] = isThere
      ? ["may not be run by this user", `Make it executable: chmod +x ${program}`]
      : ["is not found", "Install it, or write its whole path."];
    return [{ check, verdict: "fail", path: `${path}.command`, reason: `the program ${program} ${state}`, fix }];
  });
}

const oneMinute = { inputTokens: 0, outputTokens: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** A limit in US dollars refuses models without a price for a minute. */
function unpriced(entries: readonly Entry[], config: GatewayConfig): readonly Finding[] {
  const limit = usdLimits(config).find(({ refuses }) => refuses);
  if (limit === undefined) return [];
  const prices = createPrices(() => config);
  return entries.flatMap(({ model, path }): readonly Finding[] => {
    if (model === undefined || prices.of(model, oneMinute, 60).usd !== null) return [];
    return [
      {
        ...{ check, verdict: "fail", path: `${path}.model` },
        reason: `the price of a minute of ${model} is unknown and ${limit.path} is set, so it is not called`,
        fix: `Set models.prices["${model}"] to { "minute": ... }, in US dollars; 0 if it costs nothing.`,
      },
    ];
  });
}

export function checkVoice({ context, loaded: { config }, state }: CheckInput): readonly Finding[] {
  const { away = [], unheard = 0 } = state === undefined || state instanceof HostError ? {} : state.speech;
  if (config.models.speech?.in === undefined && unheard > 0) {
    const people = unheard === 1 ? "1 person has" : `${unheard} people have`;
    return [
      {
        ...{ check, verdict: "warn", path: "models.speech.in" },
        reason: `${people} sent voice messages, and nothing is set that transcribes them`,
        fix: "Set models.speech.in to a model or a program that transcribes.",
      },
    ];
  }
  const entries = entriesOf(config).filter(({ model, command }) => model !== undefined || command !== undefined);
  if (entries.length === 0) return [];
  const silent = away.map(({ name, since }): Finding => {
    const reason = `${name} has not answered for ${renderDuration(Math.max(0, context.now() - since))}`;
    return { check, verdict: "warn", reason, path: "models.speech", fix: "Check that server, and the log." };
  });
  const found = [...missingPrograms(entries, context.env), ...unpriced(entries, config), ...silent];
  return found.length > 0 ? found : [ok(check, "what transcribes and speaks is set")];
}
