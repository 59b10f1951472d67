/** Tools that plugins offer to agents. */
import type { Static, TObject } from "typebox";
import type { Address, Inbound, Json } from "../../contract/index.ts";

/** The turn that a tool is offered to, and called in. */
export interface ToolTurn {
  readonly agentId: string;
  readonly sessionKey: string;
  /** What caused the turn, unchanged and untrusted. */
  readonly inbound: Inbound;
  /** Where the reply goes; `null` if it goes nowhere. */
  readonly to: Address | null;
}

/** One call of a tool. */
export interface ToolCall<Args = Json> {
  /** What the model wrote, checked against `parameters`, with the defaults. */
  readonly args: Args;
  readonly turn: ToolTurn;
  /** Aborted by `/stop`, by the end of the turn and after `timeoutSeconds`. */
  readonly signal: AbortSignal;
  /**
   * Identifies the call by its event, its tool and its position among the turn's calls of that tool, whatever its
   * arguments. A call that a turn repeats after an interruption has the same key. Use it where a repetition must not
   * act twice, such as in the `key` of `host.notify`, and set `idempotent`.
   */
  readonly key: string;
}

/** The result of a tool that has more than JSON: an object with one of these members and no others. */
export interface ToolOutput {
  readonly text?: string;
  readonly json?: Json;
  /** Images and other files for the model, at most four of 5 MB. `data` is base64. */
  readonly media?: readonly { readonly mimeType: string; readonly data: string }[];
}

/** Any JSON, or a `ToolOutput`. Texts above 50 kB are cut in the middle. */
export type ToolResult = Json | ToolOutput;

/**
 * What is known of a call that was not done: `refused` before it ran, so nothing happened; `answered`: it ran and
 * answered with an error, so it may have done a part; `unreadable`: it ran, but its answer cannot be read; `unknown`:
 * it may have run. The member `outcome` of `{ ok: false, error, code }`; without one, the call counts as refused. The
 * model reads a sentence about it, except for `answered`, where `error` is the answer.
 */
export type ToolOutcome = "refused" | "answered" | "unreadable" | "unknown";

/**
 * Whose words the results of a tool are. `outside`: those of another program or of people, such as pages of the web.
 * The model reads them inside markers that no text can imitate. `own`: those of the plugin, as it means them; imitated
 * markers in them are replaced.
 */
export type ToolWords = "own" | "outside";

/** What the model reads of a tool, and how long a call may take. */
interface ToolOutline<Args> {
  /**
   * a to z, A to Z, 0 to 9, `_` and `-`, at most 64 characters. Of two tools with one name the second is left out, and
   * the log says so.
   */
  readonly name: string;
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /**
   * Whether an owner is asked before it runs. A function decides for each call, and may return the reason, which the
   * owner reads. The configuration (`agents.*.tools.approve`) can ask for more approvals, and never for fewer. Default:
   * false.
   */
  readonly needsApproval?: boolean | ((args: Args) => boolean | string | Promise<boolean | string>);
  /**
   * True for a tool that changes nothing outside of the reply, such as one that looks something up. A turn that runs
   * again after an interruption calls it again. Every other call is recorded before it begins, and is never repeated
   * unnoticed: the turn that runs again gets its recorded result, or reads `outcome_unknown` if there is none. Default:
   * false.
   */
  readonly readOnly?: boolean;
  /**
   * True for a tool whose calls with the same `key` act once and answer alike, because it uses `key` as the key of what
   * it does. A call that an interruption cut off is then repeated with its key, so its outcome is never unknown.
   * Default: false.
   */
  readonly idempotent?: boolean;
  /** Longest call, in seconds; then the model reads that the tool did not answer. At most 3600. Default: 60. */
  readonly timeoutSeconds?: number;
  /** Default: `own` for a tool of `host.tool`, `outside` for one of a source. */
  readonly words?: ToolWords;
  /**
   * Runs the tool. A call that cannot be done resolves too: `{ ok: false, error, code }`, where `error` is a sentence
   * for the model, and an `outcome` where the call may be repeated by mistake. If it throws, the model reads the
   * message of the error.
   */
  run(call: ToolCall<Args>): ToolResult | Promise<ToolResult>;
}

/** A tool that a plugin offers to agents; the argument of `host.tool`. */
export interface ToolDefinition<P extends TObject = TObject> extends ToolOutline<Static<P>> {
  /** The arguments, `Type.Object({})` where there are none. Give each a `description`: the model reads it. */
  readonly parameters: P;
  /** Ids of the agents that have it. Default: all. */
  readonly agents?: readonly string[];
}

/**
 * A tool whose arguments are described by a JSON Schema from elsewhere. They are passed on unchecked: the source
 * checks them.
 */
export interface SourcedTool extends ToolOutline<Json> {
  /** JSON Schema of an object. Of more than 32 kB, the tool is left out, and the log says so. */
  readonly parameters: Json;
  /**
   * Whether `run` takes numbers that JavaScript cannot represent, such as integers beyond 2^53, as raw JSON, which
   * `JSON.stringify` writes with all digits. Default: false: fractions are rounded, and a call with another such number
   * is refused with a sentence for the model. Never in a plugin in a worker.
   */
  readonly exactNumbers?: boolean;
}

/** What a source has for a turn. */
export interface ToolOffer {
  /** In an order that stays the same: providers can cache a prompt only up to its first change. */
  readonly tools: readonly SourcedTool[];
  /** Sentences for the instructions, such as which of its servers is away. People read them in `/tools`. */
  readonly notes?: readonly string[];
  /** Sentences for the instructions that only a model needs, such as the time zone of the sender. */
  readonly context?: readonly string[];
  /**
   * The turn cannot be done without something that is missing: it fails as `tool_source_down`, with this reason and the
   * operator's hint.
   */
  readonly refused?: { readonly reason: string; readonly hint?: string };
}

/**
 * Offers tools that are known only while the gateway runs, such as those of another program; the argument of
 * `host.toolSource`.
 */
export interface ToolSource {
  /** Names the source where its tools are listed: a to z, 0 to 9 and `-`. */
  readonly id: string;
  /**
   * Called before each turn of an engine that uses tools. Answer from memory: the turn waits, at most 6 s. If it
   * throws, the turn begins without its tools.
   */
  offer(turn: ToolTurn): ToolOffer | Promise<ToolOffer>;
  /**
   * The server of `model` does not accept the source's tool `name`, such as its schema, so turns go on without it. Show
   * the operator the reason where the tools of the source are listed. `reason: null`: it is no longer refused.
   */
  refused?(refusal: { readonly model: string; readonly name: string; readonly reason: string | null }): void;
}
