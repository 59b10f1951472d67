/**
 * Recognises messages that another account of this gateway sent: two of its accounts in one chat must not answer each
 * other.
 */
import type { Inbound, Json } from "../contract/index.ts";
import type { ChannelStatus } from "../sdk/contract.ts";
import type { Store } from "../state/index.ts";
import { accountKey, accountsNamespace } from "./account-states.ts";
import type { Accounts } from "./accounts.ts";
import type { LiveAccount } from "./live-account.ts";

/**
 * Names that cannot be taken twice are enough: on IRC, the id depends on whether the bot is signed in to an account.
 */
function isSame({ id, username }: Inbound["sender"], bot: ChannelStatus["identity"]): boolean {
  if (bot === undefined) return false;
  const name = bot.username?.toLowerCase();
  return bot.id === id || (name !== undefined && name === username?.toLowerCase());
}

/** The account that sent a message, or `undefined`. */
export function createOwnMessages({
  store,
  accounts,
}: {
  readonly store: Pick<Store, "get" | "findSent">;
  readonly accounts: () => Pick<Accounts, "of">;
}): (inbound: Inbound) => string | undefined | Promise<string | undefined> {
  /** On a node that does not receive for the account, the platform has not said who its bot is. */
  async function storedIdentity({ channel, id }: LiveAccount): Promise<string | undefined> {
    const state = (await store.get(accountsNamespace, accountKey(channel, id))) as { readonly identity?: Json } | null;
    return typeof state?.identity === "string" ? state.identity : undefined;
  }

  async function look(inbound: Inbound, others: readonly LiveAccount[]): Promise<string | undefined> {
    const { channel, chat, sender, messageId } = inbound;
    for (const other of others) {
      if (sender.isBot === true && (await storedIdentity(other)) === sender.id) return other.id;
      // A message that was sent as the chat itself, such as a post of a channel, does not say which bot sent it.
      if (sender.anonymous !== true || messageId === undefined) continue;
      if ((await store.findSent({ channel, account: other.id, chat: chat.id, messageId })) !== null) return other.id;
    }
    return undefined;
  }

  return (inbound) => {
    const { authority, channel, account, chat, sender } = inbound;
    if (authority !== "channel") return undefined;
    const others = accounts()
      .of(channel)
      .filter(({ id }) => id !== account);
    const known = others.find((other) => isSame(sender, other.status().identity));
    if (known !== undefined) return known.id;
    const isDoubtful = sender.isBot === true || (sender.anonymous === true && chat.kind !== "direct");
    return isDoubtful && others.length > 0 ? look(inbound, others) : undefined;
  };
}
