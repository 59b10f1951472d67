/** The approvals of one gateway: how owners are found, and how they are asked. */
import type { Gate } from "../../access/index.ts";
import { sayingEvent } from "../../actions/index.ts";
import { createApprovals, parseTarget } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import type { Log } from "../../log/index.ts";
import type { Path } from "../../path/index.ts";
import type { Store } from "../../state/index.ts";
import type { OwnerReach } from "./owner-reach.ts";

export function createGatewayApprovals({
  store,
  accounts,
  gate,
  reach,
  receive,
  capabilities,
  log,
  now,
}: {
  readonly store: Store;
  /** Created after the approvals, because the tools of a turn need these. */
  readonly accounts: () => Accounts;
  readonly gate: () => Pick<Gate, "hasWeakId" | "isOwner" | "owners">;
  readonly reach: Pick<OwnerReach, "of">;
  readonly receive: Path["receive"];
  readonly capabilities: Accounts["capabilities"];
  readonly log: Log;
  readonly now: () => number;
}): ReturnType<typeof createApprovals> {
  return createApprovals({
    ...{ store, log, now },
    async say(saying, key) {
      const { channel, account } = saying.address;
      const text = accounts().get(channel, account)?.writeCommands?.(saying.text) ?? saying.text;
      return (await receive(sayingEvent({ ...saying, text }, key))).eventId;
    },
    isOwner: (inbound) => gate().isOwner(inbound),
    hasWeakId: (inbound) => gate().hasWeakId(inbound),
    owners: (at) => gate().owners(at),
    ownersAt: (at) => reach.of(at),
    async placeAt(place) {
      const [, channel = "", target = ""] = /^([^:]+):(.+)$/.exec(place) ?? [];
      const account = accounts().of(channel)[0];
      if (account === undefined) return undefined;
      const { chat, ...topic } = parseTarget(target, account.capabilities);
      return { channel, account: account.id, chat: (await account.connection.resolve?.(chat)) ?? chat, ...topic };
    },
    // Perhaps of the channel: a turn may end before its account is open.
    edits: (at) => capabilities(at)?.edits === true,
  });
}
