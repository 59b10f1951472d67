/**
 * Counts the turns that bots cause in a chat, so that bots which talk to each other stop, and remembers the bots of
 * open groups.
 */
import type { Inbound, Json, Refusal } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import { type AccountAccess, type PathOf, placeSettings } from "./place.ts";
import { botTurnsUsed } from "./refusals.ts";

const turnsNamespace = "bot-turns";
export const botsSeenNamespace = "bots-seen";
const keepMs = 30 * 24 * 60 * 60_000;
const mostBots = 20;
const mostRemembered = 1_000;
/** For channels whose options lack `bots`. */
const defaultLimit = 3;

/** The bots that wrote in a group where everyone may write. */
export interface SeenBots {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly title?: string;
  /** Ids of the bots. */
  readonly bots: readonly string[];
}

export interface BotTurns {
  /**
   * Counts the turn that a bot causes, each event once, and resolves with the refusal if its chat has had all of them.
   * A message of a person lets bots cause turns there again, whether or not it is for this bot. `refused`: the access
   * rules do not admit the message.
   */
  count(inbound: Inbound, refused: boolean): Promise<Refusal | undefined> | undefined;
}

const chatKey = ({ channel, account, chat }: Inbound): string => JSON.stringify([channel, account, chat.id]);

export function createBotTurns({
  store,
  now,
  access,
  pathsOf,
}: {
  readonly store: Pick<Store, "get" | "update" | "delete">;
  readonly now: () => number;
  readonly access: (at: Pick<Inbound, "channel" | "account">) => AccountAccess | undefined;
  readonly pathsOf: (at: Pick<Inbound, "channel" | "account">) => PathOf;
}): BotTurns {
  const remembered = new Set<string>();
  const expiry = () => ({ expiresAt: now() + keepMs });

  async function countTurn(inbound: Inbound, limit: number): Promise<Refusal | undefined> {
    const { id } = inbound;
    // An event that runs again after a crash is already counted.
    const add = (value: Json | null) => {
      const counted = (value ?? []) as readonly string[];
      return counted.includes(id) || counted.length >= limit ? undefined : [...counted, id];
    };
    const counted = (await store.update(turnsNamespace, chatKey(inbound), add, expiry())) as readonly string[] | null;
    return counted?.includes(id) === true ? undefined : botTurnsUsed(limit, pathsOf(inbound)(["bots", "limit"]));
  }

  async function personWrote(inbound: Inbound): Promise<undefined> {
    const key = chatKey(inbound);
    if ((await store.get(turnsNamespace, key)) !== null) await store.delete(turnsNamespace, key);
  }

  /** Remembers a bot of an open group, for the doctor. */
  async function noteSeen(inbound: Inbound): Promise<undefined> {
    const { channel, account, chat, sender } = inbound;
    const key = chatKey(inbound);
    const known = JSON.stringify([key, sender.id]);
    if (remembered.has(known)) return;
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.add(known);
    const title: { readonly [key: string]: Json } = chat.title === undefined ? {} : { title: chat.title };
    const add = (value: Json | null): Json => {
      const before = (value as unknown as SeenBots | null)?.bots ?? [];
      const bots = [...new Set([sender.id, ...before])].slice(0, mostBots);
      return { channel, account, chat: chat.id, ...title, bots };
    };
    await store.update(botsSeenNamespace, key, add, expiry());
  }

  return {
    count(inbound, refused) {
      const { authority, chat, sender } = inbound;
      if (authority !== "channel") return undefined;
      const isDirect = chat.kind === "direct";
      // Of a message that was sent as the chat it is unknown whether a person wrote it.
      if (sender.isBot !== true) return isDirect || sender.anonymous === true ? undefined : personWrote(inbound);
      const settings = access(inbound) ?? {};
      if (!refused) return countTurn(inbound, settings.bots?.limit ?? defaultLimit);
      return !isDirect && placeSettings(settings, "", chat).groupPolicy === "open" ? noteSeen(inbound) : undefined;
    },
  };
}
