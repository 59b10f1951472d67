/** Session events that no person wrote: how they are built and how they wait for a heartbeat. */

import type { Inbound, Json, RawEvent, Reply, Route } from "../../contract/index.ts";
import { type Ending, type Queue, queuePrefix } from "../../state/index.ts";
import { plainName } from "./envelope.ts";
import { mainSessionKey } from "./sessions.ts";
import type { SummarizedReply } from "./summarized-replies.ts";

/** Events that fall due within this time after an immediate wake join its heartbeat. */
const gatherMs = 250;
const maxSummaryChars = 2_000;

/** The session key inside a gather key; `undefined` if the key does not belong to a heartbeat. */
export function heartbeatSession(gatherKey: string | undefined): string | undefined {
  return gatherKey?.startsWith(queuePrefix) === true ? gatherKey.slice(queuePrefix.length) : undefined;
}

/** The queue in which a session's events wait for its next turn. */
export function eventQueue(sessionKey: string): Queue {
  return { lane: sessionKey, key: `${queuePrefix}${sessionKey}` };
}

/** Makes an event wait for the session's next heartbeat (`due: null`) or request one at `due`. */
export function heartbeatGather(sessionKey: string, due: number | null): NonNullable<RawEvent["gather"]> {
  return { key: eventQueue(sessionKey).key, due };
}

/** `Hook <name>: <summary>`, with the status if the run was not ok. `Hook: ...` for a run without a name. */
export function hookSummary(run: { readonly name: string; readonly status: string; readonly text: string }): string {
  const name = plainName(run.name, 200);
  const characters = [...run.text.trim()];
  const summary =
    characters.length > maxSummaryChars ? `${characters.slice(0, maxSummaryChars - 1).join("")}…` : characters.join("");
  const named = name === "" || name === "Hook" ? "Hook" : `Hook ${name}`;
  const status = run.status === "ok" ? "" : ` (${plainName(run.status)})`;
  return `${named}${status}: ${summary === "" ? "no reply" : summary}`;
}

/** The system event that a finished hook run adds to its agent's main session. */
export function hookSummaryEvent(run: {
  readonly agentId: string;
  readonly name: string;
  readonly status: string;
  readonly text: string;
  readonly wakeMode: "now" | "next-heartbeat";
  /** The reply of the run, if it is delivered. */
  readonly reply?: SummarizedReply | undefined;
  readonly now: number;
}): RawEvent {
  const lane = mainSessionKey(run.agentId);
  return {
    source: "hooks",
    kind: "summary",
    lane,
    authority: "hook",
    gather: heartbeatGather(lane, run.wakeMode === "now" ? run.now + gatherMs : null),
    body: {
      text: hookSummary(run),
      mode: run.wakeMode,
      ...(run.reply !== undefined && { reply: run.reply as unknown as Json }),
    },
  };
}

/** An event by which the gateway itself requests a heartbeat of a session. */
export function tickEvent(sessionKey: string, now: number): RawEvent {
  return {
    source: "heartbeat",
    kind: "tick",
    lane: sessionKey,
    authority: "operator",
    gather: heartbeatGather(sessionKey, now),
    body: {},
  };
}

/** The events that the end of a turn produces, once: a hook run adds its summary to its agent's main session. */
export function followUps(
  end: {
    readonly inbound: Inbound;
    readonly route: Route;
    readonly reply?: Reply;
    readonly ending: Ending;
    readonly unitId: string;
  },
  now: number,
): readonly RawEvent[] {
  const { inbound, route, reply, ending, unitId } = end;
  if (inbound.kind !== "hook" || inbound.request?.deliverOnly === true) return [];
  const event = hookSummaryEvent({
    agentId: route.agentId,
    name: inbound.request?.name ?? "Hook",
    status: ending.outcome === "failed" ? ending.reason : "ok",
    text: reply?.text ?? "",
    wakeMode: inbound.request?.wakeMode ?? "now",
    reply: ending.outcome === "answered" && route.to !== null ? { event: unitId, to: route.to } : undefined,
    now,
  });
  return [{ ...event, dedupeKey: `summary:${unitId}` }];
}
