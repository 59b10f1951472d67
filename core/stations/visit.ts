/** One event on its way through the stations, with data that one part of the gateway leaves for a later station. */

import type { Decision, OutboundMedia, Reply } from "../contract/index.ts";

/** The name and type of one value that a visit carries. */
export interface Carried<T> {
  readonly name: string;
  /** Never set; it ties the type to the name. */
  readonly type?: T;
}

export function carried<T>(name: string): Carried<T> {
  return { name };
}

export class Visit {
  readonly #things = new Map<Carried<unknown>, unknown>();

  get<T>(what: Carried<T>): T | undefined {
    return this.#things.get(what) as T | undefined;
  }

  set<T>(what: Carried<T>, value: T): void {
    this.#things.set(what, value);
  }
}

/** The rule that admitted the event, and its path in the configuration. */
export const passedBy = carried<{ readonly code: string; readonly path?: string }>("passedBy");

/** What the source of an event has noted for its trace, such as a name that a payload does not have. */
export const notes = carried<readonly Pick<Decision, "code" | "detail" | "path">[]>("notes");

/** Set when the agent has acted in a chat during its turn, such as by a reaction or a message. */
export const hasActed = carried<true>("hasActed");

/** The models that the turn may ask, as `provider/model`; the engine's id if it needs none. */
export const askedModels = carried<readonly string[]>("askedModels");

/** Why nothing is known of what a person said in a voice message. */
export interface UnheardSpeech {
  readonly code: string;
  /** Absent if nothing failed: there were no words, or nothing is set that transcribes. */
  readonly error?: Error;
}

/** Set for a message that is nothing but voice messages none of which was understood. */
export const unheardSpeech = carried<UnheardSpeech | undefined>("unheardSpeech");

/** What the trace of a turn says about its request to the model, such as what was left out. */
export const turnNotes = carried<Pick<Decision, "code" | "detail" | "path">[]>("turnNotes");

/** A line for the person that is added to the reply, and not part of the conversation. */
export const quietLine = carried<string>("quietLine");

/** One call that adds to the reply. `order`: its position among the calls of the turn, as the model made them. */
interface Addition {
  readonly order: number;
}

/** What tools, or a command, have added to the reply of their turn. */
export interface ReplyAdditions {
  /** Checked and stored already; in the order of their calls. */
  readonly files: readonly (Addition & { readonly media: OutboundMedia; readonly caption?: string })[];
  /** In place of those of the engine; of the last call. */
  readonly buttons?: Addition & { readonly rows: NonNullable<Reply["buttons"]> };
  /** What users read of the last file that was refused, unless one was attached by a later call. */
  readonly refused?: Addition & { readonly note: string };
  /** Set by a command: its answer is for the sender. */
  readonly to?: Reply["to"];
}

export const replyAdditions = carried<ReplyAdditions>("replyAdditions");

/** Set in the first run of an event: no earlier run can have called a tool. */
export const isFirstRun = carried<true>("isFirstRun");

/** One call of a tool in a turn. */
export interface ToolUse {
  readonly name: string;
  /** The plugin that offers the tool, or `core`. */
  readonly plugin: string;
  /** Position among the calls of the turn, as the model made them; absent as `ms` is. */
  readonly order?: number;
  /** Absent for a call that was made before an interruption. */
  readonly ms?: number;
  /** Why it was not done, or what an owner decided; absent if it was done. */
  readonly code?: string;
  readonly detail?: string;
  /** What it did outside of the reply: something, or possibly something. Absent if nothing. */
  readonly effect?: "done" | "unknown";
  /** Arguments and outcome in brief, for the conversation; never in the trace. */
  readonly summary?: string;
  /** The beginning of the result, for the conversation; the words of others. */
  readonly returned?: string;
}

/** The calls of tools that have ended so far, in the order in which the model made them. */
export const toolCalls = carried<readonly ToolUse[]>("toolCalls");
