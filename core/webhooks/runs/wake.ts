/** `POST <base>/wake`: adds a system event to the main session of the default agent. */
import type { Json, RawEvent } from "../../contract/index.ts";
import { type Fields, readChoice, readText } from "./fields.ts";

export type WakeMode = "now" | "next-heartbeat";

export const wakeModes: readonly WakeMode[] = ["now", "next-heartbeat"];

/** Wakes within this time, in milliseconds, share one heartbeat. */
const settleMs = 250;

export interface Wake {
  readonly text: string;
  readonly mode: WakeMode;
}

/** Parses a wake. Throws `HttpProblem` 400, which names the field. */
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
    /** False if the operator trusts this source like their own messages. */
    readonly wrapped?: boolean;
    /** The mapping's instructions for the agent. */
    readonly instructions?: string;
    /** Verified facts about the sender, placed before the content and outside its wrapper. */
    readonly origin?: string | undefined;
    /** Further data to store with the text, for the operator. */
    readonly stored?: { readonly [name: string]: Json };
  },
): RawEvent {
  const { mainSession, now, dedupeKey, wrapped = true, instructions, origin, stored } = at;
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
      ...stored,
    },
  };
  return dedupeKey === undefined ? event : { ...event, dedupeKey };
}
