/**
 * The apology for a reply that could not be delivered. The sender gets at most one, even if the process dies while
 * sending it.
 */

import type { Address, Inbound, Receipt, Route } from "../../contract/index.ts";
import type { Ending, OutboxRow, Settlement, Store, Unit } from "../../state/index.ts";
import { persist } from "../patience.ts";
import { apologyTo } from "./apology.ts";
import type { Stop, Trace } from "./ending.ts";
import { unreachable } from "./unreachable.ts";

/**
 * Reading the event again may be what kills the process; after this many attempts the event ends without an apology.
 */
const mostAttempts = 4;

type Once = "now" | "when-answered";

/**
 * An apology with an unknown outcome is not repeated. If the reply's outcome is unknown, the apology waits until the
 * platform answers again.
 */
const onceAfter = ({ reason }: Ending): Once => (reason === "send_fate_unknown" ? "when-answered" : "now");

/**
 * How rows from an earlier process are sent: as such an apology, if the event failed in delivery and not in its turn.
 */
export function onceOf(ending: Ending, failedPart: string | undefined): Once | undefined {
  return ending.outcome === "failed" && ending.reason === failedPart ? onceAfter(ending) : undefined;
}

const isSend = ({ operation }: OutboxRow) => operation === "send";

/** The result of the delivery station. */
interface Delivered {
  readonly receipts: readonly Receipt[];
  readonly platformSilent?: true;
  readonly interrupted?: true;
  readonly last?: NonNullable<Settlement["sent"]>;
}

type Saying = Pick<OutboxRow, "address" | "operation" | "part">;

export interface Undelivered {
  readonly unit: Unit;
  /** How the event ends now: failed, with the reason of the part that was not delivered. */
  readonly end: Ending;
  readonly rows: readonly OutboxRow[];
  readonly sent: Delivered;
  /** Absent if an earlier process read it. */
  readonly inbound: Inbound | undefined;
  readonly trace: Trace;
  /** That of the walk. */
  readonly signal: AbortSignal;
}

export function createUndelivered(options: {
  readonly store: Store;
  readonly now: () => number;
  readonly render: (apology: Stop["say"], trace: Trace) => Promise<readonly Saying[]>;
  readonly deliver: (
    rows: readonly OutboxRow[],
    how: { readonly unit: Unit; readonly trace: Trace; readonly once: Once; readonly signal: AbortSignal },
  ) => Promise<Delivered>;
  /** Reads an event again, to find the sender and where the reply goes. */
  readonly find: (unit: Unit) => Promise<{ readonly inbound: Inbound; readonly route: Route } | undefined>;
}): (undelivered: Undelivered) => Promise<Delivered> {
  const { store, now } = options;

  async function findAgain(unit: Unit) {
    const found = unit.attempts > mostAttempts ? undefined : await options.find(unit);
    return found && { inbound: found.inbound, to: found.route.to };
  }

  return async ({ unit, end, rows, sent, inbound, trace, signal }) => {
    if (sent.platformSilent === true || unreachable.has(end.reason)) return sent;
    const asked = inbound === undefined ? await findAgain(unit) : { inbound, to: rows.find(isSend)?.address ?? null };
    const forSender = rows.some(({ part }) => part.onlyFor !== undefined) ? asked?.inbound : undefined;
    const apology = asked && apologyTo(end.reason, { ...asked, answered: true, forSender });
    const sayings = await options.render(apology, trace);
    if (sayings.length === 0) return sent;
    const { last, ...before } = sent;
    if (last !== undefined) await persist(() => store.sent(last.rowId, last.receipt, { at: last.at }), signal);
    trace.add("delivery", { plugin: "core", verdict: "pass", code: "apology", detail: "the sender gets one apology" });
    // Written in one commit with the failure as the event's end, so that a process that finds this row writes no second
    // one.
    const saying = {
      unitId: unit.id,
      at: now(),
      rows: sayings,
      first: "waiting" as const,
      ending: end,
      decisions: trace.take(),
    };
    const notices = await persist(() => store.say(saying), signal);
    const apologized = await options.deliver(notices, { unit, trace, once: onceAfter(end), signal });
    return { ...before, ...apologized, receipts: [...before.receipts, ...apologized.receipts] };
  };
}

/** The same for an answer that did not arrive, as its platform reports later; `undefined`: none would arrive. */
export function lateApology(code: string, address: Address): string | undefined {
  if (unreachable.has(code)) return undefined;
  return apologyTo(code, { inbound: { kind: "message" }, to: address, answered: true })?.reply.text;
}
