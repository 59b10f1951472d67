/** What people say, with the account at the network's services that each is signed in to. */
import type { Handlers, Line } from "./line.ts";
import type { Here } from "./sign-in.ts";

export function createSenders(here: Here, newId: () => string) {
  const { link, caps } = here;
  /** What the server answers to the WHO that is under way. */
  let found = "";
  let answered = () => {};
  let last: Promise<unknown> = Promise.resolve();

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

  async function takeIn(line: Line, me: string): Promise<void> {
    const { nick, tags } = line;
    const [target = "", text = ""] = line.params;
    const account = await accountOf(line);
    const said = { id: tags.msgid ?? newId(), nick, account, target, me, text, time: tags.time ?? "" };
    link.receive(said, account === "" ? {} : { address: nick });
  }

  return {
    handlers: {
      354({ params: [, , name = "0"] }) {
        found = name === "0" ? "" : name;
      },
      315: () => answered(),
    } satisfies Handlers,
    /** One after the other, so that a question about an account changes no order. */
    take(line: Line): void {
      const { me } = here;
      last = last.then(() => takeIn(line, me)).catch(() => {});
    },
  };
}
