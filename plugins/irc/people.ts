/** Who a sender is, under which nick they are reached, and what they say. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { Handlers, Line } from "./line.ts";
import { fold, type Said } from "./message.ts";
import type { Options } from "./options.ts";
import type { Here } from "./sign-in.ts";

export function createPeople(account: ChannelAccount<Options>) {
  const nicks = new Map<string, string>();
  let taking: Promise<unknown> = Promise.resolve();
  /** What the server answers to the WHO that is under way. */
  let found: string | null = null;
  let answered = () => {};

  async function accountOf({ nick, tags }: Line, { caps, whox, link }: Here): Promise<string | null> {
    if (caps.has("account-tag")) return tags.account ?? null;
    if (!whox) return null;
    const end = Promise.withResolvers<void>();
    found = null;
    answered = end.resolve;
    link.write(`WHO ${nick} %na`);
    await Promise.race([end.promise, link.lost]);
    return found;
  }

  async function takeIn(line: Line, here: Here, { me, at }: Pick<Said, "me" | "at">): Promise<void> {
    const [target = "", text = ""] = line.params;
    const { nick, tags } = line;
    const said: Said = { id: tags.msgid ?? account.newId(), nick, account: await accountOf(line, here), target, me, text, at };
    if (said.account !== null) await remember(said.account, nick);
    // A server keeps nothing, so the sender is asked to repeat what could not be stored.
    if (await here.link.receive({ ...said })) return;
    here.link.write(`NOTICE ${nick} :I could not take that in. Please say it again later.`);
  }

  /** An answer goes to the nick that the account had last, also after a restart. */
  async function remember(sender: string, nick: string): Promise<void> {
    const id = fold(sender);
    if (nicks.get(id) === nick) return;
    nicks.set(id, nick);
    await account.store.set(`nick:${id}`, nick, { ttlSeconds: 30 * 86_400 }).catch(() => {});
  }

  const handlers: Handlers = {
    354: ({ params: [, , name = "0"] }) => {
      found = name === "0" ? null : name;
    },
    315: () => answered(),
  };
  return {
    handlers,
    /** One after the other, so that a question about an account changes no order. */
    take(line: Line, here: Here): void {
      const arrived = { me: here.me, at: Date.parse(line.tags.time ?? "") || account.now() };
      taking = taking.then(() => takeIn(line, here, arrived));
    },
    rename(nick: string, next: string): void {
      for (const [id, known] of nicks) if (fold(known) === fold(nick)) taking = taking.then(() => remember(id, next));
    },
    async reach(chat: string): Promise<string> {
      const isAddress = /^[#&!+@%]/.test(chat);
      const target = chat.startsWith("~") ? chat.slice(1) : isAddress ? chat : ((await account.store.get(`nick:${chat}`)) ?? chat);
      if (typeof target === "string" && /^[^\s\p{Cc},:]+$/u.test(target)) return target;
      throw new ChannelError("chat_not_found", { detail: "This is neither a nick nor a channel" });
    },
  };
}
