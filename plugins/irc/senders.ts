/** What people say, with the account at the network's services that each is signed in to. */
import type { Static } from "service-gateway/sdk/channel";
import type { Handlers, Line } from "./line.ts";
import type { said } from "./message.ts";
import type { Here } from "./sign-in.ts";

export function createSenders({ link, caps }: Here, newId: () => string) {
  /** What the server answers to the WHO that is under way. */
  let found = "";
  let answered = () => {};

  async function accountOf({ nick, tags }: Line): Promise<string> {
    if (caps.has("account-tag")) return tags.account ?? "";
    if (!caps.has("WHOX")) return "";
    const end = Promise.withResolvers<void>();
    found = "";
    answered = end.resolve;
    link.write(`WHO ${nick} %na`);
    await Promise.race([end.promise, link.lost]);
    return found;
  }

  return {
    handlers: {
      354({ params: [, , name = "0"] }) {
        found = name === "0" ? "" : name;
      },
      315: () => answered(),
    } satisfies Handlers,
    /** `me` is the bot's nick when the line came. */
    async said(line: Line, me: string): Promise<Static<typeof said>> {
      const { nick, tags } = line;
      const [target = "", text = ""] = line.params;
      return { id: tags.msgid ?? newId(), nick, account: await accountOf(line), target, me, text, time: tags.time ?? "" };
    },
  };
}
