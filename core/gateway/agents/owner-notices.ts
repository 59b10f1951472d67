/** Finds an owner of the bot, for what only owners may read: what the models cost, and what a plugin has to say. */
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
  const content = { kind: "message", text: "", media: [], mention: false, timestamp: 0, authority: "channel" } as const;
  return { id: "", channel, account, chat: { id: chat, kind: "direct" }, sender: { id: chat }, ...content };
}

export interface OwnerNotices {
  /**
   * The place of the default agent's last conversation if that was with an owner, else the direct chat of an owner
   * whose id is known. Where the configuration names no owners and pairing made none, the last conversation is taken: a
   * bot of one person often knows only them.
   */
  place(): Promise<Address | undefined>;
  /** Only to owners. Resolves with false if none is known. Of two texts with the same key the second is not sent. */
  notify(text: string, key: string): Promise<boolean>;
}

export function createOwnerNotices(options: OwnerNoticesOptions): OwnerNotices {
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

  const lastPlace = () => options.router().lastRecipient(defaultAgentId(config()));

  async function ownerPlace(): Promise<Address | undefined> {
    const last = await lastPlace();
    return last !== undefined && (await options.gate().isOwner(directMessage(last))) ? last : await knownOwner();
  }

  async function hasOwners(): Promise<boolean> {
    if (config().commands.ownerAllowFrom !== undefined) return true;
    const all = await Promise.all(
      options
        .accounts()
        .all()
        .map(({ channel, id }) => options.gate().owners({ channel, account: id })),
    );
    return all.some((owners) => owners.length > 0);
  }

  return {
    place: async () => (await ownerPlace()) ?? ((await hasOwners()) ? undefined : await lastPlace()),
    async notify(text, key) {
      const address = await ownerPlace();
      if (address === undefined) return false;
      await options.receive(noticeEvent({ address, text, dedupeKey: `notice:owner:${key}` }));
      return true;
    },
  };
}
