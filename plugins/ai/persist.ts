/**
 * Asks one model until its output begins: repeats the request, without what the model refuses, as long as that may
 * help.
 */
import { setTimeout as delay } from "node:timers/promises";
import { EngineError, type PluginLog } from "service-gateway/sdk";
import { hasFiles, withoutFiles } from "./attachments.ts";
import { begin, type Opened, type Patience } from "./attempt.ts";
import { refusesIds, withShortIds } from "./call-ids.ts";
import { thoughtField } from "./chat/request-fields.ts";
import type { Cooldowns } from "./cooldowns.ts";
import { explain, type Failure, mayMeanFiles, refusesThinking } from "./failure.ts";
import { fieldFault, missesThoughts } from "./field-faults.ts";
import type { ModelCall, ModelStream } from "./library.ts";
import { definitionOf, type ModelMemory, rememberRefused, type Tool } from "./memory.ts";
import type { Asking, Contestant } from "./order.ts";
import type { Target } from "./provider.ts";
import type { RequestRoom, SizedCall } from "./room/request-room.ts";
import { isQuoted, namedRoom } from "./room/too-long.ts";
import type { Accounted } from "./spending.ts";
import { findRefused, toolFault } from "./tool-faults.ts";
import { retryDelay } from "./waits.ts";

export interface Candidate extends Contestant {
  /**
   * Throws `EngineError` if the name is invalid. `thinks`: whether the model is asked to think, if the turn asks for
   * that.
   */
  open(how: {
    readonly thinks: boolean;
    readonly without?: ReadonlySet<string>;
    readonly needsThoughts?: boolean;
  }): Opened;
  /** Whether the turn asks the model to think. */
  readonly thinks: boolean;
}

/** What one model of a turn has refused. Later steps of the turn do not ask for it again. */
export interface Learned {
  thinks: boolean;
}

/** How often one model was asked in a step. */
export interface Tries {
  count: number;
}

export interface PersistOptions {
  readonly patience: Patience;
  readonly cooldowns: Cooldowns;
  readonly asking: Asking;
  /** The call makes no sense without its files. */
  readonly needsFiles: boolean;
  readonly learned: Learned;
  readonly memory: ModelMemory;
  readonly tries: Tries;
  readonly accounted: Accounted;
  readonly room: RequestRoom;
  readonly log: Pick<PluginLog, "warn">;
  /** A tool that this model is asked without. */
  readonly onRefusedTool: (tool: string, reason: string) => void;
}

function noFiles({ providerId, modelId }: Target, cause?: EngineError): EngineError {
  const hint = "Choose a model that accepts files of this kind.";
  return new EngineError("model_takes_no_files", {
    detail: `${modelId} at ${providerId} accepts no files`,
    hint,
    cause,
  });
}

function noTools(cause: EngineError): EngineError {
  return new EngineError("model_takes_no_tools", {
    detail: cause.message,
    hint: "Choose a model that calls tools.",
    cause,
  });
}

/** A larger model can answer without leaving anything out. */
function doesNotFit({ providerId, modelId }: Target): EngineError {
  return new EngineError("model_context_full", {
    detail: `The conversation does not fit into ${modelId} at ${providerId}`,
    hint: "Send /compact, or choose a model with a larger context.",
  });
}

/** The share of a context that a request must take at least if it is too long. */
const leastShare = 0.5;

/** A server that repeats the request repeats what a person has quoted in it, also in one that is not too long. */
function believable(failure: Failure, asked: SizedCall): Failure {
  const { error, details = error.message } = failure;
  if (error.reason !== "model_context_full" || !isQuoted(details, asked.call)) return failure;
  if (asked.tokens === undefined || asked.tokens >= leastShare * (namedRoom(details) ?? asked.room ?? 0))
    return failure;
  return { ...failure, error: new EngineError("model_refused", { detail: error.message, cause: error.cause }) };
}

/** The call with these tools. A request with an empty list is refused by some servers. */
function withTools(call: ModelCall, tools: readonly Tool[]): ModelCall {
  if (tools.length === (call.tools?.length ?? 0)) return call;
  const { tools: _, toolChoice, ...rest } = call;
  return tools.length === 0 ? rest : { ...rest, tools: [...tools], ...(toolChoice !== undefined && { toolChoice }) };
}

/** Tools that a refusal named, until the next answer shows whether they were at fault. */
interface Blamed {
  readonly definitions: readonly string[];
  readonly refusalText: string;
  /** By their place in the request, where the next tool stands by now. */
  readonly byPlace: boolean;
}

/** More rounds find nothing. */
const mostSearches = 2;
/** Each refusal of a request may name another tool. */
const mostRefusals = 150;

/** One model, asked for one step. */
class Persisting {
  readonly #candidate: Candidate;
  readonly #options: PersistOptions;
  #asked: ModelCall;
  #opened: Opened;
  #blamed: Blamed | undefined;
  #searches = 0;
  #refusals = 0;

