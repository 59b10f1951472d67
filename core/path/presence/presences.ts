/**
 * What people see while a unit's turn runs, together with the unit's own leftovers: an earlier attempt's preview, the
 * reaction.
 */
import { ChannelError, type Inbound, type Route, reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { Store, Unit } from "../../state/index.ts";
import { isAt, triggerOf } from "../answer-place.ts";
import type { Trace } from "../endings/ending.ts";
import type { PathOptions } from "../options.ts";
import { previewKey } from "../sending/send-key.ts";
import type { Acknowledgements } from "./acknowledging.ts";
import { LivePresence, noPresence, type Presence } from "./presence.ts";

export function createPresences(options: {
  readonly store: Pick<Store, "setPreview">;
  readonly acknowledgements: Pick<Acknowledgements, "set">;
  readonly accounts: Pick<PathOptions["accounts"], "get">;
  readonly agents: Pick<PathOptions["agents"], "ackReaction" | "onAckRefused">;
  readonly log: Log;
  readonly now: () => number;
}): (walk: { readonly unit: Unit; readonly trace: Trace }, inbound: Inbound, route: Route) => Presence {
  const { store, acknowledgements, accounts, agents, log, now } = options;
  return ({ unit, trace }, inbound, route) => {
    const address = route.to;
    const live = address === null ? undefined : accounts.get(address.channel, address.account);
    if (address === null || live === undefined) return noPresence;
    const ack = agents.ackReaction(inbound, route);
    const onError = (error: unknown, what: string) => {
      log.debug({ event: unit.id, what, error: reasonOf(error) }, "not shown");
      if (error instanceof ChannelError && error.reason === "reaction_invalid") agents.onAckRefused(inbound, route);
    };
    return new LivePresence(live, address, {
      now,
      inbound,
      acknowledge:
        ack === null
          ? undefined
          : (messageId) =>
              acknowledgements.set(
                unit.id,
                { address, messageId },
                { ...ack, onError: (error) => onError(error, "reaction") },
              ),
      resume: unit.preview !== undefined && isAt(unit.preview, address) ? unit.preview.messageIds : [],
      trigger: triggerOf(inbound, address),
      key: previewKey(unit.id),
      onPreviewMessage: (messageIds) => void store.setPreview(unit.id, { address, messageIds }).catch(() => {}),
      onUncertain: () => trace.add("delivery", { plugin: address.channel, verdict: "pass", code: "preview_uncertain" }),
      onError,
    });
  };
}
