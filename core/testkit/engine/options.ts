/** What an author of an engine hands to `engineContract`. */
import type { EngineTurn, Json, PluginDefinition } from "../../sdk/contract.ts";
import type { ContractSkip } from "../skips.ts";

/**
 * What the author's model server can be made to do with every following request.
 *
 * - `away`: nothing answers at its address.
 * - `busy`, `quota`, `unauthorized`, `unknown`, `unavailable`: it refuses because of its load, the account, the key,
 *   the model's name, or a fault of its own. The text of `unauthorized` contains the key.
 * - `full`: it refuses because the conversation is too long for the model.
 * - `cut`: it sends the first word, and the connection breaks.
 * - `hang`: it sends the first word, and then nothing.
 * - `empty`: it answers with no text.
 * - `garbled`: it sends what is not an answer.
 */
export type ModelFailure =
  | "away"
  | "busy"
  | "cut"
  | "empty"
  | "full"
  | "garbled"
  | "hang"
  | "quota"
  | "unauthorized"
  | "unavailable"
  | "unknown";

/** What a model server can do: a failure, or `tools`: it calls the tool that `callTool` names. */
export type ModelAbility = ModelFailure | "tools";

/**
 * A model server that runs for one test. Unless it fails, it answers with the last message of the user, in several
 * pieces.
 */
export interface ModelServer {
  /** What a turn needs to reach it: the model's name and its provider, with an `apiKey`. */
  readonly turn: Pick<EngineTurn, "model" | "providers">;
  /**
   * Options of the plugin that lead to this server, such as `{ url }`. They replace those of the contract with the same
   * names.
   */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Causes a failure that `can` lists, for every later request. */
  fail(failure: ModelFailure): void | Promise<void>;
  /** The next request is answered with a call of this tool, and the one after it with a text. */
  callTool?(name: string, args: Json): void;
  /** The bodies of the requests so far, as texts, oldest first. */
  requests(): readonly string[];
  /** How many requests are under way: neither answered nor left by the engine. */
  running(): number;
  close(): Promise<void>;
}

/** How to open a model server, and what it can do. */
export interface ModelServerSource {
  /** The tests of an ability exist only where it is listed. */
  readonly can: readonly ModelAbility[];
  /** Opens a server of its own for each test. */
  open(): Promise<ModelServer>;
}

/** What `engineContract` tests, and with what. */
export interface EngineContractOptions {
  /** What `defineEngine` returned, or a plugin that registers one engine. */
  readonly engine: PluginDefinition;
  /** Options of the plugin, as in `plugins.entries.<id>.options`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Without a server, only what needs none is tested. */
  readonly server?: ModelServerSource;
  readonly skip?: readonly ContractSkip[];
}
