/** In which channel of the server a chat takes place: for a person, the direct channel with them. */
import { ChannelError } from "service-gateway/sdk/channel";
import type { Api } from "../api.ts";
import type { Channel, Directory } from "../directory.ts";
import { isId, record } from "../fields.ts";

export type PlaceOf = (chat: string, signal?: AbortSignal) => Promise<string>;

export function createPlaces({ api, directory }: { readonly api: Api; readonly directory: Directory }): PlaceOf {
  /** Ids of people and of channels look alike, so the server is asked what an id is. */
  async function channelFor(chat: string, signal?: AbortSignal): Promise<Channel | undefined> {
    try {
      const fields = record(await api.call("GET", `channels/${chat}`, { signal }));
      return directory.learnChannel(fields, await directory.me(signal));
    } catch (error) {
      if (error instanceof ChannelError && error.reason === "chat_not_found") return undefined;
      throw error;
    }
  }

  return async (chat, signal) => {
    if (!isId(chat))
      throw new ChannelError("chat_not_found", { detail: "The id of a chat has 26 small letters and digits" });
    const direct = directory.directWith(chat);
    if (direct !== undefined) return direct;
    const channel = directory.known(chat) ?? (await channelFor(chat, signal));
    if (channel?.person !== undefined)
      throw new ChannelError("chat_not_found", {
        detail: "This is the id of a direct channel",
        hint: `Use the id of the person, ${channel.person}.`,
      });
    if (channel !== undefined) return channel.id;
    const me = await directory.me(signal);
    const created = record(await api.call("POST", "channels/direct", { body: [me.id, chat], signal }));
    return directory.learnChannel(created, me).id;
  };
}
