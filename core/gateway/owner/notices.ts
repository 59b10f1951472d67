/** Notifies an owner of the bot of what only owners may read, such as what the models cost. */
import type { Gate, Pairing } from "../../access/index.ts";
import type { Router } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import { defaultAgentId, type GatewayConfig } from "../../config/index.ts";
import type { Address, Inbound } from "../../contract/index.ts";
import { noticeEvent } from "../../host/index.ts";
import type { Path } from "../../path/index.ts";

export interface OwnerNoticesOptions {
  readonly config: () => GatewayConfig;
  readonly pairing: Pick<Pairing, "owners">;
  /** The parts below are created after those that notify. */
  readonly gate: () => Pick<Gate, "isOwner">;
  readonly accounts: () => Pick<Accounts, "all">;
  readonly router: () => Pick<Router, "lastRecipient">;
  readonly path: () => Pick<Path, "receive">;
}

/** On most platforms the direct chat with a person has the id of the person. */
function directMessage({ channel, account, chat }: Address): Inbound {
  const said = { kind: "message", text: "", media: [], mention: false, timestamp: 0, authority: "channel" } as const;
  return { id: "", channel, account, chat: { id: chat, kind: "direct" }, sender: { id: chat }, ...said };
}

/**
 * Sends to the place of the default agent's last conversation if that was with an owner, else to the direct chat of an owner whose id is
 * known. Resolves with false if there is none. Of two texts with the same key the second is not sent.
 */
export function createOwnerNotices(options: OwnerNoticesOptions): (text: string, key: string) => Promise<boolean> {
  const { config, pairing } = options;

  /** Ids of persons of each account. Those in `ownerAllowFrom` may belong to any account, so they are used only if there is one. */
  async function candidates(): Promise<readonly Address[]> {
    const all = options.accounts().all();
    const listed = all.length === 1 ? (config().commands.ownerAllowFrom ?? []) : [];
    const found = await Promise.all(
      all.map(async ({ channel, id, access }) => {
        const ids = [...(await pairing.owners(channel, id)), ...(access.allowFrom ?? []), ...listed].map(String);
        return ids.filter((chat) => chat !== "*").map((chat): Address => ({ channel, account: id, chat }));
      }),
    );
    return found.flat();
  }

  async function ownerPlace(): Promise<Address | undefined> {
    const isOwners = (place: Address) => options.gate().isOwner(directMessage(place));
    const last = await options.router().lastRecipient(defaultAgentId(config()));
    if (last !== undefined && (await isOwners(last))) return last;
    for (const place of await candidates()) if (await isOwners(place)) return place;
    return undefined;
  }

  return async (text, key) => {
    const address = await ownerPlace();
    if (address === undefined) return false;
    await options.path().receive(noticeEvent({ address, text, dedupeKey: `notice:owner:${key}` }));
    return true;
  };
}
