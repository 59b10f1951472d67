/** Station 6: sends the outbox part by part, in order, and records each attempt and its outcome. */

import { isDeepStrictEqual } from "node:util";
import {
  type AwayAccount,
  type Contact,
  type LiveAccount,
  retryPolicy,
  sleep,
  unlimitedRetryWait,
} from "../channels/index.ts";
import { type Address, type ChannelError, PluginError, type Receipt } from "../contract/index.ts";
import type { OutboxRow, Settlement, Store } from "../state/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import { admission, mayGo, unreportedWaitMs } from "./admission.ts";
import type { Trace } from "./endings/ending.ts";
import { channelError, hintOf, repeatable } from "./endings/send-errors.ts";
import { unreachable } from "./endings/unreachable.ts";
import { persist, waitFor } from "./patience.ts";
import { requireAccount } from "./row-account.ts";
import type { Admission } from "./unit-result.ts";

/** How long a send that had no effect is retried: a platform may be away for hours, and the reply must not be lost. */
const giveUpAfterMs = 24 * 60 * 60_000;
/**
 * A part whose outcome is unknown is repeated once. It is repeated once more if the process that was to repeat it died,
 * because between its mark and its call that process may have done nothing, and the sender would get no reply. It is
 * not repeated endlessly: this very part may be what kills the gateway, and each start would add a copy.
 */
const mostRepetitions = 2;
/** A send may take this long. It must end before another node may take the unit over. */
const sendMs = 5_000;

export interface DeliveryResult {
  readonly receipts: readonly Receipt[];
  /** Reason code of the first part that could not be sent. */
  readonly failure?: string;
  /** A part was given up because the platform did not accept it for a day, so nothing else can be sent either. */
  readonly platformSilent?: true;
  /** The gateway is closing; the rest is sent at the next start. */
  readonly interrupted?: true;
  /** The last row, if it was sent. It is not recorded yet, so that it shares a commit with the settlement. */
  readonly last?: NonNullable<Settlement["sent"]>;
}

export interface DeliveryOptions {
  readonly hooks: Hooks;
  readonly store: Store;
  readonly trace: Trace;
  /** Absent where the rows are not those of an event on its way. */
  readonly visit?: Visit;
  readonly now: () => number;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** The rows come from an earlier process. One that it marked as being sent may have arrived. */
  readonly resumed: boolean;
  /**
   * Sends the rows at most once, for texts that must not be repeated: a row with an unknown outcome is given up.
   * `when-answered`: the first attempt waits until the platform has answered another call.
   */
  readonly once?: "now" | "when-answered" | undefined;
  /** What `admission` returned for the first row when it was written, if that row waits. */
  readonly admission?: Admission | undefined;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  /** Why the account of a row cannot be used now. */
  readonly away: (address: Address) => AwayAccount | undefined;
  readonly contact: (channel: string, account: string) => Contact;
}

/**
 * Whether a row may go: `marked` if it is already recorded as being sent, the wait it is subject to, or `undefined` if
 * that has not been asked yet.
 */
type Leave = "marked" | Admission | undefined;

type Fate =
  | { readonly receipt: Receipt }
  | { readonly failure: string; readonly platformSilent?: true | undefined }
  | { readonly interrupted: true };

/** Throws `Postponed` if the account of a row is away: the row and those after it wait in the store. */
export async function deliver(rows: readonly OutboxRow[], options: DeliveryOptions): Promise<DeliveryResult> {
  const { store, now } = options;
  const receipts: Receipt[] = [];
  let failure: string | undefined;
  let platformSilent: true | undefined;
  let last: DeliveryResult["last"];
  // `say` marks the first row, and the record of a sent row marks the next. That saves a commit for each part.
  let leave: Leave = options.resumed ? undefined : (options.admission ?? "marked");
  const untried = new Set<OutboxRow>();
  for (const [index, row] of rows.entries()) {
    if (untried.has(row)) continue;
    const fate = await sendRow(row, leave, options);
    if ("interrupted" in fate) return { receipts, interrupted: true };
    leave = undefined;
    if ("failure" in fate) {
      failure ??= fate.failure;
      platformSilent ??= fate.platformSilent;
      await persist(() => store.unsendable(row.id, { at: now(), reason: fate.failure }), options.signal);
      for (const other of await giveUpRest(row, rows.slice(index + 1), fate.failure, options)) untried.add(other);
      continue;
    }
    const { receipt } = fate;
    if (row.operation === "send") receipts.push(receipt);
    const next = rows.slice(index + 1).find((other) => !untried.has(other));
    if (next === undefined) last = { rowId: row.id, receipt, at: now() };
    else {
      leave = admission(next, options) ?? "marked";
      const mark = leave === "marked" ? { next: next.id } : {};
      await persist(() => store.sent(row.id, receipt, { at: now(), ...mark }), options.signal);
    }
  }
  return { receipts, ...(failure && { failure }), ...(platformSilent && { platformSilent }), ...(last && { last }) };
}

