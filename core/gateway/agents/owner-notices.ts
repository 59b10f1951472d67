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
  readonly pairing: Pick<Pairing, "isPaired">;
  readonly receive: Path["receive"];
  /** The parts below are created after those that notify. */
  readonly gate: () => Pick<Gate, "isOwner" | "owners">;
  readonly accounts: () => Pick<Accounts, "all">;
  readonly router: () => Pick<Router, "lastRecipient">;
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

  /** The first owner whom an account knows: an id in `ownerAllowFrom` may be one of another channel. */
  async function knownOwner(): Promise<Address | undefined> {
    const all = options.accounts().all();
    for (const { channel, id: account, access } of all) {
      for (const chat of await options.gate().owners({ channel, account })) {
        const isKnown = all.length === 1 || access.allowFrom?.some((entry) => String(entry) === chat) === true;
        if (isKnown || (await pairing.isPaired(channel, account, chat))) return { channel, account, chat };
      }
    }
    return undefined;
  }

  async function ownerPlace(): Promise<Address | undefined> {
    const last = await options.router().lastRecipient(defaultAgentId(config()));
    return last !== undefined && (await options.gate().isOwner(directMessage(last))) ? last : await knownOwner();
  }

  return async (text, key) => {
    const address = await ownerPlace();
    if (address === undefined) return false;
    await options.receive(noticeEvent({ address, text, dedupeKey: `notice:owner:${key}` }));
    return true;
  };
}
