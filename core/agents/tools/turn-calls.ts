/**
 * The calls of tools of one event, over all runs of its turn. A call is recorded before it begins and when it has
 * ended, so that a turn that an interruption cut off makes no call twice unless its model has read that the call was
 * made before.
 */
import { createHash } from "node:crypto";
import { exactDigits, type Json } from "../../contract/index.ts";
import { isObject } from "../../host/index.ts";
import type { ToolWords } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";
import { carried, countedAttempt, isFirstRun, type ToolUse, toolCalls, type Visit } from "../../stations/index.ts";
import { callNote } from "./call-note.ts";
import { type CallRecord, type CallRecords, createCallRecords } from "./call-records.ts";
import { earlierCalls, notMadeAgain, unknownOutcome, withoutFiles } from "./call-texts.ts";

/**
 * A node that holds the lease of its units for less time than this begins no call. As for a send, another node might
 * begin the same.
 */
const leaseMs = 5_000;
const leasePollMs = 200;

export interface ToolAtHand {
  readonly name: string;
  readonly plugin: string;
  readonly idempotent?: boolean;
}

/** What is known of a call that a model makes. */
export type Known =
  /** It is answered without a call. */
  | { readonly result: Json; readonly words?: "gateway"; readonly code?: string; readonly detail?: string }
  /** It is to be made. `record`: it was cut off, and is made again under its key. */
  | { readonly record?: CallRecord };

/** A call that is recorded and may begin. */
export interface BegunCall {
  readonly key: string;
  /** Records the result as the tool returned it, without a wrapper. */
  end(
    returned: { readonly result: Json; readonly words: ToolWords | "gateway" },
    code: string | undefined,
  ): Promise<void>;
}

