/** What a mapped delivery leaves in the inbox: its runs, or the record of why there is none. */

import type { Decision, Json, RawEvent } from "../../contract/index.ts";
import type { NewEvent } from "../../state/index.ts";
import { findInjection } from "../../untrusted/index.ts";
import { agentEvent } from "../runs/agent.ts";
import { wakeEvent } from "../runs/wake.ts";
import type { MappedRun, MappingFailure, Plan } from "./mapped.ts";
import type { Mapping } from "./mapping.ts";
import type { BodyKind } from "./payload.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

/** What is known of a delivery that a plugin handed in. */
export interface Handed {
  /** Id of the plugin. */
  readonly by: string;
  /** What the plugin found out about the sender; the agent reads it before the content. */
  readonly origin?: string;
  /** The plugin may read what the agent replied. */
  readonly keepReply?: true;
}

/** A delivery as it is kept with its event, to be shown or replayed. */
export interface KeptDelivery {
  /** Sub-path below `hooks.path`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** As it was sent; of an element of a list: as the element saw it. Empty when the elements together are too large. */
  readonly body: string;
  readonly kind: BodyKind;
  /** The scheme of the signature that was verified; absent where the hook token let it in. */
  readonly signature?: string;
  /** A plugin of this gateway handed it in; absent: it came over HTTP. */
  readonly handed?: Handed;
  /** Of an element, which is kept as JSON: what its delivery was sent as. */
  readonly sentAs?: BodyKind;
  /** Which element of its list it was; absent for a whole delivery. */
  readonly index?: number;
}

export type Settled = NonNullable<NewEvent["settled"]>;

/** Elements of one delivery share what is not in their list; together they keep at most so much. */
const maxKeptCharacters = 4_194_304;

/** Copies, because `JSON.stringify` takes twice as long over objects without a prototype. */
export function keepDelivery(
  delivery: HookDelivery,
  {
    body,
    kind,
    mapping,
    handed,
  }: { readonly body: Buffer; readonly kind: BodyKind; readonly mapping: Mapping; readonly handed?: Handed | undefined },
): KeptDelivery {
  const { path, headers, query } = delivery;
  const kept = { path, headers: { ...headers }, query: { ...query }, body: body.toString("utf8"), kind, ...(handed && { handed }) };
  const { signature } = mapping.settings;
  return signature === undefined ? kept : { ...kept, signature: signature.scheme };
}

/** What the sender was answered, kept with the first event so that a repetition gets it again. Of each event whether it is a run. */
export interface KeptAnswer {
  readonly status: number;
  readonly mode?: "now" | "next-heartbeat";
  readonly runs: readonly boolean[];
  /** The delivery was taken apart: the answer lists what became of it. */
  readonly listed: boolean;
}

/** The first one's key is the delivery's own. */
export function keyAt(dedupeKey: string, position: number): string {
  return position === 0 ? dedupeKey : `${dedupeKey}:${position}`;
}

/** One event for each run, in order. `kept`: the delivery as a whole. */
export function runEvents(
  mapping: Mapping,
  runs: readonly MappedRun[],
  options: {
    readonly kept: KeptDelivery;
    /** What the element of a run saw; absent where the delivery is not taken apart. */
    readonly views?: readonly HookDelivery[] | undefined;
    readonly dedupeKey: string | undefined;
    /** Kept only with a key, for a repetition. */
    readonly answer?: KeptAnswer;
    readonly mainSession: string;
    readonly now: number;
  },
): readonly RawEvent[] {
  const { kept, views, dedupeKey, answer, mainSession, now } = options;
  let room = maxKeptCharacters;
  return runs.map((run, position) => {
    const view = views?.[run.index];
    let delivery = kept;
    if (view !== undefined) {
      const body = JSON.stringify(view.payload);
      room -= body.length;
      delivery = { ...kept, kind: "json", sentAs: kept.sentAs ?? kept.kind, index: run.index, body: room >= 0 ? body : "" };
    }
    const { instructions } = mapping.settings;
    const shared = {
      ...(instructions === undefined ? {} : { instructions }),
      origin: kept.handed?.origin,
      wrapped: run.wrapped,
      kept: {
        mapping: mapping.id,
        delivery: delivery as unknown as Json,
        ...(dedupeKey === undefined || position > 0 || answer === undefined ? {} : { answer: answer as unknown as Json }),
      },
      dedupeKey: dedupeKey === undefined ? undefined : keyAt(dedupeKey, position),
    };
    if (run.action === "wake") return wakeEvent(run.wake, { ...shared, mainSession, now });
    const { deliverOnly } = run;
    const asked = kept.handed?.keepReply === true ? { ...run.asked, request: { ...run.asked.request, keepReply: true } } : run.asked;
    if (!deliverOnly) return agentEvent(asked, shared);
    const request = { ...asked.request, deliverOnly: true };
    return agentEvent({ ...asked, request }, { ...shared, wrapped: false });
  });
}

/** A delivery that ends as it is accepted. */
function recordEvent(
  mapping: Mapping,
  kept: KeptDelivery,
  repeated?: { readonly dedupeKey: string; readonly answer: KeptAnswer },
): RawEvent {
  const event: RawEvent = {
    source: "hooks",
    kind: "delivery",
    lane: `hooks:${mapping.id}`,
    authority: "hook",
    body: { mapping: mapping.id, delivery: kept as unknown as Json },
  };
  if (repeated === undefined) return event;
  const body = { mapping: mapping.id, delivery: kept as unknown as Json, answer: repeated.answer as unknown as Json };
  return { ...event, body, dedupeKey: repeated.dedupeKey };
}

const noContent: KeptAnswer = { status: 204, runs: [false], listed: false };

/** There is nothing to do, and the sender need not know more. */
export function nothingRecord(
  mapping: Mapping,
  {
    reason,
    kept,
    dedupeKey,
    now,
  }: {
    readonly reason: NonNullable<Plan["nothing"]>;
    readonly kept: KeptDelivery;
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
  return { event: recordEvent(mapping, kept, repeated), settled: { outcome: "silent", reason, decisions: [decision] } };
}

/** Kept without a key: the sender may try again. */
export function failureRecord(
  mapping: Mapping,
  {
    failure,
    detail,
    kept,
    now,
  }: { readonly failure: MappingFailure; readonly detail: string; readonly kept: KeptDelivery; readonly now: number },
): { readonly event: RawEvent; readonly settled: Settled } {
  const { problem, path, hint } = failure;
  const outcome = problem.status >= 500 ? "failed" : "refused";
  const decision: Decision = { at: now, station: "accept", plugin: "core", verdict: outcome, code: problem.code, detail, path, hint };
  return { event: recordEvent(mapping, kept), settled: { outcome, reason: problem.code, decisions: [decision] } };
}

/** Names of what looks like an attempt to give orders, over all runs. */
export function injectionsIn(runs: readonly MappedRun[]): readonly string[] {
  const found = runs.map((run) => findInjection(run.action === "wake" ? run.wake.text : run.asked.message));
  return found.length === 1 ? (found[0] ?? []) : [...new Set(found.flat())];
}
