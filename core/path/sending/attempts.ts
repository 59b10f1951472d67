/**
 * What is known about the attempts to send a row of the outbox, and what the next one has to wait for. An attempt of
 * unknown fate is repeated at once where the platform recognises the repetition, and else once, when it answers again.
 */
import type { Contact, LiveAccount } from "../../channels/index.ts";
import type { Receipt } from "../../contract/index.ts";
import type { OutboxRow, Store } from "../../state/index.ts";
import { mayGo, unreportedWaitMs } from "../admission.ts";
import type { Trace } from "../endings/ending.ts";
import type { Admission } from "../unit-result.ts";
import { isShownOnce } from "./send-key.ts";

/**
 * A part whose outcome is unknown is repeated once. It is repeated once more if the process that was to repeat it died,
 * because between its mark and its call that process may have done nothing, and the sender would get no reply. It is
 * not repeated endlessly: this very part may be what kills the gateway, and each start would add a copy.
 */
const mostRepetitions = 2;

/** What the attempts to send a row need. */
export interface SendOptions {
  readonly store: Store;
  readonly trace: Trace;
  readonly signal: AbortSignal;
  /** The rows come from an earlier process. One that it marked as being sent may have arrived. */
  readonly resumed: boolean;
  /**
   * Sends the rows at most once, for texts that must not be repeated: a row with an unknown outcome is given up.
   * `when-answered`: the first attempt waits until the platform has answered another call.
   */
  readonly once?: "now" | "when-answered" | undefined;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  readonly contact: (channel: string, account: string) => Contact;
}

export type Fate =
  | { readonly receipt: Receipt }
  | { readonly failure: string; readonly platformSilent?: true | undefined }
  | { readonly interrupted: true };

/** What is known about the attempts to send a row. */
export interface Attempts {
  /** How many times too often the part may have been sent. */
  doubts: number;
  /** A repetition waits until the platform has answered a call that began after this mark. */
  answerAfter: number;
  /** The next attempt waits until the platform has answered, even if no earlier one is in doubt. */
  awaitsAnswer?: boolean;
  /** By `performance.now()`: the beginning of the first attempt that the platform may have accepted. */
  unsureSince?: number;
}

/** Whether the platform recognises the next attempt as a repetition, so that it shows the message once. */
export function isRecognised(row: OutboxRow, { unsureSince }: Attempts, { account }: SendOptions): boolean {
  const since = unsureSince === undefined ? undefined : performance.now() - unsureSince;
  return isShownOnce(row, since, account(row.address.channel, row.address.account)?.capabilities.repeats);
}

/**
 * Takes over a row that an earlier process may have begun to send. Returns the row's end if it may not be sent again.
 */
export async function resumeRow(row: OutboxRow, attempts: Attempts, options: SendOptions): Promise<Fate | undefined> {
  const { trace, once } = options;
  attempts.awaitsAnswer = once === "when-answered";
  // An earlier process began to send the row and died, so it is unknown whether it arrived. Editing or removing a
  // message twice does no harm, so those are not in doubt.
  const isDoubtful =
    options.resumed && row.state === "sending" && row.operation === "send" && row.part.replaces === undefined;
  if (!isDoubtful) return undefined;
  if (row.sendingForMs !== undefined) attempts.unsureSince = performance.now() - row.sendingForMs;
  if (isRecognised(row, attempts, options)) {
    noteRepetition(row, 1, trace, { plugin: "core", detail: "the process ended during the send" });
    return undefined;
  }
  const { doubts } = attempts;
  if (doubts >= (once === undefined ? mostRepetitions : 0))
    return giveUp(row, "send_fate_unknown", `sent ${doubts + 1} times with an unknown outcome`, trace);
  const detail = `part ${row.index + 1} may arrive ${doubts === 0 ? "twice" : `${doubts + 2} times`}`;
  await doubt(row, attempts, { plugin: "core", detail }, options);
  return undefined;
}

/**
 * Waits until the next attempt may be made. Returns the row's end if none may be. The platform may forget the key of
 * the row meanwhile; then the repetition is in doubt.
 */
export async function waitBeforeSending(
  row: OutboxRow,
  admitted: Admission | undefined,
  attempts: Attempts,
  options: SendOptions,
): Promise<Fate | undefined> {
  const { trace, once } = options;
  const isForgotten = () =>
    attempts.unsureSince !== undefined && attempts.doubts === 0 && !isRecognised(row, attempts, options);
  for (let waits = admitted; ; waits = undefined) {
    if (isForgotten()) {
      const detail = "the platform no longer recognises a repetition";
      if (once !== undefined) return giveUp(row, "send_fate_unknown", detail, trace);
      await doubt(row, attempts, { plugin: "core", detail }, options);
    }
    // A row that may be repeated has one attempt left, which must not fall into the same outage.
    if (attempts.doubts > 0 || attempts.awaitsAnswer === true) {
      attempts.awaitsAnswer = false;
      const ended = await awaitAnswers(row, attempts.answerAfter, options);
      if (ended !== undefined) return ended;
    }
    if (!(await mayGo(row, waits, options))) return { interrupted: true };
    if (!isForgotten()) return undefined;
  }
}

/** The platform shows the message once: nothing is in doubt. The attempts of an outage are one entry of the trace. */
export function noteRepetition(
  { index }: OutboxRow,
  attempt: number,
  trace: Trace,
  { plugin, detail }: { readonly plugin: string; readonly detail: string },
): void {
  if (attempt > 1) return;
  trace.add("delivery", {
    plugin,
    verdict: "retry",
    code: "repeated_by_key",
    detail: `part ${index + 1} is sent again with the same key: ${detail}`,
  });
}

/** The last attempt had no effect, so the row waits again, unless the platform may have accepted an earlier one. */
export async function waitsAgain({ id }: OutboxRow, { unsureSince }: Attempts, store: Store): Promise<void> {
  if (unsureSince === undefined) await store.notSent(id);
}

/**
 * Waits until the platform answers a call that began after the mark. Meanwhile the row waits in the store, so that a
 * process that dies adds no further doubt about it. `undefined`: it may be sent; otherwise its outcome.
 */
async function awaitAnswers(
  row: OutboxRow,
  mark: number,
  { trace, signal, ...options }: Pick<SendOptions, "trace" | "signal" | "contact">,
): Promise<Fate | undefined> {
  const began = performance.now();
  const contact = options.contact(row.address.channel, row.address.account);
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
 * Counts and reports the doubt before the next attempt, so that the reason of a duplicate message survives a crash. The
 * mark of that attempt comes after this and after the wait: a process that dies in between has not repeated anything,
 * and the next one does so without further doubt.
 */
export async function doubt(
  row: OutboxRow,
  attempts: Attempts,
  { plugin, detail }: { readonly plugin: string; readonly detail: string },
  { store, trace }: Pick<SendOptions, "store" | "trace">,
): Promise<void> {
  attempts.doubts += 1;
  trace.add("delivery", { plugin, verdict: "retry", code: "possibly_repeated", detail });
  await store.doubted(row.id, { decisions: trace.take() });
}

export function giveUp(
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
