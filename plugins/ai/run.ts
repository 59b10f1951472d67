/** Runs one turn: converts the AI SDK's stream to the gateway's. */
import { EngineError, type EngineTurn, type PluginLog, type TurnEvent } from "service-gateway/sdk";
import type { Cooldowns } from "./cooldowns.ts";
import { emptyAnswer, tokensUsedUp } from "./empty.ts";
import { createExactNumbers } from "./exact-numbers.ts";
import { generatedMedia } from "./images.ts";
import type { Library } from "./library.ts";
import type { SkippedModel } from "./order.ts";
import { renderMessages, renderTools } from "./prompt.ts";
import { factsOf, findTarget, openModel } from "./provider.ts";
import { type Candidate, createResilientModel, type Patience } from "./resilient.ts";
import { createAccounted } from "./spending.ts";

export interface RunOptions {
  readonly library: Library;
  readonly log: Pick<PluginLog, "warn" | "error">;
  readonly cooldowns: Cooldowns;
  readonly patience: Patience;
  readonly maxSteps: number;
  /** The question is about a file, so a model that accepts no files is not asked without it. */
  readonly needsFiles?: boolean;
}

/** The parts of a turn that a model needs. */
type Asked = Pick<EngineTurn, "model" | "fallbacks" | "providers" | "thinking" | "instructions" | "messages" | "tools" | "spending">;

function candidateOf(name: string, turn: Asked, library: Library): Candidate {
  const target = () => findTarget(name, turn.providers);
  return {
    name,
    facts: factsOf(name, turn.providers),
    target,
    thinks: turn.thinking !== "off",
    open({ thinks }) {
      const target = findTarget(name, turn.providers);
      return { target, model: openModel(library, target, thinks ? turn.thinking : "off") };
    },
  };
}

export async function* runTurn(turn: Asked, signal: AbortSignal, options: RunOptions): AsyncGenerator<TurnEvent> {
  const { library, log, cooldowns, patience, maxSteps } = options;
  if (turn.model === undefined) {
    throw new EngineError("model_missing", { detail: "No model is configured", hint: "Set agents.defaults.model to provider/model." });
  }
  const [first, ...others] = [turn.model, ...turn.fallbacks].map((name) => candidateOf(name, turn, library));
  const speaking: Speaking = { model: turn.model, skipped: [], isNew: false };
  let last = "";
  const exact = createExactNumbers(library);
  const resilient = createResilientModel(library, {
    candidates: [first as Candidate, ...others],
    patience,
    cooldowns,
    log,
    accounted: createAccounted(turn.spending),
    ...(options.needsFiles === true ? { needsFiles: true } : {}),
    onModel(model, skipped) {
      const now = JSON.stringify([model, skipped]);
      if (now !== last) Object.assign(speaking, { model, skipped, isNew: true });
      last = now;
    },
  });
  const ending = new AbortController();
  const result = library.streamText({
    model: exact.follow(resilient),
    instructions: turn.instructions,
    messages: await renderMessages(turn.messages),
    tools: renderTools(turn.tools, { library, exact, signal }),
    stopWhen: library.isStepCount(maxSteps),
    // `resilient.ts` does the retries, because it also falls back to the next model.
    maxRetries: 0,
    abortSignal: AbortSignal.any([signal, ending.signal]),
    // The default handler prints to the console. The error is also in the stream.
    onError: () => undefined,
  });
  try {
    yield* translate(result.stream, { speaking, maxSteps, signal, log });
  } finally {
    ending.abort();
  }
}

/** The model that answers the current step. */
interface Speaking {
  model: string;
  skipped: readonly SkippedModel[];
  /** No event has reported it yet. */
  isNew: boolean;
}

/** The error of a model that keeps calling tools. */
function exhausted(maxSteps: number): EngineError {
  return new EngineError("model_tool_loop", {
    detail: `The model called tools in ${maxSteps} rounds without reaching a reply`,
    hint: "Ask for less at once, or raise plugins.entries.ai.options.maxSteps.",
  });
}

async function* translate(
  parts: AsyncIterable<Part>,
  {
    speaking,
    maxSteps,
    signal,
    log,
  }: { readonly speaking: Speaking; readonly maxSteps: number; readonly signal: AbortSignal; readonly log: Pick<PluginLog, "warn"> },
): AsyncGenerator<TurnEvent> {
  let said = "";
  let answered = false;
  let broken = false;
  let called = false;
  let wantsTools = false;
  let finish = "stop";
  for await (const part of parts) {
    if (speaking.isNew) {
      speaking.isNew = false;
      yield { type: "model", model: speaking.model, skipped: speaking.skipped };
    }
    switch (part.type) {
      case "text-start":
        // Texts before and after a tool call are separate paragraphs.
        broken = said !== "" && !said.endsWith("\n");
        break;
      case "text-delta":
        if (part.text === "") break;
        said = part.text;
        answered ||= part.text.trim() !== "";
        yield { type: "text", delta: broken ? `\n\n${part.text}` : part.text };
        broken = false;
        break;
      case "reasoning-delta":
        if (part.text !== "") yield { type: "reasoning", delta: part.text };
        break;
      case "file":
        answered = true;
        yield { type: "media", media: generatedMedia(part.file) };
        break;
      case "tool-call":
        called = true;
        yield { type: "tool", name: part.toolName, state: "started" };
        break;
      case "tool-result":
        yield { type: "tool", name: part.toolName, state: "finished" };
        break;
      case "tool-error":
        yield {
          type: "tool",
          name: part.toolName,
          state: "failed",
          detail: part.error instanceof Error ? part.error.message : String(part.error),
        };
        break;
      case "finish-step": {
        // Some servers name the wrong reason: that of tool calls without one, or that of a complete answer with one.
        wantsTools = called;
        called = false;
        finish = part.finishReason;
        const { inputTokens, outputTokens } = part.usage;
        if (inputTokens === undefined && outputTokens === undefined) break;
        yield {
          type: "usage",
          inputTokens: inputTokens ?? 0,
          outputTokens: outputTokens ?? 0,
          ...details(part.usage),
          model: speaking.model,
        };
        break;
      }
      case "abort":
        signal.throwIfAborted();
        break;
      case "error":
        signal.throwIfAborted();
        throw part.error;
      default:
    }
  }
  signal.throwIfAborted();
  if (wantsTools) throw exhausted(maxSteps);
  if (!answered) throw emptyAnswer(speaking.model, finish);
  if (finish === "length") log.warn({ model: speaking.model }, `a reply is incomplete: ${tokensUsedUp}`);
  yield { type: "done" };
}

type Step = Extract<Part, { readonly type: "finish-step" }>;

/** The parts of the counts, as far as the server names them. */
function details({ inputTokenDetails, outputTokenDetails }: Step["usage"]) {
  const { cacheReadTokens: cacheRead = 0, cacheWriteTokens: cacheWrite = 0 } = inputTokenDetails;
  const { reasoningTokens: reasoning = 0 } = outputTokenDetails;
  return { ...(cacheRead > 0 && { cacheRead }), ...(cacheWrite > 0 && { cacheWrite }), ...(reasoning > 0 && { reasoning }) };
}

type Part = ReturnType<Library["streamText"]>["stream"] extends AsyncIterable<infer P> ? P : never;
