/** The approvals of one gateway: how owners are found, and how they are asked. */
import type { Gate } from "../../access/index.ts";
import { sayingEvent } from "../../actions/index.ts";
import { createApprovals, parseTarget } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import type { Log } from "../../log/index.ts";
import type { Path } from "../../path/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import type { Store } from "../../state/index.ts";

export function createGatewayApprovals({
  store,
  accounts,
  gate,
  receive,
  capabilities,
  log,
  now,
}: {
  readonly store: Store;
  /** Created after the approvals, because the tools of a turn need these. */
  readonly accounts: () => Accounts;
  readonly gate: () => Pick<Gate, "hasWeakId" | "isOwner" | "owners">;
  readonly receive: Path["receive"];
  readonly capabilities: (channel: string) => ChannelCapabilities | undefined;
  readonly log: Log;
  readonly now: () => number;
}): ReturnType<typeof createApprovals> {
  return createApprovals({
    ...{ store, log, now },
    say: async (saying, key) => (await receive(sayingEvent(saying, key))).eventId,
    isOwner: (inbound) => gate().isOwner(inbound),
    hasWeakId: (inbound) => gate().hasWeakId(inbound),
    owners: (at) => gate().owners(at),
    async placeAt(place) {
      const [, channel = "", target = ""] = /^([^:]+):(.+)$/.exec(place) ?? [];
      const account = accounts().of(channel)[0];
      if (account === undefined) return undefined;
      const { chat, ...topic } = parseTarget(target, { threads: account.capabilities.threads === true });
      return { channel, account: account.id, chat: (await account.connection.resolve?.(chat)) ?? chat, ...topic };
    },
    // Of the channel: a turn may end before its account is open.
    edits: ({ channel }) => capabilities(channel)?.edits === true,
  });
}
