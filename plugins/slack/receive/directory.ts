/** Names of people and channels, which events have by their ids alone. */
import { type ChannelAccount, createLookup } from "service-gateway/sdk/channel";
import type { SlackApi } from "../api.ts";
import { record, text } from "../fields.ts";
import type { People } from "./text.ts";

/** Names of more people in one message are not worth the calls. */
const mostNames = 10;

export interface Directory {
  people(ids: readonly (string | undefined)[]): Promise<People>;
  title(channel: string): Promise<string | undefined>;
}

export function createDirectory(api: SlackApi, account: Pick<ChannelAccount, "now" | "log" | "signal">): Directory {
  const people = createLookup(account, { ask: (id, signal) => personOf(api, id, { signal }) });
  const titles = createLookup(account, {
    ask: async (channel, signal) =>
      text(record((await api.call("conversations.info", { channel }, { signal })).channel)?.name),
  });
  return {
    async people(ids) {
      const wanted = [...new Set(ids.flatMap((id) => id ?? []))].slice(0, mostNames);
      const found = await Promise.all(wanted.map(async (id) => [id, await people.find(id)] as const));
      return Object.fromEntries(found.flatMap(([id, person]) => (person === undefined ? [] : [[id, person]])));
    },
    // A direct chat has no name.
    title: async (channel) => (channel.startsWith("D") ? undefined : await titles.find(channel)),
  };
}

async function personOf(api: SlackApi, id: string, how: { readonly signal: AbortSignal }): Promise<People[string]> {
  if (id.startsWith("B")) {
    const name = text(record((await api.call("bots.info", { bot: id }, how)).bot)?.name);
    return { isBot: true, ...(name !== undefined && { name }) };
  }
  const user = record((await api.call("users.info", { user: id }, how)).user) ?? {};
  const profile = record(user.profile);
  const name = text(profile?.display_name) ?? text(profile?.real_name) ?? text(user.real_name);
  const username = text(user.name);
  return {
    ...(name !== undefined && { name }),
    ...(username !== undefined && { username }),
    ...(user.is_bot === true && { isBot: true }),
  };
}
