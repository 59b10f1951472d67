/** What the spine is handed by the runtime: the parts around it, each as the one thing that the spine asks of it. */

import type { Contact, LiveAccount } from "../channels/index.ts";
import type { Inbound, RawEvent, Reply, Route, TurnEvent } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Ending, SessionMessage, Store } from "../state/index.ts";
import type { FormattingContext, Hooks } from "../stations/index.ts";

/** Fetches, checks and lays down the files of a reply; never rejects. `null`: somebody stopped it, and the reply is not to be sent. */
export type CompleteReply = (
  reply: Reply,
  route: Route,
  signal: AbortSignal,
) => Promise<{ readonly reply: Reply; readonly problems: readonly string[] } | null>;

export interface PathOptions {
  readonly hooks: Hooks;
  readonly store: Store;
  readonly log: Log;
  readonly now: () => number;
  readonly newId: () => string;
  readonly random: () => number;
  readonly maxConcurrent: () => number;
  /** The live connection of an address, if there is one. */
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  /** Whether the platform answers an account. */
  readonly contact: (channel: string, account: string) => Contact;
  /** Whether an account that is not open is meant to be. */
  readonly expects: (channel: string, account: string) => boolean;
  /** Removes secrets from what an error says, before it is kept. */
  readonly redact: (text: string) => string;
  /** What let an event in, for its trace. */
  readonly passedBy: (inbound: Inbound) => { readonly code: string; readonly path?: string } | undefined;
  /** Where in the file an option of an account stands, by its keys below the account. */
  readonly pathsOf: (at: Pick<Inbound, "channel" | "account">) => (keys: readonly string[]) => string;
  /** The route when no tap has one. */
  readonly fallbackRoute: (inbound: Inbound) => Route | Promise<Route>;
  /** Fetches the files of a message that was let through, and of the one that it answers; asked only when there are any, never rejects. */
  readonly completeMedia: (inbound: Inbound, route: Route, signal: AbortSignal) => Promise<Inbound>;
  /** The stream of a plugin's own tap, under the agent's `timeoutSeconds` and the signal; what it throws names the plugin. */
  readonly guardStream: (
    source: { readonly plugin: string; readonly stream: AsyncIterable<TurnEvent>; readonly inbound: Inbound; readonly route: Route },
    signal: AbortSignal,
  ) => AsyncIterable<TurnEvent>;
  /** The same for the files of a reply, just before it is rendered; asked only when there are any. */
  readonly completeReply: CompleteReply;
  /** The acknowledging reaction of a message; `null`: none. */
  readonly ackReaction: (inbound: Inbound, route: Route) => { readonly emoji: string; readonly removeAfter: boolean } | null;
  /** What of a turn goes into its session's transcript. */
  readonly transcript: (turn: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply: Reply;
    readonly unitId: string;
    readonly at: number;
  }) => readonly SessionMessage[];
  /** That a turn is being written with its transcript; what it asks the store for is in the same commit. */
  readonly told: (inbound: Inbound, route: Route) => Promise<unknown> | undefined;
  /** Whether a turn took events from its session's queue. */
  readonly tookQueued: (inbound: Inbound) => boolean;
  /** Events that follow from a finished turn, such as a hook's summary; accepted in the commit that ends the turn. */
  readonly followUps: (end: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply?: Reply;
    readonly ending: Ending;
    readonly unitId: string;
  }) => readonly RawEvent[];
  /** A reply with what its account puts around every answer; it is neither kept nor part of the conversation. */
  readonly asSent: (reply: Reply, context: FormattingContext) => Reply;
  /** The platform does not take the acknowledging reaction. */
  readonly onAckRefused: (inbound: Inbound, route: Route) => void;
  /** What is kept of a reply with the end of its event. */
  readonly keptReply: (inbound: Inbound, reply: Reply) => string | undefined;
  /** The reason not to send a reply (a heartbeat's acknowledgement, `NO_REPLY`), or `null`. */
  readonly silence: (reply: Reply, inbound: Inbound) => string | null;
}
