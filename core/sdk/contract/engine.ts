/** Engines, and the turn that an engine runs. */
import type { Inbound, InboundMedia, Json, SkippedModel, Thinking, TurnEvent } from "../../contract/index.ts";
import type { ModelRoom, TextSizes } from "../model-room.ts";

/** A tool that an engine may call. Two calls of one turn may run at the same time. */
export interface EngineTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
  /**
   * Resolves with the result for the model. A refused call resolves too: `{ ok: false, error, code }`. Files for the
   * model, such as images, are in the member `media` of an object that has no other members than those of `ToolOutput`:
   * a list of `{ mimeType, data }` with `data` in base64. A model that cannot be shown them reads the rest.
   *
   * `written` is the JSON text from which the model's `args` were parsed. With it, whole numbers keep all their digits;
   * without it, a call with an integer beyond 2^53 is refused, because digits may have been lost.
   */
  run(args: Json, signal: AbortSignal, written?: string): Promise<Json>;
}

/** One message of a transcript. */
export interface EngineMessage {
  readonly role: "user" | "assistant" | "system";
  readonly text: string;
  readonly media?: readonly InboundMedia[];
  /** Never leave it out of a request that is too long, such as the summary of earlier messages. */
  readonly lasting?: true;
}

/** How much the models of a turn take at once, and what the engine reports about that. */
export interface TurnRoom {
  /** By `provider/model`: the model of the turn and its fallbacks. */
  readonly models: Readonly<Record<string, ModelRoom>>;
  /**
   * A model has answered a request of this size. `inputTokens` is what its server counted; absent if it counts none, or
   * if the request had files. `leftOut`: how many messages of the conversation were left out because they did not fit.
   */
  counted(request: {
    readonly model: string;
    readonly sizes: TextSizes;
    readonly inputTokens?: number;
    readonly leftOut?: number;
  }): Promise<void>;
  /**
   * The server refused a request of this size as too long. `named`: the room that its refusal names. Resolves with what
   * is known from now on, which is remembered for 30 days: ask again with a request that fits.
   */
  refused(request: { readonly model: string; readonly sizes: TextSizes; readonly named?: number }): Promise<ModelRoom>;
}

/** What an engine receives for one turn. It does not change while the turn runs, even if the configuration does. */
export interface EngineTurn {
  readonly agentId: string;
  readonly sessionKey: string;
  /** What caused the turn, unchanged and untrusted. The last of `messages` contains the same text in its envelope. */
  readonly inbound: Inbound;
  /** `provider/model`; absent if none is configured. */
  readonly model?: string;
  /** Models to try, in order, if the first cannot be reached. */
  readonly fallbacks: readonly string[];
  readonly thinking: Thinking;
  /** System prompt. */
  readonly instructions: string;
  /** Names of the skills of this group or topic. Absent: all; empty: none. */
  readonly skills?: readonly string[];
  /** Oldest first; the last is the current request. */
  readonly messages: readonly EngineMessage[];
  /**
   * What the agent may call: the actions in chats, its skills, and the tools of plugins; see
   * `examples/reference/tools.md`.
   */
  readonly tools: readonly EngineTool[];
  /**
   * The providers of `models.providers`, and those of `model` and `fallbacks` that are known by name, secrets resolved.
   */
  readonly providers: Readonly<Record<string, EngineProvider>>;
  /**
   * How much each model takes. Cut every request to it before it is sent, those after calls of tools included: a server
   * refuses a longer one, or silently leaves out its beginning. Absent in a host that does not know, such as a test.
   *
   * @example
   * const room = turn.room?.models["acme/large"];
   * const sizes = addSizes(...messages.map(({ text }) => measureText(text)));
   * const isTooLong = room !== undefined && estimateTokens(room, sizes) > room.tokens - longestReply;
   */
  readonly room?: TurnRoom;
  /**
   * Asks before each call of a model whether the budget allows it, and says afterwards what it used. Call it around
   * every request to a model server, retries and fallbacks included. An engine that does not is accounted for by its
   * `usage` events, and a limit then stops only its next turn. Absent in a host without budgets, such as a test.
   *
   * @example
   * const inputTokens = estimate(messages);
   * const call = await turn.spending?.begin({ model: "acme/large", inputTokens, outputTokens: 4096 });
   * const reply = await ask(messages);
   * if (call !== undefined) await turn.spending?.end(call.id, { inputTokens: reply.in, outputTokens: reply.out });
   */
  readonly spending?: {
    /**
     * `inputTokens` is an estimate, `outputTokens` the longest reply; absent if the server decides. Throws
     * `EngineError`: `budget_exceeded`, `budget_run_exceeded` or `budget_unpriced`. Let it end the turn: no other model
     * and no later try may be asked instead. `last`: the budget of this run has room for one more reply of so many
     * tokens, so offer no tools and ask for a closing sentence.
     */
    begin(call: {
      readonly model: string;
      readonly inputTokens: number;
      readonly outputTokens?: number;
      /** Length of the sound that is transcribed or spoken, for models that are paid by the minute. */
      readonly seconds?: number;
    }): Promise<{ readonly id: string; readonly last?: number }>;
    /**
     * Call it once for each `begin`. `null`: nothing was used, such as when the server refused the request.
     * `estimated`: the server reported no usage, because the call broke off. The counts mean the same as in a `usage`
     * event. Never throws.
     */
    end(
      id: string,
      used: {
        readonly inputTokens: number;
        readonly outputTokens: number;
        readonly cacheRead?: number;
        readonly cacheWrite?: number;
        readonly reasoning?: number;
        readonly seconds?: number;
        readonly estimated?: boolean;
      } | null,
    ): Promise<void>;
  };
}

