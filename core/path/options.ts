/** Dependencies of the path: the other rooms, and the agents' part in a turn. */

import type { Gate } from "../access/index.ts";
import type { Accounts, Deletions } from "../channels/index.ts";
import type {
  Address,
  Decision,
  Inbound,
  OutboundMedia,
  RawEvent,
  Reply,
  Route,
  TurnEvent,
} from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import type { Ending, SessionMessage, Store, Unit } from "../state/index.ts";
import type { FormattingContext, Hooks, Visit } from "../stations/index.ts";
import type { Wait } from "./patience.ts";

/**
 * Fetches, checks and stores the files of a reply; never rejects. `null`: `/stop` arrived, and the reply must not be
 * sent.
 */
export type CompleteReply = (
  reply: Reply,
  route: Route,
  signal: AbortSignal,
) => Promise<{ readonly reply: Reply; readonly problems: readonly string[] } | null>;

/** What a message needs whose voice messages are transcribed. */
export interface HearingAt {
  readonly visit: Visit;
  readonly signal: AbortSignal;
  /** Adds to the trace. */
  readonly note: (note: Pick<Decision, "code" | "detail" | "path" | "hint">) => void;
  /** Waits for what may take long; meanwhile the attempt does not count. */
  readonly waitFor: <Result>(waited: Promise<Result>) => Promise<Result>;
}

/**
 * What the agents contribute besides their taps. A tap answers its station; these answer nothing that a station asks:
 *
 * - `hear` and `completeMedia` change the message between two stations.
 * - `guardStream`, `waitForModel`, `refusalFor` and `keepGenerated` concern the stream of the turn, whichever plugin
 *   has returned it.
 * - `silence`, `speak`, `completeReply` and `asSent` come after all formatting taps: they judge and complete what those
 *   have made of the reply, may end the event, and are not part of the conversation. `asSent` applies to previews, too.
 * - `transcript`, `markRead`, `tookQueued`, `followUps` and `keptReply` are written in the commit that ends the turn;
 *   `settled` comes after it.
 * - `ackReaction` and `onAckRefused` are signs of life in the chat, beside the path.
 * - The others read settings or the store.
 */
export interface AgentSide {
  /**
   * The message with the words of its voice messages, before the gate decides about them. `recorded`: only with those
   * that an earlier attempt has recorded. Rejects with the reason of the signal, and if the state cannot be read.
   */
  hear(inbound: Inbound, at: HearingAt | "recorded"): Inbound | Promise<Inbound>;
  /**
   * The reply with a voice message that speaks its text, or unchanged with the reason; `undefined` if it is not to be
   * spoken. Never rejects; resolves with `null` if `/stop` arrived, and the reply must not be sent.
   */
  speak(
    reply: Reply,
    context: FormattingContext,
    at: Pick<HearingAt, "visit" | "signal">,
  ):
    | Promise<{ readonly reply: Reply; readonly note: Pick<Decision, "code" | "detail" | "path" | "hint"> } | null>
    | undefined;
  /** How many turns may run at once. */
  maxConcurrent(): number;
  /**
   * Fetches the files of an admitted message, and of the message it replies to. Called only if there are any; never
   * rejects.
   */
  completeMedia(
    inbound: Inbound,
    at: { readonly route: Route; readonly visit: Visit; readonly signal: AbortSignal },
  ): Promise<Inbound>;
  /**
   * The stream of a plugin's own tap, limited by the agent's `timeoutSeconds` and the signal; its errors name the
   * plugin.
   */
  guardStream(
    source: {
      readonly plugin: string;
      readonly stream: AsyncIterable<TurnEvent>;
      readonly inbound: Inbound;
      readonly route: Route;
    },
    signal: AbortSignal,
  ): AsyncIterable<TurnEvent>;
  /**
   * How a turn waits whose models are away, until they answer or its patience ends. `undefined`: it does not wait,
   * because a person watches it, or because it has waited as long as it may.
   */
  waitForModel(turn: {
    readonly unitId: string;
    readonly inbound: Inbound;
    readonly route: Route;
    readonly visit: Visit;
    readonly reason: string;
    readonly detail: string;
  }): Promise<{ readonly detail: string; readonly known: boolean; readonly wait: Wait } | undefined>;
  /** How a person learns that a budget refused their turn; `undefined` if no person waits. */
  refusalFor(inbound: Inbound, route: Route): Promise<RefusalSign | undefined>;
  /** The files of a reply, just before it is rendered; called only if there are any. */
  readonly completeReply: CompleteReply;
  /** Stores a large file that a model has generated; a small one stays as it is. Never rejects. */
  keepGenerated(media: OutboundMedia, to: Address | null): Promise<OutboundMedia>;
  /** The acknowledging reaction of a message; `null` if there is none. */
  ackReaction(inbound: Inbound, route: Route): { readonly emoji: string; readonly removeAfter: boolean } | null;
  /** The platform rejected the acknowledging reaction. */
  onAckRefused(inbound: Inbound, route: Route): void;
  /** The part of a turn that goes into its session's transcript. */
  transcript(turn: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply: Reply;
    readonly visit: Visit;
    readonly at: number;
    /** With the context that preceded the message. */
    readonly withContext: boolean;
  }): readonly SessionMessage[];
  /** Reads what earlier runs of an event have called into the visit. */
  readEarlierCalls(inbound: Inbound, visit: Visit): Promise<void>;
  /** Whether the turn of an event has asked a person who can still answer. */
  asksPerson(event: string): Promise<boolean>;
  /** Called when a turn is written with its transcript; requests to the store made here join the same commit. */
  markRead(inbound: Inbound, route: Route, visit: Visit): Promise<unknown> | undefined;
  /** Whether a turn took events from its session's queue. */
  tookQueued(visit: Visit): boolean;
  /** Events that follow a finished turn, such as a hook's summary; accepted in the commit that ends the turn. */
  followUps(end: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply?: Reply;
    readonly ending: Ending;
    readonly unitId: string;
  }): readonly RawEvent[];
  /**
   * A reply with the text that its account adds to every reply. The addition is neither stored nor part of the
   * conversation.
   */
  asSent(reply: Reply, context: FormattingContext, visit: Visit): Reply;
  /** The part of a reply that is stored with the end of its event. */
  storedReply(inbound: Inbound, reply: Reply): string | undefined;
  /** The reason not to send a reply (a heartbeat's acknowledgement, `NO_REPLY`), or `null`. */
  silence(reply: Reply, inbound: Inbound): string | null;
}

export interface RefusalSign {
  /** Sent where the reaction cannot be set. */
  readonly text: string;
  /** Set on the message in place of a text. */
  readonly emoji?: string;
}

/** What the path says of its work. */
interface PathReports {
  readonly log: Log;
  /** Removes secrets from the text of an error before it is stored. */
  readonly redact: (text: string) => string;
  /** Called before each run of a unit; must not throw. */
  readonly onBegin?: (unit: Unit) => void;
}

export interface PathOptions {
  readonly hooks: Hooks;
  readonly store: Store;
  /** Where files that are to be sent are kept. */
  readonly stateDirectory: string;
  readonly accounts: Pick<Accounts, "get" | "contact" | "away" | "awayFor">;
  readonly gate: Pick<Gate, "pathsOf" | "isOwner">;
  readonly agents: AgentSide;
  readonly deletions: Pick<Deletions, "has" | "forgetAgain">;
  readonly reports: PathReports;
  readonly clock: { readonly now: () => number; readonly newId: () => string; readonly random: () => number };
}
