/** Where this gateway reaches the owners of the bot. */
import {
  type Gate,
  knownChat,
  type OwnedAccount,
  type OwnerChat,
  type OwnersAsked,
  ownerChatKey,
  ownerChats,
  type Pairing,
  placeOwners,
} from "../../access/index.ts";
import type { OwnerAt, Router } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import { agentIds, type GatewayConfig } from "../../config/index.ts";
import { type Inbound, reasonOf } from "../../contract/index.ts";
import type { Log } from "../../log/index.ts";
import type { LastRecipient, Store } from "../../state/index.ts";

export interface OwnerReachOptions {
  readonly config: () => GatewayConfig;
  readonly store: Pick<Store, "get" | "set">;
  readonly pairing: Pick<Pairing, "isPaired">;
  readonly log: Pick<Log, "warn">;
  /** The parts below are created after those that reach owners. */
  readonly gate: () => Pick<Gate, "owners">;
  readonly accounts: () => Pick<Accounts, "all">;
  readonly router: () => Pick<Router, "lastRecipient">;
}

export interface OwnerReach {
  all(): ReturnType<typeof placeOwners>;
  /** The owners of an account: at this account, unless only another one of the channel is known to reach them. */
  of(at: Pick<Inbound, "channel" | "account">): Promise<readonly OwnerAt[]>;
  /** Someone else than before has written to an agent in a direct chat. */
  wrote(recipient: LastRecipient): void;
}

export function createOwnerReach(options: OwnerReachOptions): OwnerReach {
  const { config, store, pairing, log } = options;

  async function asked(): Promise<OwnersAsked> {
    const last = await Promise.all(agentIds(config()).map((agentId) => options.router().lastRecipient(agentId)));
    const chatWith = async ({ channel, id }: OwnedAccount, owner: string): Promise<string | undefined> => {
      const noted = (await store.get(ownerChats, ownerChatKey(channel, owner))) as OwnerChat | null;
      if (noted?.account === id) return noted.chat;
      const isLast = last.some((at) => at?.channel === channel && at.account === id && at.chat === owner);
      return isLast || (await pairing.isPaired(channel, id, owner)) ? owner : undefined;
    };
    return {
      listed: config().commands.ownerAllowFrom,
      accounts: options.accounts().all(),
      ownersOf: ({ channel, id }) => options.gate().owners({ channel, account: id }),
      chatWith,
    };
  }

  async function note({ channel, account, chat, senderId }: LastRecipient): Promise<void> {
    if (senderId === undefined || !(await options.gate().owners({ channel, account })).includes(senderId)) return;
    await store.set(ownerChats, ownerChatKey(channel, senderId), { account, chat });
  }

  return {
    all: async () => placeOwners(await asked()),
    async of(at) {
      const account = options
        .accounts()
        .all()
        .find(({ channel, id }) => channel === at.channel && id === at.account);
      const owners = await options.gate().owners(at);
      if (account === undefined || owners.length === 0) return [];
      const known = await asked();
      const { places } = await placeOwners(known);
      const reached = async (owner: string): Promise<OwnerAt> => {
        const here = await knownChat({ account, owner }, known);
        const place = places.find((one) => one.isKnown && one.channel === at.channel && one.owner === owner);
        if (here !== undefined || place === undefined) return { owner, address: { ...atOf(at), chat: here ?? owner } };
        return { owner, address: { ...atOf(place), chat: place.chat } };
      };
      return await Promise.all(owners.map(reached));
    },
    wrote(recipient) {
      // Elsewhere, owners are in a list of their account, or were approved at it.
      if (config().commands.ownerAllowFrom === undefined) return;
      note(recipient).catch((error: unknown) =>
        log.warn({ error: reasonOf(error) }, "the chat of an owner could not be stored"),
      );
    },
  };
}

const atOf = ({ channel, account }: { readonly channel: string; readonly account: string }) => ({ channel, account });