/** One model server: its protocol, its address and the credentials, secrets resolved. */
export interface EngineProvider {
  readonly api: "openai" | "anthropic" | "google" | "openai-compatible";
  /** `chat`: only chat completions, even if the engine can use the vendor's own protocol. */
  readonly protocol?: "chat";
  /** Absent: the vendor's own address. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The environment variable that the key is read from, for messages; absent if the configuration sets the key. */
  readonly keyVariable?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * What the operator says about single models, by the name after the slash. `contextTokens`: the size of the context
   * window, in tokens. `images` and `tools`: whether the model accepts images and calls tools; absent if unknown.
   * `audio`: whether it listens to sound files, of whatever format; absent if unknown.
   * `cacheMarks`: whether requests mark what the server may cache; absent: where its protocol has marks of its own.
   */
  readonly models?: Readonly<
    Record<
      string,
      {
        readonly contextTokens?: number;
        readonly images?: boolean;
        readonly audio?: boolean;
        readonly tools?: boolean;
        readonly cacheMarks?: boolean;
      }
    >
  >;
}

/**
 * An engine runs a turn and yields its events: `text` and the others as they come, `done` last. An engine that asks its
 * model again after the reply has begun yields `restart` first, because two beginnings must not be joined. Several
 * turns run at once. `plugins/echo` is a small example, `plugins/ai` a large one.
 */
export interface EngineDefinition {
  /** The name in `agents.defaults.engine`. */
  readonly id: string;
  /**
   * True if it does nothing without a configured model. This decides which engine replies if the configuration names
   * none.
   */
  readonly needsModel?: boolean;
  /** True if a reply depends on the last message alone. Earlier messages are then not loaded. */
  readonly stateless?: boolean;
  /**
   * Called once after the start if an agent uses this engine. Load slow resources here, so that they do not delay the
   * first reply.
   */
  prepare?(): Promise<void>;
  /**
   * Describes in a sentence or two what an image shows; `undefined` if the model cannot see images. Throws as `run`
   * does.
   */
  describe?(
    image: { readonly path: string; readonly mimeType: string },
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers" | "spending">,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * True if its models can listen to voice messages (Ogg/Opus), so that a turn goes on where nothing transcribes the
   * words.
   */
  readonly hears?: boolean;
  /**
   * Returns what is said in a sound file, as plain text; empty if nothing is. Called for `models.speech.in` with one
   * model. Throws as `run` does, and announces the call to `spending` with its `seconds`.
   */
  transcribe?(
    sound: { readonly path: string; readonly mimeType: string; readonly seconds: number },
    by: Pick<EngineTurn, "providers" | "spending"> & {
      readonly model: string;
      /** The language that is spoken, such as `de`; absent if it is unknown. */
      readonly language?: string;
    },
    signal: AbortSignal,
  ): Promise<string>;
  /**
   * Speaks a plain text, as Ogg/Opus where the server can. Called for `models.speech.out`. Throws as `run` does, and
   * announces the call to `spending` with its `seconds`, at first those of the estimate that it is handed.
   */
  speak?(
    speech: { readonly text: string; readonly seconds: number },
    by: Pick<EngineTurn, "providers" | "spending"> & {
      readonly model: string;
      /** The server's name of the voice. */
      readonly voice?: string;
    },
    signal: AbortSignal,
  ): Promise<{ readonly data: Uint8Array }>;
  /**
   * Answers a single request without tools, such as for the summary of a conversation. `text` and `instructions` fit
   * into the model, `maxTokens` is the longest reply. Throws as `run` does. The gateway summarizes no conversations of
   * an engine without it.
   */
  complete?(
    request: { readonly instructions: string; readonly text: string; readonly maxTokens: number },
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers" | "spending" | "room">,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly model: string }>;
  /**
   * The models that a turn which begins now would pass over, and why, such as one whose quota is used up. Called for
   * `/status`, `service status` and `service doctor`, so answer from memory. If all models are returned, one of them is
   * asked nevertheless.
   */
  skipped?(
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers">,
  ): Promise<readonly SkippedModel[]> | readonly SkippedModel[];
  /**
   * Ends with `done`. Throws `EngineError` if the model fails: the sender gets an apology, the operator the reason.
   * Stops soon after `signal` is aborted (`/stop`, `timeoutSeconds`, a closing gateway); later events are ignored.
   */
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<TurnEvent>;
}