export interface TurnCalls {
  /** What earlier runs have called, for the model to read before it begins; empty if nothing. */
  notice(): Promise<string>;
  known(tool: ToolAtHand, args: Json): Promise<Known>;
  /** Names a question to an owner. The same for the same call of a turn that is run again, until the call has begun. */
  approvalKey(name: string, args: Json): string;
  /** Whether this run has asked the question with this key, and not only an earlier run. */
  hasAsked(approvalKey: string): boolean;
  /** Records that a call begins. Rejects if that cannot be written; then the call must not be made. */
  begin(
    tool: ToolAtHand,
    args: Json,
    how: {
      readonly record?: CallRecord | undefined;
      readonly approval?: string | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<BegunCall>;
  /** The position of a call among all calls of this run; 1 is the first. */
  nextOrder(): number;
  /** The key of a call that changes nothing, and is not recorded. */
  readingKey(name: string): string;
  /** Whether a question of this turn, or of an earlier run, may be open. */
  mayHaveAsked(): boolean;
  /** A model is asked: it reads the results of the calls so far. */
  modelAsked(): void;
  /** Removes what is recorded, because the event has ended and needs no further run. */
  forget(): Promise<unknown>;
}

/**
 * The calls of the turn that a visit belongs to; `undefined` while it has called no tool and looked for no earlier
 * call.
 */
export const turnCalls = carried<TurnCalls>("turnCalls");

const digestOf = (parts: readonly Json[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/** Models write the same arguments in another order. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null || exactDigits(value) !== undefined) return value;
  const entries = Object.entries(value as Readonly<Record<string, Json>>).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return Object.fromEntries(entries.map(([name, one]) => [name, inOrder(one)]));
}

const written = (args: Json): string => JSON.stringify(inOrder(args));

/** What a call has done outside of the reply, by its result and the code of that. */
export function effectOf(result: Json, code: string | undefined): ToolUse["effect"] {
  if (code === undefined) return "done";
  const outcome = isObject(result) ? result.outcome : undefined;
  if (outcome === "refused") return undefined;
  if (outcome === "unreadable") return "done";
  // A tool that answered with an error may have done a part before.
  if (outcome === "unknown" || outcome === "answered") return "unknown";
  return code === "outcome_unknown" || code === "tool_timeout" || code === "tool_failed" ? "unknown" : undefined;
}

/** A call of an earlier run, for the trace and the conversation. */
function earlierUse({ name, plugin, args, result, at, ...record }: CallRecord): ToolUse {
  const code = result === undefined ? "outcome_unknown" : (record.code ?? "tool_recorded");
  const effect = result === undefined ? "unknown" : effectOf(result, record.code);
  const detail = `called at ${new Date(at).toISOString()}, before an interruption`;
  return {
    name,
    plugin,
    code,
    detail,
    ...callNote(args, result, record.code),
    ...(effect !== undefined && { effect }),
  };
}

interface Earlier {
  readonly record: CallRecord;
  /** The model has called it again, and it was answered. */
  isUsed: boolean;
  /** The model is answered that it was called before; it reads that with the request of this number. */
  reportedBefore?: number;
}

/** 1, then 2 and so on. */
function numbers(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

export function createTurnCalls({
  event,
  visit,
  store,
  now,
  onEarlier,
  isAsked,
}: {
  readonly event: string;
  readonly visit: Visit;
  readonly store: Pick<Store, "set" | "list" | "delete" | "nodes">;
  readonly now: () => number;
  /** A call of an earlier run was found. */
  readonly onEarlier: (record: CallRecord) => void;
  /** Whether a question of an earlier run is open. */
  readonly isAsked: () => Promise<boolean>;
}): TurnCalls {
  const records: CallRecords = createCallRecords({ store, now });
  const own: CallRecord[] = [];
  const last = new Map<string, number>();
  /** Keys of questions to an owner. */
  const asked = new Set<string>();
  const read = new Map<string, number>();
  /** How often a model was asked. Stays 0 with an engine that does not say so. */
  let requests = 0;
  let loading: Promise<readonly Earlier[]> | undefined;
  let earlier: readonly Earlier[] = [];

  async function load(): Promise<readonly Earlier[]> {
    if (visit.get(isFirstRun) === true) return [];
    const [found, isOpen] = await Promise.all([records.of(event), isAsked()]);
    if (isOpen) await visit.get(countedAttempt)?.returns();
    earlier = found.map((record) => ({ record, isUsed: false }));
    for (const record of found) {
      last.set(record.name, Math.max(last.get(record.name) ?? 0, record.ordinal));
      onEarlier(record);
    }
    if (found.length > 0) visit.set(toolCalls, [...found.map(earlierUse), ...(visit.get(toolCalls) ?? [])]);
    return earlier;
  }

  const loaded = () => (loading ??= load());

  /** A model that was answered in this request has not read it yet: calls of one step run at the same time. */
  const hasRead = ({ reportedBefore }: Earlier): boolean =>
    reportedBefore !== undefined && (requests === 0 || reportedBefore < requests);

  /** Whether the earlier call may have done something, so that the same in other words would do it twice. */
  const mayRepeat = ({ record: { result, code } }: Earlier): boolean =>
    result === undefined || effectOf(result, code) !== undefined;

  async function leased(signal: AbortSignal): Promise<void> {
    while (store.nodes !== undefined && store.nodes.leaseLeft() < leaseMs) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, leasePollMs));
    }
    signal.throwIfAborted();
  }

  return {
    async notice() {
      const found = await loaded();
      return found.length === 0 ? "" : earlierCalls(found.map(({ record }) => record));
    },
    async known({ name, idempotent = false }, args) {
      const open = (await loaded()).filter(({ record, isUsed }) => record.name === name && !isUsed);
      if (open.length === 0) return {};
      const text = written(args);
      const same = open.find(({ record }) => written(record.args) === text);
      if (same?.record.result !== undefined) {
        same.isUsed = true;
        const { result, code, words } = same.record;
        return {
          result,
          words,
          code: code ?? "tool_recorded",
          detail: "answered with the result from before the interruption",
        };
      }
      const cutOff = open.filter(({ record }) => record.result === undefined);
      const again = idempotent ? (same ?? cutOff[0]) : undefined;
      if (again !== undefined) {
        again.isUsed = true;
        return { record: again.record };
      }
      const unread = open.filter((one) => mayRepeat(one) && !hasRead(one));
      if (unread.length === 0) return {};
      for (const one of unread) one.reportedBefore ??= requests;
      const before = unread.map(({ record }) => record);
      const isUnknown = before.some(({ result }) => result === undefined);
      const code = isUnknown ? "outcome_unknown" : "called_before";
      const error = isUnknown ? unknownOutcome(before) : notMadeAgain(before);
      return {
        result: { ok: false, error, code },
        words: "gateway",
        code,
        detail: "not made, because it was called before an interruption",
      };
    },
    approvalKey(name, args) {
      const digest = digestOf([event, name, written(args)]);
      const isTaken = (key: string) =>
        asked.has(key) ||
        own.some(({ approval }) => approval === key) ||
        earlier.some(({ record }) => record.approval === key);
      // Equal calls of one step are asked about at the same time, before any of them has begun.
      let number = 1;
      while (isTaken(`${event}:${digest}:${number}`)) number += 1;
      const key = `${event}:${digest}:${number}`;
      asked.add(key);
      return key;
    },
    hasAsked: (key) => asked.has(key),
    async begin({ name, plugin }, args, { record, approval, signal }) {
      await loaded();
      await leased(signal);
      const ordinal = record?.ordinal ?? (last.get(name) ?? 0) + 1;
      if (record === undefined) last.set(name, ordinal);
      const begun: CallRecord = { name, plugin, ordinal, args, at: now(), approval };
      own.push(begun);
      await records.write(event, begun);
      await leased(signal);
      return {
        key: digestOf([event, name, ordinal]),
        end: ({ result, words }, code) =>
          records.write(event, {
            ...begun,
            result: withoutFiles(result),
            ...(words === "gateway" && { words }),
            ...(code !== undefined && { code }),
          }),
      };
    },
    nextOrder: numbers(),
    readingKey(name) {
      const number = (read.get(name) ?? 0) + 1;
      read.set(name, number);
      return digestOf([event, name, number]);
    },
    mayHaveAsked: () => asked.size > 0 || visit.get(isFirstRun) !== true,
    modelAsked() {
      requests += 1;
    },
    async forget() {
      const all = [...earlier.map(({ record }) => record), ...own];
      if (all.length > 0) await records.remove(event, all);
    },
  };
}
