/** Finds an owner of the bot, for what only owners may read: what the models cost, and what a plugin has to say. */
import { type Gate, unplacedHint } from "../../access/index.ts";
import type { Router } from "../../agents/index.ts";
import type { Accounts } from "../../channels/index.ts";
import { defaultAgentId, type GatewayConfig } from "../../config/index.ts";
import type { Address, Inbound } from "../../contract/index.ts";
import { noticeEvent } from "../../host/index.ts";
import type { Log } from "../../log/index.ts";
import type { Path } from "../../path/index.ts";
import type { OwnerReach } from "./owner-reach.ts";

export interface OwnerNoticesOptions {
  readonly config: () => GatewayConfig;
  readonly reach: OwnerReach;
  readonly log: Pick<Log, "info" | "warn">;
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
  const { config, reach, log } = options;

  const lastPlace = () => options.router().lastRecipient(defaultAgentId(config()));

  async function ownerPlace(): Promise<Address | undefined> {
    const last = await lastPlace();
    if (last !== undefined && (await options.gate().isOwner(directMessage(last)))) return last;
    const [first] = (await reach.all()).places;
    return first && { channel: first.channel, account: first.account, chat: first.chat };
  }

  /** The text itself is not logged: it may name people. */
  async function reportUnread(): Promise<void> {
    const { unplaced } = await reach.all();
    if (unplaced.length === 0) {
      log.info({}, "a notice for the owner was not sent: the bot has no owner");
      return;
    }
    log.warn(
      { path: "commands.ownerAllowFrom", entries: unplaced.map(({ entry }) => String(entry)), hint: unplacedHint },
      "a notice for the owner was not sent: no open account is known to reach an owner",
    );
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
    async place() {
      const place = (await ownerPlace()) ?? ((await hasOwners()) ? undefined : await lastPlace());
      if (place === undefined) await reportUnread();
      return place;
    },
    async notify(text, key) {
      const address = await ownerPlace();
      if (address === undefined) {
        await reportUnread();
        return false;
      }
      await options.receive(noticeEvent({ address, text, dedupeKey: `notice:owner:${key}` }));
      return true;
    },
  };
}
