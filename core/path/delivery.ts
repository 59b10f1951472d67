/** Station 6: sends the outbox part by part, in order, and records each attempt and its outcome. */

import { isDeepStrictEqual } from "node:util";
import {
  type AwayAccount,
  type Contact,
  deletedSilent,
  retryPolicy,
  sleep,
  unlimitedRetryWait,
} from "../channels/index.ts";
import { type Address, type ChannelError, PluginError, type Receipt } from "../contract/index.ts";
import type { OutboxRow, Settlement, Store } from "../state/index.ts";
import type { Hooks, Visit } from "../stations/index.ts";
import { admission } from "./admission.ts";
import type { Trace } from "./endings/ending.ts";
import { channelError, hintOf, repeatable } from "./endings/send-errors.ts";
import { unreachable } from "./endings/unreachable.ts";
import { persist, waitFor } from "./patience.ts";
import { requireAccount } from "./row-account.ts";
import {
  type Attempts,
  doubt,
  type Fate,
  giveUp,
  isRecognised,
  noteRepetition,
  resumeRow,
  type SendOptions,
  waitBeforeSending,
  waitsAgain,
} from "./sending/attempts.ts";
import { sendKey } from "./sending/send-key.ts";
import type { Admission } from "./unit-result.ts";

/** How long a send that had no effect is retried: a platform may be away for hours, and the reply must not be lost. */
const giveUpAfterMs = 24 * 60 * 60_000;
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

export interface DeliveryOptions extends SendOptions {
  readonly hooks: Hooks;
  /** Absent where the rows are not those of an event on its way. */
  readonly visit?: Visit;
  readonly now: () => number;
  readonly random: () => number;
  /** What `admission` returned for the first row when it was written, if that row waits. */
  readonly admission?: Admission | undefined;
  /** The message that the rows answer was deleted, so they are not sent. */
  readonly isDeleted?: () => boolean;
  /** Why the account of a row cannot be used now. */
  readonly away: (address: Address) => AwayAccount | undefined;
}

/**
 * Whether a row may go: `marked` if it is already recorded as being sent, the wait it is subject to, or `undefined` if
 * that has not been asked yet.
 */
