/** Creates the inbox events of a mapped delivery: its runs, or a record of why there are none. */

import type { Decision, Json, RawEvent } from "../../contract/index.ts";
import { controlSuffix, encodeLanePart, type NewEvent } from "../../state/index.ts";
import { findInjection } from "../../untrusted/index.ts";
import { type AgentRequest, agentEvent } from "../runs/agent.ts";
import { wakeEvent } from "../runs/wake.ts";
import type { Mapping } from "./compiled-mapping.ts";
import type { BodyKind } from "./payload.ts";
import type { MappedRun, MappingFailure, Plan } from "./plan-runs.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

/** The facts about a delivery that a plugin submitted. */
export interface Handed {
  /** The plugin's id. */
  readonly by: string;
  /** What the plugin knows about the sender. The agent reads it before the content. */
  readonly origin?: string;
  /** The plugin may read what the agent replied. */
  readonly keepReply?: true;
}

/** A delivery as stored with its event, for display and replay. */
export interface StoredDelivery {
  /** The path below `hooks.path`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /**
   * The body as sent; for a list element, the payload with only that element. Empty if the elements together are too
   * large.
   */
  readonly body: string;
  readonly kind: BodyKind;
  /** The scheme of the verified signature; absent if the hook token was used. */
  readonly signature?: string;
  /** Set if a plugin of this gateway submitted the delivery; absent if it arrived over HTTP. */
  readonly handed?: Handed;
  /** Set if it was a GET, whose body is its query. */
  readonly method?: "GET";
  /** The body kind of the whole delivery, for a list element and a multipart form, which are stored as JSON. */
  readonly sentAs?: BodyKind;
  /** Index of the element in its list; absent for a whole delivery. */
  readonly index?: number;
}

export type Settled = NonNullable<NewEvent["settled"]>;

/** Total size of the stored elements of one delivery, in characters. They share the data outside their list. */
const maxStoredCharacters = 4_194_304;

/**
 * Creates the stored form. Objects are copied, because `JSON.stringify` takes twice as long for objects without a
 * prototype. `isMultipart`: the body contains files, so its parsed form is stored.
 */
export function keepDelivery(
  delivery: HookDelivery,
  {
    body,
    kind,
    mapping,
    handed,
    isMultipart = false,
  }: {
    readonly body: Buffer;
    readonly kind: BodyKind;
    readonly mapping: Mapping;
    readonly handed?: Handed | undefined;
    readonly isMultipart?: boolean;
  },
): StoredDelivery {
  const { path, method, headers, query, payload } = delivery;
  const stored: StoredDelivery = {
    path,
    headers: { ...headers },
    query: { ...query },
    ...(isMultipart
      ? { body: JSON.stringify(payload), kind: "json", sentAs: kind }
      : { body: body.toString("utf8"), kind }),
    ...(method && { method }),
    ...(handed && { handed }),
  };
  const { signature } = mapping.settings;
  return signature === undefined ? stored : { ...stored, signature: signature.scheme };
}

/**
 * The response to the sender, stored with the first event, so that a repetition gets the same response. `runs` says for
 * each event whether it is a run.
 */
export interface StoredAnswer {
  readonly status: number;
  readonly mode?: "now" | "next-heartbeat";
  readonly runs: readonly boolean[];
  /** True if the delivery was split, so that the response lists each element's result. */
  readonly listed: boolean;
}

/** The dedupe key of the event at a position. The first event uses the delivery's own key. */
export function keyAt(dedupeKey: string, position: number): string {
  return position === 0 ? dedupeKey : `${dedupeKey}:${position}`;
}

