/** Who owns the bot: the people who may use every command, and who are asked. */
import type { GatewayConfig } from "../config/index.ts";
import type { Inbound } from "../contract/index.ts";
import { parseAllowlistEntry } from "./allowlist.ts";
import type { IdentityRule } from "./identity.ts";
import type { Pairing } from "./pairing.ts";
import type { AccountAccess } from "./place.ts";

export interface Owners {
  /**
   * Whether the sender is an owner: named in `commands.ownerAllowFrom` if that is set, else by an explicit id in the
   * account's `allowFrom`, or made an owner of the account by pairing. Never a bot, and never a sender whose id another
   * person can take over.
   */
  isOwner(inbound: Inbound): Promise<boolean>;
  /** Ids of the owners of an account, by the same rules. */
  owners(at: Pick<Inbound, "channel" | "account">): Promise<readonly string[]>;
}

export function createOwners({
  config,
  account,
  pairing,
}: {
  readonly config: () => Pick<GatewayConfig, "commands">;
  readonly account: (
    channel: string,
    account: string,
  ) => { readonly access: Pick<AccountAccess, "allowFrom">; readonly identity: IdentityRule } | undefined;
  readonly pairing: Pick<Pairing, "owners">;
}): Owners {
  async function isOwner(inbound: Inbound): Promise<boolean> {
    const { authority, channel, sender } = inbound;
    if (authority === "operator") return true;
    const live = account(channel, inbound.account);
    if (authority !== "channel" || live === undefined || sender.id === "" || sender.anonymous === true) return false;
    // A list that lets a bot in does not let it command.
    if (sender.isBot === true) return false;
    return (await owners(inbound)).includes(sender.id);
  }

  async function owners({ channel, account: id }: Pick<Inbound, "channel" | "account">): Promise<readonly string[]> {
    const live = account(channel, id);
    if (live === undefined) return [];
    const listed = config().commands.ownerAllowFrom;
    // `*` may admit every sender, but it makes none of them an owner.
    const ids = (listed ?? live.access.allowFrom ?? []).map((entry) => parseAllowlistEntry(entry, live.identity));
    const all = [...ids, ...(listed === undefined ? await pairing.owners(channel, id) : [])].filter(
      (one): one is string => one !== null && one !== "*",
    );
    // The next holder of a weak id would own the bot.
    const weak = await Promise.all(all.map((one) => live.identity.isWeak(one)));
    return all.filter((_, index) => weak[index] !== true);
  }

  return { isOwner, owners };
}