type Leave = "marked" | Admission | undefined;

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
      const forget = fate.failure === deletedSilent.silent;
      await persist(() => store.unsendable(row.id, { at: now(), reason: fate.failure, forget }), options.signal);
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
  const { store, signal, once } = options;
  // Does not use the wall clock: if it were set forward, the reply would be given up.
  const began = performance.now();
  const contact = options.contact(row.address.channel, row.address.account);
  const account = () => options.account(row.address.channel, row.address.account);
  const attempts: Attempts = { doubts: row.doubts, answerAfter: contact.lastFailure() };
  await requireAccount(row, { ...options, isMarked: leave === "marked" });
  if (leave !== "marked") {
    const ended = (await resumeRow(row, attempts, options)) ?? (await waitBeforeSending(row, leave, attempts, options));
    if (ended !== undefined) return ended;
    await store.sending(row.id);
  }
  let attemptBegan = leave === "marked" ? began : performance.now();
  for (let attempt = 1; ; attempt += 1) {
    if (row.operation === "send" && options.isDeleted?.() === true) return await leaveOut(row, options);
    // The signal says that the lease was lost meanwhile, even if the node has a new one by now.
    if (store.nodes !== undefined && (signal.aborted || store.nodes.leaseLeft() < sendMs))
      return await leaveRow(row, attempts, store);
    try {
      const receipt = row.operation === "send" ? await sendOnce(row, contact, options) : await removeOnce(row, options);
      if (receipt === undefined)
        return giveUp(row, "no_channel", `no plugin sends to ${row.address.channel}`, options.trace);
      noteReceipt(row, receipt, options.trace);
      return { receipt };
    } catch (thrown) {
      attempts.answerAfter = contact.failed();
      const error = row.operation === "remove" ? repeatable(channelError(thrown), attempt) : channelError(thrown);
      const plugin = thrown instanceof PluginError && thrown.plugin !== "core" ? thrown.plugin : row.address.channel;
      const givenUp = (reason: string, more: { readonly hint?: string | undefined; readonly platformSilent?: true }) =>
        giveUp(row, reason, error.message, options.trace, { plugin, ...more });
      const isLate = performance.now() - began > giveUpAfterMs;
      if (error.fate === "not-sent" && (signal.aborted || error.retryable)) await waitsAgain(row, attempts, store);
      if (signal.aborted) return { interrupted: true };
      if (error.fate === "not-sent" && error.retryable) waitFor(() => options.away(row.address));
      if (error.fate === "unknown") {
        attempts.unsureSince ??= attemptBegan;
        if (isRecognised(row, attempts, options)) {
          if (isLate) return givenUp("send_fate_unknown", { platformSilent: true });
          noteRepetition(row, attempt, options.trace, { plugin, detail: error.message });
          if (attempt > 1 && !(await waitAfter(error, { row, attempt }, options))) return { interrupted: true };
        } else {
          // Either this was the repetition, or none is allowed.
          if (attempts.doubts > 0 || once !== undefined) return givenUp("send_fate_unknown", {});
          const detail = `repeated once when the platform answers: ${error.message}`;
          await doubt(row, attempts, { plugin, detail }, options);
        }
      } else if (!error.retryable) return givenUp(error.reason, { hint: hintOf(error, account()) });
      else if (isLate) return givenUp(error.reason, { hint: hintOf(error, account()), platformSilent: true });
      else if (!(await waitAfter(error, { row, attempt }, options))) return { interrupted: true };
      await requireAccount(row, { ...options, isMarked: false });
      const ended = await waitBeforeSending(row, undefined, attempts, options);
      if (ended !== undefined) return ended;
      await store.sending(row.id);
      attemptBegan = performance.now();
    }
  }
}

/** The reply of a deleted message. What its preview has shown of it goes as well. */
async function leaveOut(row: OutboxRow, options: DeliveryOptions): Promise<Fate> {
  const reason = deletedSilent.silent;
  options.trace.add("delivery", { plugin: "core", verdict: "silent", code: reason, detail: deletedSilent.detail });
  const { replaces, inPlace } = row.part;
  if (replaces !== undefined && inPlace !== true) await removeOnce(row, options).catch(() => {});
  return { failure: reason };
}

function noteReceipt({ operation, part, address }: OutboxRow, receipt: Receipt, trace: Trace): void {
  const alone = part.onlyFor === undefined ? "" : `, which only ${part.onlyFor.sender} sees`;
  const detail = `${part.kind}, message ${receipt.messageId}${alone}`;
  const code = operation === "send" ? "sent" : "removed";
  trace.add("delivery", { plugin: address.channel, verdict: "done", code, detail });
  for (const omitted of receipt.omitted ?? [])
    trace.add("delivery", { plugin: address.channel, verdict: "pass", code: "part_omitted", detail: omitted });
}

/** Another node may take the unit over soon, and would send the row too. */
async function leaveRow(row: OutboxRow, attempts: Attempts, store: Store): Promise<Fate> {
  await waitsAgain(row, attempts, store);
  return { interrupted: true };
}

async function sendOnce(row: OutboxRow, contact: Contact, options: DeliveryOptions): Promise<Receipt | undefined> {
  const succeeded = contact.sending();
  const part = { ...row.part, key: sendKey(row) };
  const answer = await options.hooks.delivery(part, row.address, options.signal, options.visit);
  if (answer !== undefined) succeeded();
  return answer?.value;
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

async function removeOnce({ part, address }: OutboxRow, { account, signal }: DeliveryOptions): Promise<Receipt> {
  const messageId = part.replaces ?? "";
  await account(address.channel, address.account)?.connection.remove?.(messageId, address, signal);
  return { messageId };
}
