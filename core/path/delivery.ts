/** Station 6: sends the outbox, part by part, in order, and records each attempt and its fate. */

import { type Contact, type LiveAccount, patientWait, retryPolicy, sleep } from "../channels/index.ts";
import { ChannelError, PluginError, type Receipt, reasonOf } from "../contract/index.ts";
import type { OutboxRow, Settlement, Store } from "../state/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import type { Trace } from "./ending.ts";
import { persist } from "./patience.ts";
import type { Admission } from "./said.ts";

/** How long a send that surely did not happen is retried: a platform may be away for hours, and the answer must not be lost. */
const giveUpAfterMs = 24 * 60 * 60_000;
/**
 * A part of unknown fate is repeated once. It is repeated once more where the process that was to repeat it died, because between its
 * mark and its call that process may have done nothing, and the sender would be left without an answer. It is not repeated without end:
 * this very part may be what kills the gateway, and each start would add a copy.
 */
const mostRepetitions = 2;
/** A preview that stays is ugly; a chat that waits for its removal would be worse. */
const mostRemovals = 5;
/** A wait for the platform's limits, and whether it has ended. */
const tellWaitMs = 3_000;

export interface DeliveryResult {
  readonly receipts: readonly Receipt[];
  /** Reason of the first part that could not be sent. */
  readonly failure?: string;
  /** A part was given up because the platform did not take it for a day: nothing else can be sent either. */
  readonly platformSilent?: true;
  /** The gateway closes; the rest is sent at the next start. */
  readonly interrupted?: true;
  /** The last row, where it was sent: not recorded yet, so that it shares a commit with the settlement. */
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
  /** The rows come from an earlier process: one that it marked as being sent may have arrived. */
  readonly resumed: boolean;
  /**
   * The rows are sent at most once, where even a small chance of a repetition is too much: a row of unknown fate is given up.
   * `when-answered`: the first try waits until the platform has answered another call.
   */
  readonly once?: "now" | "when-answered" | undefined;
  /** What `admission` said of the first row when it was written, where that waits. */
  readonly admission?: Admission | undefined;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  readonly contact: (channel: string, account: string) => Contact;
}

/** A row that stands as being sent already, what it waits for, or `undefined`: not asked yet. */
type Leave = "marked" | Admission | undefined;

type Fate =
  | { readonly receipt: Receipt }
  | { readonly failure: string; readonly platformSilent?: true | undefined }
  | { readonly interrupted: true };

/**
 * The platform's limits, asked before a row is marked as being sent: a process that dies while a row waits leaves no doubt about it.
 * `undefined`: it may go now.
 */
export function admission(
  { operation, part, address }: Pick<OutboxRow, "operation" | "part" | "address">,
  { account, signal }: Pick<DeliveryOptions, "account" | "signal">,
): Admission | undefined {
  if (operation !== "send") return undefined;
  try {
    const waiting = account(address.channel, address.account)?.connection.admit?.(part, address, signal);
    return waiting?.then(
      () => ({}),
      (fault: unknown) => ({ fault }),
    );
  } catch (fault) {
    return Promise.resolve({ fault });
  }
}

export async function deliver(rows: readonly OutboxRow[], options: DeliveryOptions): Promise<DeliveryResult> {
  const { store, now } = options;
  const receipts: Receipt[] = [];
  let failure: string | undefined;
  let platformSilent: true | undefined;
  let last: DeliveryResult["last"];
  // `say` marks the first row, the record of a sent row marks the next: that saves a commit for each part.
  let leave: Leave = options.resumed ? undefined : (options.admission ?? "marked");
  for (const [index, row] of rows.entries()) {
    const fate = await sendRow(row, leave, options);
    if ("interrupted" in fate) return { receipts, interrupted: true };
    leave = undefined;
    if ("failure" in fate) {
      failure ??= fate.failure;
      platformSilent ??= fate.platformSilent;
      await persist(() => store.unsendable(row.id, { at: now(), reason: fate.failure }), options.signal);
      continue;
    }
    const { receipt } = fate;
    if (row.operation === "send") receipts.push(receipt);
    const next = rows[index + 1];
    if (next === undefined) last = { rowId: row.id, receipt, at: now() };
    else {
      leave = admission(next, options) ?? "marked";
      const mark = leave === "marked" ? { next: next.id } : {};
      await persist(() => store.sent(row.id, receipt, { at: now(), ...mark }), options.signal);
    }
  }
  return { receipts, ...(failure && { failure }), ...(platformSilent && { platformSilent }), ...(last && { last }) };
}

/** `false`: the gateway closes. */
async function mayGo(row: OutboxRow, leave: Admission | undefined, options: DeliveryOptions): Promise<boolean> {
  const { signal, trace } = options;
  const waiting = leave ?? admission(row, options);
  if (waiting === undefined) return !signal.aborted;
  const began = performance.now();
  const { fault } = await waiting;
  if (fault !== undefined) {
    const plugin = fault instanceof PluginError ? fault.plugin : row.address.channel;
    trace.add("delivery", { plugin, verdict: "pass", code: "admit_failed", detail: reasonOf(fault) });
  }
  const waited = performance.now() - began;
  if (waited >= tellWaitMs) {
    const detail = `part ${row.index + 1} waited ${Math.round(waited / 1_000)} s for the platform's limits`;
    trace.add("delivery", { plugin: row.address.channel, verdict: "pass", code: "limits_waited", detail });
  }
  return !signal.aborted;
}

