/** What waits for a person's decision, or for what only a person can do. */
import { createPairing } from "../../../access/index.ts";
import type { OwnAnswer, OwnRequest } from "../../../http/index.ts";
import { readPanels } from "../../console/panels.ts";
import type { V1Deps } from "./deps.ts";
import { mayDecide } from "./hidden-codes.ts";

/** States of what plugins watch that end only when a person acts, such as an account whose password is refused. */
const needsPerson: readonly string[] = ["needs_login", "needs_setup"];

async function waitingNow({ store, config, approvals, now, watched, panels }: V1Deps) {
  const pairing = createPairing({ store, now });
  const senders = await Promise.all(
    Object.keys(config().channels).map(async (channel) =>
      (await pairing.pending(channel)).map(({ code, account, senderId, senderName, createdAt }) => ({
        ...{ channel, code, account, senderId, createdAt },
        ...(senderName !== undefined && { senderName }),
      })),
    ),
  );
  const tools = (await approvals.waiting()).map(({ code, call, event, sessionKey, until, written }) => {
    const { definition: _, ...shown } = call;
    return { code, ...shown, written, ...(event !== undefined && { event }), sessionKey, until };
  });
  const attention = Object.entries(watched()).flatMap(([plugin, all]) =>
    all.flatMap(({ source, account, state, reason, fix }) =>
      needsPerson.includes(state) ? [{ plugin, source, account, state, reason, fix }] : [],
    ),
  );
  const shown = (await readPanels(panels(), { onlyWaiting: true })).filter(({ entries }) => entries.length > 0);
  return { pairing: senders.flat(), approvals: tools, attention, panels: shown };
}

/** Codes are for sessions that may decide. Without one, what waits is the same, and nothing can be done about it. */
export async function readWaiting(deps: V1Deps, { caller }: Pick<OwnRequest, "caller">): Promise<OwnAnswer> {
  const { pairing, approvals, ...rest } = await waitingNow(deps);
  if (mayDecide(caller)) return { body: { pairing, approvals, ...rest } };
  const withoutCode = <T extends { readonly code: string }>({ code: _, ...shown }: T) => shown;
  return { body: { pairing: pairing.map(withoutCode), approvals: approvals.map(withoutCode), ...rest } };
}

/** Differs when something else waits. Contains nothing of it but the number. */
export async function waitingState(
  deps: V1Deps,
): Promise<{ readonly count: number; readonly names: readonly string[] }> {
  const { pairing, approvals, attention, panels } = await waitingNow(deps);
  const names = [
    ...[...pairing, ...approvals].map(({ code }) => code),
    ...attention.map(({ plugin, source, account, state }) => [plugin, source, account, state].join(" ")),
    ...panels.flatMap(({ plugin, id, entries }) =>
      entries.map((entry) => [plugin, id, entry.id, entry.version ?? ""].join(" ")),
    ),
  ];
  return { count: names.length, names };
}