  constructor(candidate: Candidate, call: ModelCall, options: PersistOptions) {
    this.#candidate = candidate;
    this.#options = options;
    this.#opened = this.#open();
    this.#asked = this.#adapted(call);
  }

  async run(): Promise<ModelStream> {
    const { tries, patience, accounted, room, memory } = this.#options;
    const { name } = this.#candidate;
    for (;;) {
      this.#opened = this.#open();
      const opened = this.#opened;
      const asked = this.#fit();
      const { call } = asked;
      try {
        return await accounted(
          name,
          call,
          (one) => begin(opened, memory.needsShortIds ? withShortIds(one) : one, patience),
          (inputTokens) => room.counted(name, asked, inputTokens),
        );
      } catch (thrown) {
        call.abortSignal?.throwIfAborted();
        const failure = believable(explain(thrown, opened.target), asked);
        if (await this.#mend(failure, asked)) continue;
        const wait = waitBefore(failure, this.#options);
        if (wait === undefined) {
          this.#options.cooldowns.pause(opened.target, failure);
          throw failure.error;
        }
        tries.count += 1;
        await delay(wait, undefined, call.abortSignal === undefined ? {} : { signal: call.abortSignal });
      }
    }
  }

  /** The call without what the server has refused, and without what does not fit. */
  #fit(): SizedCall {
    const { room, asking } = this.#options;
    const asked = room.fit(this.#candidate.name, withTools(this.#asked, this.#acceptedTools()));
    if (asked.isCut && !asking.mayShorten) throw doesNotFit(this.#opened.target);
    return asked;
  }

  #open(): Opened {
    const { learned, memory } = this.#options;
    const { unknownFields: without, needsThoughts } = memory;
    return this.#candidate.open({ thinks: learned.thinks, without, needsThoughts });
  }

  /** The call without what the model is known not to accept. Throws if it makes no sense without that. */
  #adapted(call: ModelCall): ModelCall {
    const { facts } = this.#candidate;
    const { tools } = facts;
    const seen = withoutFiles(call, facts);
    if (seen !== call && this.#options.needsFiles) throw noFiles(this.#candidate.target());
    return tools === false ? withTools(seen, []) : seen;
  }

  /** The tools of the call that the server has not refused. */
  #acceptedTools(): readonly Tool[] {
    const { memory, onRefusedTool } = this.#options;
    const all: readonly Tool[] = this.#asked.tools ?? [];
    const { refusedTools, mostTools, takesNoTools } = memory;
    if (all.length === 0 || (refusedTools.size === 0 && mostTools === undefined && takesNoTools === undefined))
      return all;
    const accepted: Tool[] = [];
    for (const tool of all) {
      const tooMany = mostTools !== undefined && accepted.length >= mostTools.count ? mostTools.reason : undefined;
      const reason = takesNoTools ?? refusedTools.get(definitionOf(tool)) ?? tooMany;
      if (reason === undefined) accepted.push(tool);
      else onRefusedTool(tool.name, reason);
    }
    return accepted;
  }

  /** Leaves out what the server refuses. Returns whether the request is to be made again. */
  async #mend(failure: Failure, asked: SizedCall): Promise<boolean> {
    const { learned, log } = this.#options;
    const { error } = failure;
    const { call } = asked;
    const { modelId: model } = this.#opened.target;
    this.#refusals += 1;
    if (this.#refusals > mostRefusals) return false;
    if (error.reason === "model_context_full") return await this.#mendLength(failure, asked);
    // Fields come first: a refusal of one may speak of reasoning, which is not at fault.
    if (this.#mendFields(failure)) return true;
    if (learned.thinks && refusesThinking(error)) {
      learned.thinks = false;
      log.warn({ model, detail: error.message }, "the model cannot think; it is asked without that");
      return true;
    }
    if (await this.#mendTools(failure, call)) return true;
    return mayMeanFiles(error) && this.#leaveOutFiles(error);
  }

  /** What the server wants in another form, or not at all. */
  #mendFields(failure: Failure): boolean {
    const { memory, log } = this.#options;
    const { modelId: model } = this.#opened.target;
    const detail = failure.error.message;
    if (missesThoughts(failure) && !memory.needsThoughts) {
      memory.needsThoughts = true;
      memory.unknownFields.delete(thoughtField);
      log.warn({ model, detail }, "the server of the model wants a thought with each call of a tool");
      return true;
    }
    if (refusesIds(failure) && !memory.needsShortIds) {
      memory.needsShortIds = true;
      log.warn({ model, detail }, "the server of the model refuses the ids of calls of tools; it is sent shorter ones");
      return true;
    }
    const field = fieldFault(failure);
    if (field === undefined || memory.unknownFields.has(field)) return false;
    memory.unknownFields.add(field);
    log.warn({ model, field, detail }, "the server of the model does not know a field of the request; it is left out");
    return true;
  }

  /** The text deserves an answer even if the model cannot see the file. */
  #leaveOutFiles(error: EngineError): boolean {
    if (!hasFiles(this.#asked)) return false;
    if (this.#options.needsFiles) throw noFiles(this.#opened.target, error);
    this.#asked = withoutFiles(this.#asked);
    return true;
  }

  /** The room of the model is known from now on, so that no later request is too long for it. */
  async #mendLength({ error, details }: Failure, asked: SizedCall): Promise<boolean> {
    const { room, asking, log } = this.#options;
    const named = namedRoom(`${error.message}\n${details ?? ""}`);
    const { modelId: model } = this.#opened.target;
    // How many tokens a file takes is not known: its refusal says nothing about requests without it.
    if ((asked.tokens ?? 0) <= (named ?? Number.POSITIVE_INFINITY) && this.#leaveOutFiles(error)) {
      log.warn({ model, detail: error.message }, "the request is too long with its files; they are left out");
      return true;
    }
    if (!(await room.refused(this.#candidate.name, asked, named))) return false;
    log.warn(
      { model, named, detail: error.message },
      "the request is too long for the model; later ones are cut first",
    );
    return asking.mayShorten;
  }

  async #mendTools(failure: Failure, call: ModelCall): Promise<boolean> {
    const { memory, asking } = this.#options;
    const tools: readonly Tool[] = call.tools ?? [];
    const fault = toolFault(failure, tools);
    if (this.#isUnchanged(failure) || fault === undefined) {
      this.#forgive();
      return false;
    }
    const reason = failure.error.message;
    if (fault.kind === "unsupported") {
      memory.takesNoTools = reason;
      // Another model may call tools. If none answers, this one is asked without them.
      if (!asking.isLast) throw noTools(failure.error);
      return true;
    }
    if (fault.kind === "too-many") {
      const most = fault.most !== undefined && fault.most < tools.length ? fault.most : Math.floor(tools.length / 2);
      memory.mostTools = { count: most, reason };
      return true;
    }
    const refused = fault.kind === "named" ? fault.tools : await this.#find(failure, call);
    rememberRefused(memory, refused, reason);
    if (fault.kind === "named") {
      const definitions = [...(this.#blamed?.definitions ?? []), ...refused.map(definitionOf)];
      this.#blamed = { definitions, refusalText: refusalOf(failure), byPlace: fault.byPlace };
    }
    return refused.length > 0;
  }

  /** The server refuses in the same words without the tool that it named. */
  #isUnchanged(failure: Failure): boolean {
    return this.#blamed !== undefined && !this.#blamed.byPlace && this.#blamed.refusalText === refusalOf(failure);
  }

  /** The tools were not at fault: the request is refused without them, too. */
  #forgive(): void {
    for (const definition of this.#blamed?.definitions ?? []) this.#options.memory.refusedTools.delete(definition);
    this.#blamed = undefined;
  }

  /** Asks with fewer tools, and something short, until it is known which are at fault. */
  async #find(failure: Failure, call: ModelCall): Promise<readonly Tool[]> {
    const tools: readonly Tool[] = call.tools ?? [];
    this.#searches += 1;
    if (this.#searches > mostSearches) return tools;
    const opened = this.#opened;
    const { accounted, patience, log } = this.#options;
    log.warn(
      { model: opened.target.modelId, detail: failure.error.message },
      "the server of the model refuses a tool and does not say which; it is asked with fewer of them",
    );
    const question: ModelCall["prompt"] = [{ role: "user", content: [{ type: "text", text: "Say OK." }] }];
    return await findRefused(tools, async (some) => {
      try {
        const answer = await accounted(this.#candidate.name, { ...withTools(call, some), prompt: question }, (probe) =>
          begin(opened, probe, patience),
        );
        await answer.stream.cancel();
        return true;
      } catch (thrown) {
        call.abortSignal?.throwIfAborted();
        const probed = explain(thrown, opened.target);
        if (toolFault(probed, some) === undefined) throw probed.error;
        return false;
      }
    });
  }
}

const refusalOf = ({ error, details: body }: Failure): string => body ?? error.message;

/** How long to wait before another attempt, in milliseconds; `undefined`: there is none. */
export function waitBefore(
  failure: Failure,
  { patience, asking, tries }: Pick<PersistOptions, "patience" | "asking" | "tries">,
): number | undefined {
  const worthIt = asking.mayRetry && tries.count < patience.retries && !(failure.unreachable && !asking.isLast);
  return worthIt ? retryDelay(failure, tries.count, patience.retryDelayMs) : undefined;
}

export async function persist(candidate: Candidate, call: ModelCall, options: PersistOptions): Promise<ModelStream> {
  return await new Persisting(candidate, call, options).run();
}