/** Creates one event for each run, in order. `stored` is the whole delivery. */
export function runEvents(
  mapping: Mapping,
  runs: readonly MappedRun[],
  options: {
    readonly stored: StoredDelivery;
    /** The view of the delivery for each element; absent if the delivery is not split. */
    readonly views?: readonly HookDelivery[] | undefined;
    readonly dedupeKey: string | undefined;
    /** The response to store. It is only stored together with a key, for repetitions. */
    readonly answer?: StoredAnswer;
    readonly mainSession: string;
    readonly now: number;
  },
): readonly RawEvent[] {
  const { stored, views, dedupeKey, answer, mainSession, now } = options;
  let room = maxStoredCharacters;
  return runs.map((run, position) => {
    const view = views?.[run.index];
    let delivery = stored;
    if (view !== undefined) {
      const body = JSON.stringify(view.payload);
      room -= body.length;
      delivery = {
        ...stored,
        kind: "json",
        sentAs: stored.sentAs ?? stored.kind,
        index: run.index,
        body: room >= 0 ? body : "",
      };
    }
    const { instructions } = mapping.settings;
    const shared = {
      instructions,
      origin: stored.handed?.origin,
      wrapped: run.wrapped,
      stored: {
        mapping: mapping.id,
        delivery: delivery as unknown as Json,
        ...(run.absent === undefined ? {} : { absent: run.absent as unknown as Json }),
        ...(dedupeKey === undefined || position > 0 || answer === undefined
          ? {}
          : { answer: answer as unknown as Json }),
      },
      dedupeKey: dedupeKey === undefined ? undefined : keyAt(dedupeKey, position),
    };
    if (run.action === "wake") return wakeEvent(run.wake, { ...shared, mainSession, now });
    const { deliverOnly } = run;
    const asked =
      stored.handed?.keepReply === true
        ? { ...run.asked, request: { ...run.asked.request, keepReply: true } }
        : run.asked;
    if (!deliverOnly) return agentEvent(asked, shared);
    const request = { ...asked.request, deliverOnly: true };
    return { ...agentEvent({ ...asked, request }, { ...shared, wrapped: false }), lane: deliveryLane(request) };
  });
}

/**
 * A message without an agent waits for no turn, not even one of its own session. Messages to one recipient keep their
 * order.
 */
function deliveryLane({ agentId = "", channel = "", to = "" }: AgentRequest["request"]): string {
  return `deliver:${[agentId, channel, to].map(encodeLanePart).join(":")}${controlSuffix}`;
}

/** Creates the event of a delivery that ends when it is accepted. */
function recordEvent(
  mapping: Mapping,
  stored: StoredDelivery,
  repeated?: { readonly dedupeKey: string; readonly answer: StoredAnswer },
): RawEvent {
  const event: RawEvent = {
    source: "hooks",
    kind: "delivery",
    lane: `hooks:${mapping.id}`,
    authority: "hook",
    body: { mapping: mapping.id, delivery: stored as unknown as Json },
  };
  if (repeated === undefined) return event;
  const body = { mapping: mapping.id, delivery: stored as unknown as Json, answer: repeated.answer as unknown as Json };
  return { ...event, body, dedupeKey: repeated.dedupeKey };
}

const noContent: StoredAnswer = { status: 204, runs: [false], listed: false };

/** Creates the record of a delivery for which there is nothing to do. */
export function nothingRecord(
  mapping: Mapping,
  {
    reason,
    stored,
    dedupeKey,
    now,
  }: {
    readonly reason: NonNullable<Plan["nothing"]>;
    readonly stored: StoredDelivery;
    readonly dedupeKey: string | undefined;
    readonly now: number;
  },
): { readonly event: RawEvent; readonly settled: Settled } {
  const setting = reason === "transform_ignored" ? ["transform", "module"] : ["forEach"];
  const detail = reason === "transform_ignored" ? "the transform returned null" : "the list is empty";
  const decision: Decision = {
    at: now,
    station: "accept",
    plugin: "core",
    verdict: "silent",
    code: reason,
    detail,
    path: mapping.placeOf(setting),
  };
  const repeated = dedupeKey === undefined ? undefined : { dedupeKey, answer: noContent };
  return {
    event: recordEvent(mapping, stored, repeated),
    settled: { outcome: "silent", reason, decisions: [decision] },
  };
}

/** Creates the record of a failed delivery. It has no key, so that the sender may retry. */
export function failureRecord(
  mapping: Mapping,
  {
    failure,
    detail,
    stored,
    now,
  }: {
    readonly failure: MappingFailure;
    readonly detail: string;
    readonly stored: StoredDelivery;
    readonly now: number;
  },
): { readonly event: RawEvent; readonly settled: Settled } {
  const { problem, path, hint } = failure;
  const outcome = problem.status >= 500 ? "failed" : "refused";
  const decision: Decision = {
    at: now,
    station: "accept",
    plugin: "core",
    verdict: outcome,
    code: problem.code,
    detail,
    path,
    hint,
  };
  return { event: recordEvent(mapping, stored), settled: { outcome, reason: problem.code, decisions: [decision] } };
}

/** The names of suspected prompt injections in all runs. */
export function injectionsIn(runs: readonly MappedRun[]): readonly string[] {
  const found = runs.map((run) => findInjection(run.action === "wake" ? run.wake.text : run.asked.message));
  return found.length === 1 ? (found[0] ?? []) : [...new Set(found.flat())];
}
