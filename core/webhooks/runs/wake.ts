/** `POST <base>/wake`: a system event for the main session of the default agent. */
import type { Json, RawEvent } from "../../contract/index.ts";
import { type Fields, readChoice, readText } from "./fields.ts";

export type WakeMode = "now" | "next-heartbeat";

export const wakeModes: readonly WakeMode[] = ["now", "next-heartbeat"];

/** Wakes within this time are one heartbeat. */
const settleMs = 250;

export interface Wake {
  readonly text: string;
  readonly mode: WakeMode;
}

/** Throws `HttpProblem` 400 that names the field. */
export function parseWake(fields: Fields): Wake {
  const text = readText(fields, "text");
  return { text, mode: readChoice(fields, "mode", wakeModes) ?? "now" };
}

export function wakeEvent(
  wake: Wake,
  at: {
    readonly mainSession: string;
    readonly now: number;
    readonly dedupeKey?: string | undefined;
    /** False: the operator trusts this source as much as their own messages. */
    readonly wrapped?: boolean;
    /** Of the mapping. */
    readonly instructions?: string;
    /** What the gateway knows of the sender, said before the content and outside of its wrapper. */
    readonly origin?: string | undefined;
    /** What is kept beside the text, for the operator. */
    readonly kept?: { readonly [name: string]: Json };
  },
): RawEvent {
  const { mainSession, now, dedupeKey, wrapped = true, instructions, origin, kept } = at;
  const event: RawEvent = {
    source: "hooks",
    kind: "wake",
    lane: mainSession,
    authority: "hook",
    gather: { key: `heartbeat:${mainSession}`, due: wake.mode === "now" ? now + settleMs : null },
    body: {
      text: wake.text,
      mode: wake.mode,
      ...(wrapped ? {} : { unwrapped: true }),
      ...(instructions === undefined ? {} : { instructions }),
      ...(origin === undefined ? {} : { origin }),
      ...kept,
    },
  };
  return dedupeKey === undefined ? event : { ...event, dedupeKey };
}