/** Sends one row until its fate is known. */
async function sendRow(row: OutboxRow, leave: Leave, options: DeliveryOptions): Promise<Fate> {
  const { trace, store, signal, once } = options;
  // Not by the wall clock: one that is set forward would give the answer up.
  const began = performance.now();
  const contact = options.contact(row.address.channel, row.address.account);
  let { doubts } = row;
  if (leave !== "marked") {
    // An earlier process began to send it and died, so it is unknown whether it arrived. A message that is changed or removed twice is so
    // once: there is no doubt to be careful about.
    const doubtful = options.resumed && row.state === "sending" && row.operation === "send" && row.part.replaces === undefined;
    if (doubtful && doubts >= (once === undefined ? mostRepetitions : 0))
      return giveUp(row, "send_fate_unknown", `sent ${doubts + 1} times with unknown fate`, trace);
    if (doubtful) {
      doubts += 1;
      await doubt(
        row,
        { plugin: "core", detail: `part ${row.index + 1} may arrive ${doubts === 1 ? "twice" : `${doubts + 1} times`}` },
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
    try {
      const receipt = row.operation === "send" ? await sendOnce(row, contact, options) : await removeOnce(row, options);
      if (receipt === undefined) return giveUp(row, "no_channel", `no plugin sends to ${row.address.channel}`, trace);
      trace.add("delivery", {
        plugin: row.address.channel,
        verdict: "done",
        code: row.operation === "send" ? "sent" : "removed",
        detail: `${row.part.kind}, message ${receipt.messageId}`,
      });
      return { receipt };
    } catch (thrown) {
      const mark = contact.failed();
      const error = row.operation === "remove" ? repeatable(channelError(thrown), attempt) : channelError(thrown);
      const plugin = thrown instanceof PluginError && thrown.plugin !== "core" ? thrown.plugin : row.address.channel;
      if (error.fate === "not-sent" && (signal.aborted || error.retryable)) await store.notSent(row.id);
      if (signal.aborted) return { interrupted: true };
      if (error.fate === "unknown") {
        // It was the repetition, or must have none.
        if (doubts > 0 || once !== undefined) return giveUp(row, "send_fate_unknown", error.message, trace, { plugin });
        doubts += 1;
        await doubt(row, { plugin, detail: `repeated once when the platform answers: ${error.message}` }, options);
      } else if (!error.retryable) return giveUp(row, error.reason, error.message, trace, { plugin, hint: error.hint });
      else if (performance.now() - began > giveUpAfterMs)
        return giveUp(row, error.reason, error.message, trace, { plugin, hint: error.hint, platformSilent: true });
      else if (!(await waitAfter(error, { row, attempt }, options))) return { interrupted: true };
      // A row that may be repeated has one try left: it must not fall into the outage that it is here for.
      if (doubts > 0) {
        const ended = await awaitAnswers(row, mark, contact, options);
        if (ended !== undefined) return ended;
      }
      if (!(await mayGo(row, undefined, options))) return { interrupted: true };
      await store.sending(row.id);
    }
  }
}

async function sendOnce(
  { part, address }: OutboxRow,
  contact: Contact,
  { hooks, signal, visit }: DeliveryOptions,
): Promise<Receipt | undefined> {
  const succeeded = contact.sending();
  const answer = await hooks.delivery(part, address, signal, visit);
  if (answer !== undefined) succeeded();
  return answer?.value;
}

/**
 * Waits until the platform answers a call that began after the mark. The row waits in the store meanwhile, so that a process that dies
 * has no further doubt about it. `undefined`: it may be sent; else its fate.
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
    return giveUp(row, "send_fate_unknown", "the platform did not answer for 24 hours", trace, { platformSilent: true });
  const waited = performance.now() - began;
  if (waited >= tellWaitMs) {
    const detail = `part ${row.index + 1} waited ${Math.round(waited / 1_000)} s until the platform answered`;
    trace.add("delivery", { plugin: row.address.channel, verdict: "pass", code: "platform_answers", detail });
  }
  return undefined;
}

/** What a failed try costs: the wait that the platform asks for, else that of the account's `retry`. `false`: the gateway closes. */
async function waitAfter(
  error: ChannelError,
  { row, attempt }: { readonly row: OutboxRow; readonly attempt: number },
  options: DeliveryOptions,
): Promise<boolean> {
  const { account, trace, random, signal } = options;
  const { channel } = row.address;
  const policy = retryPolicy(account(channel, row.address.account)?.options);
  const delay = error.retryAfterMs ?? patientWait(attempt, policy, random);
  if (attempt <= 3)
    trace.add("delivery", { plugin: channel, verdict: "retry", code: error.reason, detail: `again in ${Math.round(delay)} ms` });
  return await sleep(delay, signal);
}

/**
 * Counted and reported before the next try, so that a process that dies does not take the reason of a doubled message along. The mark of
 * that try comes after it, and after the wait: a process that dies in between has not repeated anything, and the next one does so without
 * another doubt.
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
  trace.add("delivery", { plugin, verdict: "failed", code: reason, detail, ...(hint === undefined ? {} : { hint }) });
  // A preview that cannot be removed does not make the answer a failure.
  return row.operation === "remove" ? { receipt: { messageId: "" } } : { failure: reason, platformSilent };
}

/** The platform's own error. With any other error it is unknown whether the part was sent. */
function channelError(thrown: unknown): ChannelError {
  const cause = thrown instanceof PluginError ? thrown.cause : thrown;
  if (cause instanceof ChannelError) return cause;
  return new ChannelError("channel_failed", { fate: "unknown", detail: reasonOf(thrown), cause: thrown });
}

/** Of unknown fate, and harmless to repeat: as good as not sent, a few times. */
function repeatable(error: ChannelError, attempt: number): ChannelError {
  if (error.fate === "not-sent") return error;
  return new ChannelError(error.reason, { retryable: attempt < mostRemovals, detail: error.message, cause: error });
}
