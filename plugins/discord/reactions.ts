/** The bot's own reactions: at most one on each message. */
import type { Address } from "service-gateway/sdk";
import { ChannelError } from "service-gateway/sdk/channel";
import type { Api } from "./api.ts";
import { record, records, text } from "./fields.ts";
import type { Places } from "./places.ts";

const mostRemembered = 2_000;

/** An emoji as the platform wants it in a path. Its own pictures are written as `name:id`. */
const inPath = (emoji: string) => encodeURIComponent(emoji.replace(/^<a?:(\w+:\d+)>$/, "$1"));

export function createReactions({ api, places }: { readonly api: Api; readonly places: Places }) {
  /** The reaction of this process on each message; `null`: none. */
  const own = new Map<string, string | null>();

  function remember(messageId: string, emoji: string | null): void {
    own.delete(messageId);
    own.set(messageId, emoji);
    for (const oldest of own.keys()) {
      if (own.size <= mostRemembered) break;
      own.delete(oldest);
    }
  }

  /** Reactions of an earlier process are asked for. */
  async function there(path: string): Promise<readonly string[]> {
    const message = record(await api.call("GET", path));
    return records(message?.reactions).flatMap(({ me, emoji }) => {
      const { name, id } = record(emoji) ?? {};
      const known = typeof id === "string" ? `${text(name)}:${id}` : text(name);
      return me === true && known !== undefined ? [known] : [];
    });
  }

  return {
    async react(messageId: string, emoji: string | null, address: Address, patience?: AbortSignal): Promise<void> {
      if (!/^\d+$/.test(messageId)) throw new ChannelError("message_gone");
      const path = `/channels/${await places.channelOf(address)}/messages/${messageId}`;
      const known = own.get(messageId);
      const before = known !== undefined ? [known ?? []].flat() : emoji === null ? await there(path) : [];
      if (patience?.aborted === true) throw new ChannelError("aborted");
      const call = patience === undefined ? {} : { signal: patience };
      for (const each of before)
        if (each !== emoji) await api.call("DELETE", `${path}/reactions/${inPath(each)}/@me`, call);
      if (emoji !== null && !before.includes(emoji))
        await api.call("PUT", `${path}/reactions/${inPath(emoji)}/@me`, call);
      remember(messageId, emoji);
    },
  };
}