/**
 * Ends what else goes to a place that cannot be reached. The removal of a preview is tried nevertheless. Returns the
 * rows that ended.
 */
async function giveUpRest(
  { address }: OutboxRow,
  rows: readonly OutboxRow[],
  reason: string,
  { store, trace, now, signal }: DeliveryOptions,
): Promise<readonly OutboxRow[]> {
  const rest = unreachable.has(reason)
    ? rows.filter((row) => row.operation === "send" && isDeepStrictEqual(row.address, address))
    : [];
  if (rest.length === 0) return rest;
  const detail = rest.length === 1 ? "1 more message was not tried" : `${rest.length} more messages were not tried`;
  trace.add("delivery", { plugin: "core", verdict: "pass", code: "rest_not_tried", detail });
  for (const { id } of rest) await persist(() => store.unsendable(id, { at: now(), reason }), signal);
  return rest;
}

/** Sends one row until its outcome is known. */
async function sendRow(row: OutboxRow, leave: Leave, options: DeliveryOptions): Promise<Fate> {
  const { trace, store, signal, once } = options;
  // Does not use the wall clock: if it were set forward, the reply would be given up.
  const began = performance.now();
  const contact = options.contact(row.address.channel, row.address.account);
  const account = () => options.account(row.address.channel, row.address.account);
  let { doubts } = row;
  await requireAccount(row, { ...options, isMarked: leave === "marked" });
  if (leave !== "marked") {
    // An earlier process began to send the row and died, so it is unknown whether it arrived. Editing or removing a
    // message twice does no harm, so those are not in doubt.
    const doubtful =
      options.resumed && row.state === "sending" && row.operation === "send" && row.part.replaces === undefined;
    if (doubtful && doubts >= (once === undefined ? mostRepetitions : 0))
      return giveUp(row, "send_fate_unknown", `sent ${doubts + 1} times with an unknown outcome`, trace);
    if (doubtful) {
      doubts += 1;
      await doubt(
        row,
        {
          plugin: "core",
          detail: `part ${row.index + 1} may arrive ${doubts === 1 ? "twice" : `${doubts + 1} times`}`,
        },
        options,
      );
    }
    if (doubts > 0 || once === "when-answered") {
      const ended = await awaitAnswers(row, contact.lastFailure(), contact, options);
      if (ended !== undefined) return ended;
    }
    if (!(await mayGo(row, leave, options))) return { interrupted: true };
    await store.sending(row.id);
  }
  for (let attempt = 1; ; attempt += 1) {
    // The signal says that the lease was lost meanwhile, even if the node has a new one by now.
    if (store.nodes !== undefined && (signal.aborted || store.nodes.leaseLeft() < sendMs))
      return await leaveRow(row, store);
    try {
      const receipt = row.operation === "send" ? await sendOnce(row, contact, options) : await removeOnce(row, options);
      if (receipt === undefined) return giveUp(row, "no_channel", `no plugin sends to ${row.address.channel}`, trace);
      trace.add("delivery", {
        plugin: row.address.channel,
        verdict: "done",
        code: row.operation === "send" ? "sent" : "removed",
        detail: `${row.part.kind}, message ${receipt.messageId}`,
      });
      for (const detail of receipt.omitted ?? [])
        trace.add("delivery", { plugin: row.address.channel, verdict: "pass", code: "part_omitted", detail });
      return { receipt };
    } catch (thrown) {
      const mark = contact.failed();
      const error = row.operation === "remove" ? repeatable(channelError(thrown), attempt) : channelError(thrown);
      const plugin = thrown instanceof PluginError && thrown.plugin !== "core" ? thrown.plugin : row.address.channel;
      if (error.fate === "not-sent" && (signal.aborted || error.retryable)) await store.notSent(row.id);
      if (signal.aborted) return { interrupted: true };
      if (error.fate === "not-sent" && error.retryable) waitFor(() => options.away(row.address));
      if (error.fate === "unknown") {
        // Either this was the repetition, or none is allowed.
        if (doubts > 0 || once !== undefined) return giveUp(row, "send_fate_unknown", error.message, trace, { plugin });
        doubts += 1;
        await doubt(row, { plugin, detail: `repeated once when the platform answers: ${error.message}` }, options);
      } else if (!error.retryable)
        return giveUp(row, error.reason, error.message, trace, { plugin, hint: hintOf(error, account()) });
      else if (performance.now() - began > giveUpAfterMs)
        return giveUp(row, error.reason, error.message, trace, {
          plugin,
          hint: hintOf(error, account()),
          platformSilent: true,
        });
      else if (!(await waitAfter(error, { row, attempt }, options))) return { interrupted: true };
      await requireAccount(row, { ...options, isMarked: false });
      // A row that may be repeated has one attempt left, which must not fall into the same outage.
      if (doubts > 0) {
        const ended = await awaitAnswers(row, mark, contact, options);
        if (ended !== undefined) return ended;
      }
      if (!(await mayGo(row, undefined, options))) return { interrupted: true };
      await store.sending(row.id);
    }
  }
}

