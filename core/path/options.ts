/** What the path of an event needs: the doors of the rooms around it, and what the agents say about a turn. */

import type { Gate } from "../access/index.ts";
import type { Accounts } from "../channels/index.ts";
import type { Inbound, RawEvent, Reply, Route, TurnEvent } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Ending, SessionMessage, Store } from "../state/index.ts";
import type { FormattingContext, Hooks, Visit } from "../stations/index.ts";

/** Fetches, checks and lays down the files of a reply; never rejects. `null`: `/stop` came, and the reply must not be sent. */
export type CompleteReply = (
  reply: Reply,
  route: Route,
  signal: AbortSignal,
) => Promise<{ readonly reply: Reply; readonly problems: readonly string[] } | null>;

/** What the agents contribute beside their taps. */
export interface AgentSide {
  /** How many turns run at once. */
  maxConcurrent(): number;
  /** The route when no tap has one. */
  route(inbound: Inbound): Route | Promise<Route>;
  /** Fetches the files of a message that was let through, and of the one that it answers; asked only when there are any, never rejects. */
  completeMedia(inbound: Inbound, at: { readonly route: Route; readonly visit: Visit; readonly signal: AbortSignal }): Promise<Inbound>;
  /** The stream of a plugin's own tap, under the agent's `timeoutSeconds` and the signal; what it throws names the plugin. */
  guardStream(
    source: { readonly plugin: string; readonly stream: AsyncIterable<TurnEvent>; readonly inbound: Inbound; readonly route: Route },
    signal: AbortSignal,
  ): AsyncIterable<TurnEvent>;
  /** The files of a reply, just before it is rendered; asked only when there are any. */
  readonly completeReply: CompleteReply;
  /** The acknowledging reaction of a message; `null`: none. */
  ackReaction(inbound: Inbound, route: Route): { readonly emoji: string; readonly removeAfter: boolean } | null;
  /** The platform does not take the acknowledging reaction. */
  onAckRefused(inbound: Inbound, route: Route): void;
  /** What of a turn goes into its session's transcript. */
  transcript(turn: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply: Reply;
    readonly visit: Visit;
    readonly at: number;
  }): readonly SessionMessage[];
  /** That a turn is being written with its transcript; what it asks the store for is in the same commit. */
  told(inbound: Inbound, route: Route, visit: Visit): Promise<unknown> | undefined;
  /** Whether a turn took events from its session's queue. */
  tookQueued(visit: Visit): boolean;
  /** Events that follow from a finished turn, such as a hook's summary; accepted in the commit that ends the turn. */
  followUps(end: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply?: Reply;
    readonly ending: Ending;
    readonly unitId: string;
  }): readonly RawEvent[];
  /** A reply with what its account puts around every answer; it is neither kept nor part of the conversation. */
  asSent(reply: Reply, context: FormattingContext, visit: Visit): Reply;
  /** What is kept of a reply with the end of its event. */
  keptReply(inbound: Inbound, reply: Reply): string | undefined;
  /** The reason not to send a reply (a heartbeat's acknowledgement, `NO_REPLY`), or `null`. */
  silence(reply: Reply, inbound: Inbound): string | null;
}

export interface PathOptions {
  readonly hooks: Hooks;
  readonly store: Store;
  readonly accounts: Pick<Accounts, "get" | "contact" | "expects">;
  readonly gate: Pick<Gate, "pathsOf">;
  readonly agents: AgentSide;
  readonly log: Log;
  /** Removes secrets from what an error says, before it is kept. */
  readonly redact: (text: string) => string;
  readonly clock: { readonly now: () => number; readonly newId: () => string; readonly random: () => number };
}
