/** What ends a unit before its reply is sent, and the chain of decisions that explains it. */
import {
  type Address,
  ChannelError,
  type Decision,
  HostError,
  type Inbound,
  PluginError,
  type RawEvent,
  type Reply,
  reasonOf,
  type Silent,
  type Station,
} from "../../contract/index.ts";
import type { Ending, NewEvent } from "../../state/index.ts";
import type { PathOptions } from "../options.ts";
import { postponementOf } from "../patience.ts";

/** The end of a unit, decided by a station. It may include a text to send: a pairing code, an apology. */
export interface Stop {
  readonly stop: Ending;
  readonly say?: {
    readonly address: Address;
    readonly reply: Reply;
    /** What is answered, if the reply is for its sender only. */
    readonly inbound?: Inbound;
  };
  /** The final text of the preview, if people have seen one. It also says how the turn ended. */
  readonly shown?: string;
  /** The reply in it, without what the gateway adds, for the conversation. Only if the preview has a message. */
  readonly spoken?: string;
}

export function isStop(value: object): value is Stop {
  return "stop" in value;
}

/** The decisions about one unit, in order. */
export class Trace {
  readonly #now: () => number;
  readonly #redact: (text: string) => string;
  readonly #decisions: Decision[] = [];
  #taken = 0;

  constructor(now: () => number, redact: (text: string) => string) {
    this.#now = now;
    this.#redact = redact;
  }

  add(station: Station, decision: Omit<Decision, "at" | "station">): void {
    const recorded: { -readonly [Name in keyof Decision]: Decision[Name] } = { at: this.#now(), station, ...decision };
    if (recorded.detail !== undefined) recorded.detail = this.#redact(recorded.detail);
    this.#decisions.push(recorded);
  }

  /** Returns the decisions that were not yet taken, so that each is written once. */
  take(): readonly Decision[] {
    const fresh = this.#decisions.slice(this.#taken);
    this.#taken = this.#decisions.length;
    return fresh;
  }

  /** The last decision with this verdict, even if it was taken already. */
  deciding(verdict: Decision["verdict"]): Decision | undefined {
    return this.#decisions.findLast((decision) => decision.verdict === verdict);
  }
}

/** The trace of an event that needs no reply. `pathOf` returns the path of an account option in the file. */
export function silentDecision(
  { silent, detail, option, hint }: Silent,
  pathOf: (keys: readonly string[]) => string,
): Omit<Decision, "at" | "station" | "plugin"> {
  return {
    verdict: "silent",
    code: silent,
    detail,
    ...(option === undefined ? {} : { path: pathOf(option) }),
    hint,
  };
}

/** The end of an event that is known at acceptance to need no reply. */
export function settledSilent(
  { source, account = "" }: RawEvent,
  silent: Silent,
  { trace, pathsOf }: { readonly trace: Trace; readonly pathsOf: PathOptions["gate"]["pathsOf"] },
): NonNullable<NewEvent["settled"]> {
  trace.add("ingress", { plugin: "core", ...silentDecision(silent, pathsOf({ channel: source, account })) });
  return { outcome: "silent", reason: silent.silent, decisions: trace.take() };
}

/** The end of an event that an operator has dropped while it waited. */
export function dropped(trace: Trace): Stop {
  trace.add("settled", { plugin: "core", verdict: "silent", code: "dropped" });
  return { stop: { outcome: "silent", reason: "dropped" } };
}

/** The bot may not begin in that chat, so nothing is asked of a model. */
export function outsideWindow(
  trace: Trace,
  { plugin, detail }: { readonly plugin: string; readonly detail: string },
): Stop {
  trace.add("routing", { plugin, verdict: "failed", code: "outside_window", detail });
  return { stop: { outcome: "failed", reason: "outside_window" } };
}

export function textReply(text: string): Reply {
  return { text, media: [], buttons: [] };
}

/** A text for the sender of a message in a group, who alone sees it if the platform can show it so. */
export function sayToSender(text: string, address: Address, inbound: Inbound): NonNullable<Stop["say"]> {
  return { address, reply: { ...textReply(text), to: "sender" }, inbound };
}

/**
 * A tap's own failure ends the event, because the next attempt would fail in the same way. Any other error, such as a
 * store that does not respond, is thrown, and the unit is handed back.
 */
export function stopForTap(error: unknown, station: "ingress" | "routing", trace: Trace): Stop {
  if (postponementOf(error) !== undefined) throw error;
  const cause = error instanceof PluginError ? error.cause : error;
  const refusedByPlatform = cause instanceof ChannelError;
  const ownMistake = error instanceof PluginError && !(cause instanceof HostError);
  if (!refusedByPlatform && !ownMistake) throw error;
  const code = refusedByPlatform ? cause.reason : `${station}_failed`;
  const plugin = error instanceof PluginError ? error.plugin : "core";
  const hint = refusedByPlatform ? cause.hint : undefined;
  trace.add(station, {
    plugin,
    verdict: "failed",
    code,
    detail: reasonOf(plugin === "core" && cause !== undefined ? cause : error),
    hint,
  });
  return { stop: { outcome: "failed", reason: code } };
}