/** Another node may take the unit over soon, and would send the row too. */
async function leaveRow({ id }: OutboxRow, store: Store): Promise<Fate> {
  await store.notSent(id);
  return { interrupted: true };
}

async function sendOnce(
  { part, address }: OutboxRow,
  contact: Contact,
  options: DeliveryOptions,
): Promise<Receipt | undefined> {
  const succeeded = contact.sending();
  const answer = await options.hooks.delivery(part, address, options.signal, options.visit);
  if (answer !== undefined) succeeded();
  return answer?.value;
}

/**
 * Waits until the platform answers a call that began after the mark. Meanwhile the row waits in the store, so that a
 * process that dies adds no further doubt about it. `undefined`: it may be sent; otherwise its outcome.
 */
async function awaitAnswers(
  row: OutboxRow,
  mark: number,
  contact: Contact,
  { trace, signal }: Pick<DeliveryOptions, "trace" | "signal">,
): Promise<Fate | undefined> {
  const began = performance.now();
  const how = await contact.answersAfter(mark, signal);
  if (how === "closing") return { interrupted: true };
  if (how === "too-late")
    return giveUp(row, "send_fate_unknown", "the platform did not answer for 24 hours", trace, {
      platformSilent: true,
    });
  const waited = performance.now() - began;
  if (waited >= unreportedWaitMs) {
    const detail = `part ${row.index + 1} waited ${Math.round(waited / 1_000)} s until the platform answered`;
    trace.add("delivery", { plugin: row.address.channel, verdict: "pass", code: "platform_answers", detail });
  }
  return undefined;
}

/**
 * Waits after a failed attempt: as long as the platform asks for, otherwise as the account's `retry` says. `false`: the
 * gateway is closing.
 */
async function waitAfter(
  error: ChannelError,
  { row, attempt }: { readonly row: OutboxRow; readonly attempt: number },
  options: DeliveryOptions,
): Promise<boolean> {
  const { account, trace, random, signal } = options;
  const { channel } = row.address;
  const policy = retryPolicy(account(channel, row.address.account)?.options);
  const delay = error.retryAfterMs ?? unlimitedRetryWait(attempt, policy, random);
  if (attempt <= 3)
    trace.add("delivery", {
      plugin: channel,
      verdict: "retry",
      code: error.reason,
      detail: `next attempt in ${Math.round(delay)} ms`,
    });
  return await sleep(delay, signal);
}

/**
 * Counts and reports the doubt before the next attempt, so that the reason of a duplicate message survives a crash. The
 * mark of that attempt comes after this and after the wait: a process that dies in between has not repeated anything,
 * and the next one does so without further doubt.
 */
async function doubt(
  row: OutboxRow,
  { plugin, detail }: { readonly plugin: string; readonly detail: string },
  { store, trace }: Pick<DeliveryOptions, "store" | "trace">,
): Promise<void> {
  trace.add("delivery", { plugin, verdict: "retry", code: "possibly_repeated", detail });
  await store.doubted(row.id, { decisions: trace.take() });
}

async function removeOnce({ part, address }: OutboxRow, { account, signal }: DeliveryOptions): Promise<Receipt> {
  const messageId = part.replaces ?? "";
  await account(address.channel, address.account)?.connection.remove?.(messageId, address, signal);
  return { messageId };
}

function giveUp(
  row: OutboxRow,
  reason: string,
  detail: string,
  trace: Trace,
  {
    plugin = row.address.channel,
    hint,
    platformSilent,
  }: { readonly plugin?: string; readonly hint?: string | undefined; readonly platformSilent?: true } = {},
): Fate {
  trace.add("delivery", { plugin, verdict: "failed", code: reason, detail, hint });
  // A preview that cannot be removed does not make the reply a failure.
  return row.operation === "remove" ? { receipt: { messageId: "" } } : { failure: reason, platformSilent };
}
