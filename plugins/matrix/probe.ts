/** Asks the homeserver about the bot, and what keeps people from being answered. Read-only. */
import {
  type ChannelAccount,
  ChannelError,
  type ChannelMembership,
  type ChannelProbe,
} from "service-gateway/sdk/channel";
import { codes } from "./codes.ts";
import { type Homeserver, path, record, string } from "./homeserver.ts";
import type { Invitations } from "./invitations.ts";
import type { Options } from "./options.ts";

export interface Probe {
  probe(): Promise<ChannelProbe>;
  members(room: string): Promise<ChannelMembership>;
}

type Finding = NonNullable<ChannelProbe["findings"]>[number];

export interface Bot {
  readonly id: string;
  readonly name?: string;
}

function failure(error: unknown): string {
  const { reason, message, hint = codes[reason as keyof typeof codes]?.hint } = error as ChannelError;
  return hint === undefined ? message : `${message}: ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
}

export function createProbe(
  { signal, store }: ChannelAccount<Options>,
  server: Homeserver,
  { invitations, me }: { readonly invitations: Invitations; readonly me: (signal?: AbortSignal) => Promise<Bot> },
): Probe {
  /** Clients encrypt a new direct chat if another session of the account has keys. */
  async function sessionsWithKeys(id: string): Promise<readonly string[]> {
    const body = { device_keys: { [id]: [] } };
    const answer = await server.call({
      name: "keys/query",
      method: "POST",
      path: "client/v3/keys/query",
      body,
      signal,
    });
    return Object.keys(record(record(answer.device_keys)[id]));
  }

  async function findings(id: string): Promise<readonly Finding[]> {
    const found: Finding[] = [];
    // Some servers for bots know nothing about encryption.
    const sessions = await sessionsWithKeys(id).catch(() => []);
    if (sessions.length > 0)
      found.push({
        name: "encryption",
        reason: `clients encrypt new chats with the bot, because its sessions ${sessions.slice(0, 5).join()} have keys`,
        fix: "Sign in to a client as the bot, open Settings > Sessions, and sign out all but the gateway's.",
      });
    for (const { room, by, direct, title } of (await invitations.waiting()).slice(0, 20))
      found.push({
        name: "invitation",
        reason: `${by} invited the bot to ${title ?? "a room"}, ${room}, which the access rules do not admit`,
        fix: direct ? "Add the id of the person to allowFrom." : "Add the id of the room to groups.",
      });
    for (const { key, value } of await store.list({ prefix: "room:" }))
      if (record(value).encrypted === true && record(value).answered === true)
        found.push({
          name: "encrypted room",
          reason: `people write to the bot in ${string(record(value).name) ?? key.slice(5)}, which is encrypted`,
          fix: "Create a room without encryption, and invite the bot to it. Encryption cannot be turned off in a room.",
        });
    return found;
  }

  return {
    async probe() {
      try {
        const { id, name } = await me(signal);
        const root = await server.root();
        const detail = `${name === undefined ? id : `${name} (${id})`} at ${root}, reads rooms without encryption`;
        const identity = { id, ...(name !== undefined && { name }) };
        return { ok: true, detail, identity, seesAllGroupMessages: true, findings: await findings(id) };
      } catch (error) {
        return { ok: false, detail: failure(error) };
      }
    },
    async members(room) {
      try {
        const { id } = await me(signal);
        const state = await server.call({
          ...{ name: "member", signal },
          path: path`client/v3/rooms/${room}/state/m.room.member/${id}`,
        });
        const ok = state.membership === "join";
        return { ok, detail: ok ? "member" : `the bot is not in it (${state.membership}): invite it`, seesAll: ok };
      } catch (error) {
        const isAbsent = error instanceof ChannelError && ["no_rights", "chat_not_found"].includes(error.reason);
        return { ok: false, detail: isAbsent ? "the bot is not in it: invite it" : failure(error) };
      }
    },
  };
}
