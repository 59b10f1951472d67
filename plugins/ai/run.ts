/** Runs one turn: converts the AI SDK's stream to the gateway's. */
import { EngineError, type EngineTurn, type PluginLog, type TurnEvent } from "service-gateway/sdk";
import { liveOf } from "./answer/live.ts";
import { Shown } from "./answer/shown.ts";
import type { Patience } from "./attempt.ts";
import { generatedMedia } from "./chat/images.ts";
import type { Cooldowns } from "./cooldowns.ts";
import { emptyAnswer, tokensUsedUp } from "./empty.ts";
import { createExactNumbers } from "./exact-numbers.ts";
import type { Library } from "./library.ts";
import type { Memories } from "./memory.ts";
import type { NativePackages, Natives } from "./native/packages.ts";
import type { ModelFacts } from "./order.ts";
import type { Candidate } from "./persist.ts";
import { renderMessages, renderTools } from "./prompt.ts";
import { factsOf, findTarget, openModel, providersOf } from "./provider.ts";
import { createResilientModel } from "./resilient.ts";
import { createRequestRoom } from "./room/request-room.ts";
import { createAccounted } from "./spending.ts";

export interface RunOptions {
  readonly library: Library;
  readonly natives: NativePackages;
  readonly log: Pick<PluginLog, "warn" | "error">;
  readonly cooldowns: Cooldowns;
  readonly memories: Memories;
  readonly patience: Patience;
  readonly maxSteps: number;
  /** The question is about a file, so a model that accepts no files is not asked without it. */
  readonly needsFiles?: boolean;
  /** The longest reply; absent if the server decides. */
  readonly maxOutputTokens?: number;
  /** A request of which a part would be missing is not made. */
  readonly whole?: boolean;
}

/** The parts of a turn that a model needs. */
type Asked = Pick<
  EngineTurn,
  "model" | "fallbacks" | "providers" | "thinking" | "instructions" | "messages" | "tools" | "spending" | "room"
> &
  Partial<Pick<EngineTurn, "inbound">>;

/** A person who wrote the message can shorten it. */
const isOfPerson = ({ inbound }: Asked): boolean => inbound?.authority === "channel" && inbound.request === undefined;

/** What the operator says about a model, and what is known of its context otherwise. */
function knownFacts(name: string, { providers, room }: Asked): ModelFacts {
  const { tokens, source } = room?.models[name] ?? { tokens: undefined, source: "default" };
  const facts = factsOf(name, providers);
  return source === "default" ? facts : { ...facts, contextTokens: tokens };
}

function candidateOf(
  name: string,
  turn: Asked,
  { library, memories, natives }: Pick<RunOptions, "library" | "memories"> & { readonly natives: Natives },
): Candidate {
  const target = () => findTarget(name, turn.providers);
  return {
    name,
    facts: knownFacts(name, turn),
    target,
    thinks: turn.thinking !== "off",
    takesNoTools: () => memories.of(target()).takesNoTools !== undefined,
    open({ thinks, without = new Set<string>(), needsThoughts = false }) {
      const opened = target();
      const thinking = thinks ? turn.thinking : "off";
      const how = { thinking, without, needsThoughts };
      return { target: opened, model: openModel(opened, { library, natives, ...how }) };
    },
  };
}

export async function* runTurn(turn: Asked, signal: AbortSignal, options: RunOptions): AsyncGenerator<TurnEvent> {
  const { library, log, cooldowns, memories, patience, maxSteps } = options;
  if (turn.model === undefined) {
    throw new EngineError("model_missing", {
      detail: "No model is configured",
      hint: "Set agents.defaults.model to provider/model.",
    });
  }
  const names = [turn.model, ...turn.fallbacks];
  const natives = await options.natives.of(providersOf(names, turn.providers));
  const candidates = names.map((name) => candidateOf(name, turn, { library, memories, natives }));
  const speaking: Speaking = { model: turn.model, notices: [] };
  let last = "";
  const exact = createExactNumbers(library);
  const refused = new Set<string>();
  const resilient = createResilientModel(library, {
    candidates: candidates as [Candidate, ...Candidate[]],
    ...{ patience, cooldowns, memories, log },
    accounted: createAccounted(turn.spending),
    room: createRequestRoom(turn.room, {
      lasting: turn.messages.filter(({ lasting }) => lasting === true).length,
      mayCutMessage: options.whole !== true && !isOfPerson(turn),
    }),
    ...(options.needsFiles === true ? { needsFiles: true } : {}),
    onModel(model, skipped) {
      const now = JSON.stringify([model, skipped]);
      speaking.model = model;
      if (now !== last) speaking.notices.push({ type: "model", model, skipped });
      last = now;
    },
    onRefusedTool({ model, name, reason }) {
      const key = JSON.stringify([model, name]);
      if (!refused.has(key)) speaking.notices.push({ type: "tool-refused", model, name, reason });
      refused.add(key);
    },
  });
  const ending = new AbortController();
  const result = library.streamText({
    model: exact.follow(resilient),
    instructions: turn.instructions,
    messages: await renderMessages(turn.messages, { hears: candidates.some(({ facts }) => facts.audio === true) }),
    tools: renderTools(turn.tools, { library, exact, signal }),
    stopWhen: library.isStepCount(maxSteps),
    maxOutputTokens: options.maxOutputTokens,
    // `resilient.ts` does the retries, because it also falls back to the next model.
    maxRetries: 0,
    // What is shown of a step before it is complete, see `live.ts`.
    include: { rawChunks: true },
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
  /** What no event has reported yet. */
  readonly notices: TurnEvent[];
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
  }: {
    readonly speaking: Speaking;
    readonly maxSteps: number;
    readonly signal: AbortSignal;
    readonly log: Pick<PluginLog, "warn">;
  },
): AsyncGenerator<TurnEvent> {
  const shown = new Shown();
  let answered = false;
  let called = false;
  let wantsTools = false;
  let finish = "stop";
  for await (const part of parts) {
    yield* speaking.notices.splice(0);
    const live = liveOf(part);
    if (live !== undefined) yield* shown.take(live);
    switch (part.type) {
      case "text-delta":
        // It has been shown. This is the text of the complete step.
        answered ||= part.text.trim() !== "";
        break;
      case "file":
        answered = true;
        yield shown.file({ type: "media", media: generatedMedia(part.file) });
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
        shown.endStep();
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
  return {
    ...(cacheRead > 0 && { cacheRead }),
    ...(cacheWrite > 0 && { cacheWrite }),
    ...(reasoning > 0 && { reasoning }),
  };
}

type Part = ReturnType<Library["streamText"]>["stream"] extends AsyncIterable<infer P> ? P : never;
