/** Events of a session that no person wrote: what they look like, and how they wait for a heartbeat. */

import type { Inbound, RawEvent, Reply, Route } from "../../contract/index.ts";
import { type Ending, type Queue, queuePrefix } from "../../state/index.ts";
import { plainName } from "./envelope.ts";
import { mainSessionKey } from "./sessions.ts";

/** What falls due within this time of an immediate wake is one heartbeat. */
const gatherMs = 250;
const maxSummaryChars = 2_000;

/** The session of a gather key; `undefined` when the key does not belong to a heartbeat. */
export function heartbeatSession(gatherKey: string | undefined): string | undefined {
  return gatherKey?.startsWith(queuePrefix) === true ? gatherKey.slice(queuePrefix.length) : undefined;
}

/** Where the events of a session wait for its next turn. */
export function eventQueue(sessionKey: string): Queue {
  return { lane: sessionKey, key: `${queuePrefix}${sessionKey}` };
}

/** How an event waits for the next heartbeat of a session (`due: null`), or asks for one. */
export function heartbeatGather(sessionKey: string, due: number | null): NonNullable<RawEvent["gather"]> {
  return { key: eventQueue(sessionKey).key, due };
}

/** `Hook <name>: <summary>`, with the status when the run was not ok; `Hook: ...` of a run without a name. */
export function hookSummary(run: { readonly name: string; readonly status: string; readonly text: string }): string {
  const name = plainName(run.name, 200);
  const characters = [...run.text.trim()];
  const summary = characters.length > maxSummaryChars ? `${characters.slice(0, maxSummaryChars - 1).join("")}…` : characters.join("");
  return `Hook${name === "" || name === "Hook" ? "" : ` ${name}`}${run.status === "ok" ? "" : ` (${plainName(run.status)})`}: ${summary === "" ? "no reply" : summary}`;
}

/** The system event that the end of a hook run leaves in the main session of its agent. */
export function hookSummaryEvent(run: {
  readonly agentId: string;
  readonly name: string;
  readonly status: string;
  readonly text: string;
  readonly wakeMode: "now" | "next-heartbeat";
  readonly now: number;
}): RawEvent {
  const lane = mainSessionKey(run.agentId);
  return {
    source: "hooks",
    kind: "summary",
    lane,
    authority: "hook",
    gather: heartbeatGather(lane, run.wakeMode === "now" ? run.now + gatherMs : null),
    body: { text: hookSummary(run), mode: run.wakeMode },
  };
}

/** A heartbeat of a session, asked for by the gateway itself. */
export function tickEvent(sessionKey: string, now: number): RawEvent {
  return { source: "heartbeat", kind: "tick", lane: sessionKey, authority: "operator", gather: heartbeatGather(sessionKey, now), body: {} };
}

/** What follows from the end of a turn, once: a hook run leaves its summary in the main session of its agent. */
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
    now,
  });
  return [{ ...event, dedupeKey: `summary:${unitId}` }];
}
