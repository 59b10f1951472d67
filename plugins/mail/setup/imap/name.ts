/** Selects the mailbox of the configuration that `webhooks imap setup` works on, and the name of a new one. */
import type { CliCall } from "service-gateway/sdk";
import type { ImapSettings } from "../../settings.ts";
import { accountOf, textOf, textOrAsk } from "../options.ts";

type Accounts = Readonly<Record<string, Partial<ImapSettings>>>;

interface Named {
  readonly account: string;
  /** Absent if it is already set, or was not asked for yet. */
  readonly user?: string;
}

/** By `--account`. Without it, the mailbox with this user, or a new one named after the local part of the address. */
export async function namedMailbox(call: CliCall, accounts: Accounts): Promise<Named> {
  const given = textOf(call, "user");
  if (textOf(call, "account") !== undefined) return { account: await accountOf(call), user: given };
  const user = await textOrAsk(call, "user", {
    question: "User name, mostly the mail address",
    missing: "--user is missing: the user name of the mailbox, mostly the mail address.",
  });
  const host = textOf(call, "host")?.toLowerCase();
  const isIt = (one: Partial<ImapSettings>) =>
    one.user?.toLowerCase() === user.toLowerCase() && (host === undefined || one.host?.toLowerCase() === host);
  const known = Object.entries(accounts).filter(([, one]) => isIt(one));
  const [[account] = []] = known;
  if (account !== undefined && known.length === 1) return { account, user };
  const name = nameFor(user);
  if (name !== "" && !Object.hasOwn(accounts, name)) return { account: name, user };
  const missing = name === "" ? "--account is missing." : `--account is missing: another mailbox has the name ${name}.`;
  return { account: await accountOf(call, missing), user };
}

/** Empty if the address has no letter that a name may contain. */
function nameFor(user: string): string {
  const local = user.includes("@") ? user.slice(0, user.lastIndexOf("@")) : user;
  return local
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .slice(0, 64)
    .replace(/^[-_]+|[-_]+$/g, "");
}
