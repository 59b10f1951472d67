/** The result of a delivery or of an event of its own that a plugin submitted, for that plugin only. */
import type { Outcome } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { Handed } from "../mapping/run-events.ts";

export interface HandedResult {
  readonly ended: boolean;
  readonly outcome?: Outcome;
  readonly reason?: string;
  /** Only if the delivery was submitted with `keepReply` and the agent replied. */
  readonly reply?: string;
}

/** Reasons of runs whose text is not a reply: the agent chose not to reply, or was stopped. */
const withoutReply: ReadonlySet<string> = new Set(["no_reply", "heartbeat_ok", "empty_reply", "stopped"]);

/** `undefined` if the event is no longer stored, or another plugin or a client sent it. */
export async function handedResult(
  eventId: string,
  { plugin, store }: { readonly plugin: string; readonly store: Pick<Store, "body" | "event"> },
): Promise<HandedResult | undefined> {
  const body = (await store.body(eventId)) as { readonly delivery?: { readonly handed?: Handed } } | null;
  const handed = body?.delivery?.handed;
  const report = body === null ? null : await store.event(eventId);
  if (report === null || (handed?.by !== plugin && report.source !== plugin)) return undefined;
  const { state, outcome, reason, reply } = report;
  return {
    ended: state === "settled",
    outcome,
    reason,
    ...(handed?.keepReply !== true || reply === undefined || reply.trim() === "" || withoutReply.has(reason ?? "")
      ? {}
      : { reply }),
  };
}
