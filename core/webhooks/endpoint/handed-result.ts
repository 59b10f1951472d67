/** How a delivery ended that a plugin handed in, for that plugin alone. */
import type { Outcome } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { Handed } from "../mapping/mapped-events.ts";

export interface HandedResult {
  readonly ended: boolean;
  readonly outcome?: Outcome;
  readonly reason?: string;
  /** Only where the delivery was handed in with `keepReply`, and the agent had something to say. */
  readonly reply?: string;
}

/** Reasons of runs whose text is not a reply: the agent wanted to say nothing, or was stopped. */
const unsaid: ReadonlySet<string> = new Set(["no_reply", "heartbeat_ok", "empty_reply", "stopped"]);

/** `undefined`: the event is not kept any more, or the plugin did not hand it in. */
export async function handedResult(
  eventId: string,
  { plugin, store }: { readonly plugin: string; readonly store: Pick<Store, "body" | "event"> },
): Promise<HandedResult | undefined> {
  const body = (await store.body(eventId)) as { readonly delivery?: { readonly handed?: Handed } } | null;
  const handed = body?.delivery?.handed;
  const report = handed?.by === plugin ? await store.event(eventId) : null;
  if (report === null) return undefined;
  const { state, outcome, reason, reply } = report;
  return {
    ended: state === "settled",
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason }),
    ...(handed?.keepReply !== true || reply === undefined || reply.trim() === "" || unsaid.has(reason ?? "") ? {} : { reply }),
  };
}
