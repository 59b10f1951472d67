/** Says of each account why it cannot be used now, if it cannot. */
import { accountKey } from "./account-states.ts";
import { type AwayAccounts, awayAccount, isOtherBot, replacedAccount } from "./away.ts";
import type { Following } from "./following.ts";
import type { OpenAccounts } from "./open-accounts.ts";

export function createAway({
  open,
  failures,
  channels,
  configured,
}: {
  readonly open: OpenAccounts;
  /** The accounts that could not be opened. */
  readonly failures: ReadonlyMap<string, { readonly status: { readonly detail?: string } }>;
  readonly channels: { has(channel: string): boolean };
  readonly configured: Following["configured"];
}): AwayAccounts {
  const isOpen = (channel: string, account: string) =>
    account === ""
      ? open.all().some(({ live }) => live.channel === channel)
      : open.find(channel, account) !== undefined;

  const away: AwayAccounts["away"] = (channel, account) => {
    if (isOpen(channel, account)) return undefined;
    const { config, disabled } = configured();
    const sections = config?.channels ?? {};
    const section = Object.hasOwn(sections, channel) ? sections[channel] : undefined;
    const failure = failures.get(accountKey(channel, account));
    const failed = disabled.has(`channels.${channel}`) || failure !== undefined;
    return awayAccount({
      ...{ channel, account, hasPlugin: channels.has(channel), failed },
      section: section === undefined ? "absent" : !failed && isDisabled(section, account) ? "disabled" : "present",
      reason: failure?.status.detail,
    });
  };

  return {
    away,
    awayFor(event) {
      const { source, account = "" } = event;
      const missing = away(source, account);
      if (missing !== undefined) return missing;
      return isOtherBot(event, open.find(source, account)?.signsInAs) ? replacedAccount(source, account) : undefined;
    },
  };
}

/** Whether a section, or its part for the account, says `enabled: false`. */
function isDisabled(section: unknown, account: string): boolean {
  const { enabled, accounts } = (section ?? {}) as {
    readonly enabled?: unknown;
    readonly accounts?: Readonly<Record<string, unknown>>;
  };
  const own = accounts !== undefined && Object.hasOwn(accounts, account) ? accounts[account] : undefined;
  return enabled === false || (own as { readonly enabled?: unknown } | undefined)?.enabled === false;
}
