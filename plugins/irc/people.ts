/** Who a sender is, and under which nick they are reached. */
import { type ChannelAccount, ChannelError } from "service-gateway/sdk/channel";
import type { Handlers, Line } from "./line.ts";
import { fold, type Said } from "./message.ts";
import type { Here } from "./sign-in.ts";

export function createPeople({ newId, store }: Pick<ChannelAccount, "newId" | "store">) {
  /** By folded account: the nick that it had last. */
  const nicks = new Map<string, string>();
  /** What the server answers to the WHO that is under way. */
  let found = "";
  let answered = () => {};
  let last: Promise<unknown> = Promise.resolve();

  async function accountOf({ nick, tags }: Line, { caps, link }: Here): Promise<string> {
    if (caps.has("account-tag")) return tags.account ?? "";
    if (!caps.has("WHOX")) return "";
    const end = Promise.withResolvers<void>();
    found = "";
    answered = end.resolve;
    link.write(`WHO ${nick} %na`);
    await Promise.race([end.promise, link.lost]);
    return found;
  }

  /** An answer goes to the nick that the account had last, also after a restart. */
  async function remember(account: string, nick: string): Promise<void> {
    const id = fold(account);
    if (account === "" || nicks.get(id) === nick) return;
    nicks.set(id, nick);
    await store.set(`nick:${id}`, nick, { ttlSeconds: 30 * 86_400 }).catch(() => {});
  }

  async function takeIn(line: Line, here: Here, me: string): Promise<void> {
    const { nick, tags } = line;
    const [target = "", text = ""] = line.params;
    const account = await accountOf(line, here);
    await remember(account, nick);
    const said: Said = { id: tags.msgid ?? newId(), nick, account, target, me, text, time: tags.time ?? "" };
    // A server keeps nothing, so the sender is asked to repeat what could not be stored.
    if (!(await here.link.receive(said))) here.link.write(`NOTICE ${nick} :I could not take that in. Please say it again later.`);
  }

  return {
    handlers: {
      354({ params: [, , name = "0"] }) {
        found = name === "0" ? "" : name;
      },
      315: () => answered(),
    } satisfies Handlers,
    /** One after the other, so that a question about an account changes no order. */
    take(line: Line, here: Here): void {
      const { me } = here;
      last = last.then(() => takeIn(line, here, me)).catch(() => {});
    },
    rename(nick: string, next: string): void {
      for (const [id, known] of nicks) if (fold(known) === fold(nick)) last = last.then(() => remember(id, next));
    },
    async reach(chat: string): Promise<string> {
      const target = (await store.get(`nick:${chat}`)) ?? chat.replace(/^~/, "");
      if (typeof target === "string" && /^[^\s\p{Cc},:]+$/u.test(target)) return target;
      throw new ChannelError("chat_not_found", { detail: "This is neither a nick nor a channel" });
    },
  };
}
