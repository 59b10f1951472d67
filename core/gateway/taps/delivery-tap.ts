/** Sends a part with the account of its address, and follows a chat that has moved. */
import type { Accounts, Migrations } from "../../channels/index.ts";
import { ChannelError, type Part } from "../../contract/index.ts";
import { pluginDeadlines } from "../../host/index.ts";
import type { Hooks } from "../../stations/index.ts";

/** Twice the channel's deadline, because a part for a moved chat is sent twice. */
const deliveryMs = 2 * pluginDeadlines.send + 10_000;

export function tapDelivery(
  hooks: Hooks,
  options: {
    readonly accounts: Pick<Accounts, "get" | "away">;
    readonly migrations: Pick<Migrations, "current" | "move">;
  },
): void {
  const { accounts, migrations } = options;
  hooks.tap(
    "core",
    "delivery",
    (part, written, signal) => {
      const address = migrations.current(written);
      const live = accounts.get(address.channel, address.account);
      if (live === undefined) {
        const { code = "account_not_open", detail = "the account has just been opened" } =
          accounts.away(address.channel, address.account) ?? {};
        throw new ChannelError(code, { retryable: true, detail });
      }
      const { connection } = live;
      const follow = async (error: unknown) => {
        const to = error instanceof ChannelError ? error.migratedTo : undefined;
        if (to === undefined || to === address.chat) throw error;
        await migrations.move({ channel: address.channel, account: address.account, from: address.chat, to });
        return await connection.send(unattached(part), { ...address, chat: to }, signal);
      };
      return connection.send(address === written ? part : unattached(part), address, signal).catch(follow);
    },
    { order: "late", deadlineMs: deliveryMs },
  );
}

/**
 * In a chat with a new id, messages get new numbers: the message to replace or to reply to would be a different one
 * there.
 */
function unattached({ replaces: _replaced, replyTo: _answered, onlyFor, ...part }: Part): Part {
  if (onlyFor === undefined) return part;
  const { messageId: _message, ...person } = onlyFor;
  return { ...part, onlyFor: person };
}
