/** Who a sender is, under which nick they are reached, and what they say. */
import { type ChannelAccount, ChannelError, type LineConnection } from "service-gateway/sdk/channel";
import type { Line } from "./line.ts";
import { fold, isDirect, type Said, senderOf } from "./message.ts";

/** What is known on a connection. */
export interface Known {
  readonly link: LineConnection;
  readonly caps: Set<string>;
  me: string;
  whox: boolean;
  /** The account of the nick that was asked about last. */
  found: string | null;
  answered: () => void;
}

export function createPeople(account: ChannelAccount<unknown>) {
  const nicks = new Map<string, string>();
  let taking: Promise<unknown> = Promise.resolve();

  async function accountOf({ nick, tags }: Line, here: Known): Promise<string | null> {
    if (here.caps.has("account-tag")) return tags.account ?? null;
    if (!here.whox) return null;
    const asked = Promise.withResolvers<void>();
    Object.assign(here, { found: null, answered: asked.resolve });
    here.link.write(`WHO ${nick} %na`);
    await Promise.race([asked.promise, here.link.lost]);
    return here.found;
  }

  async function takeIn(line: Line, here: Known, { me, at }: Pick<Said, "me" | "at">): Promise<void> {
    const [target = "", text = ""] = line.params;
    const { nick, tags } = line;
    const said: Said = { id: tags.msgid ?? account.newId(), nick, account: await accountOf(line, here), target, me, text, at };
    const sender = senderOf(said);
    try {
      if (said.account !== null) await remember(sender, nick);
      const chat = isDirect(said) ? sender : target;
      await account.receive({ ...said }, { id: said.id, lane: `irc:${account.id}:${chat}` });
    } catch (error) {
      // A server keeps nothing, so the sender is asked to repeat what could not be stored.
      account.log.warn({ error: String(error) }, "a message could not be stored");
      here.link.write(`NOTICE ${nick} :I could not take that in. Please say it again later.`);
    }
  }

  /** An answer goes to the nick that the account had last, also after a restart. */
  async function remember(sender: string, nick: string): Promise<void> {
    const id = fold(sender);
    if (nicks.get(id) === nick) return;
    nicks.set(id, nick);
    await account.store.set(`nick:${id}`, nick, { ttlSeconds: 30 * 86_400 });
  }

  return {
    /** One after the other, so that a question about an account changes no order. */
    take(line: Line, here: Known): void {
      const arrived = { me: here.me, at: Date.parse(line.tags.time ?? "") || account.now() };
      taking = taking.then(() => takeIn(line, here, arrived));
    },
    rename(nick: string, next: string): void {
      for (const [id, known] of nicks) if (fold(known) === fold(nick)) taking = taking.then(() => remember(id, next)).catch(() => {});
    },
    async targetOf(chat: string): Promise<string> {
      const target = /^[#&!+@%]/.test(chat)
        ? chat
        : chat.startsWith("~")
          ? chat.slice(1)
          : ((await account.store.get(`nick:${chat}`)) ?? chat);
      if (typeof target === "string" && /^[^\s\p{Cc},:]+$/u.test(target)) return target;
      throw new ChannelError("chat_not_found", { detail: "This is neither a nick nor a channel" });
    },
  };
}
