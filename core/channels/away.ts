/** Why an account cannot be used now. What came from it, and what is to be sent with it, waits until it is back. */
import { programCommand } from "../contract/index.ts";

/** An account that events or replies wait for. */
export interface AwayAccount {
  /**
   * `account_not_open`, or `account_replaced` if the account signs in as another bot than the one that received the
   * event.
   */
  readonly code: "account_not_open" | "account_replaced";
  /** Without a final full stop. */
  readonly detail: string;
  readonly hint: string;
  /** Configuration path of the account. */
  readonly path: string;
}

/** What an event knows about the account that received it. */
export interface ReceivedBy {
  readonly source: string;
  readonly account?: string;
  readonly dedupeKey?: string;
}

/** The accounts that events and replies may wait for. */
export interface AwayAccounts {
  /**
   * Why an account cannot be used now; `undefined` if it is open. An empty account means any one of the channel. What
   * waits for it goes on once this changes; see `AccountsOptions.onOpened`.
   */
  away(channel: string, account: string): AwayAccount | undefined;
  /** The same for the account that received an event, which must still be the same bot. */
  awayFor(event: ReceivedBy): AwayAccount | undefined;
}

/** What the gateway knows about an account that is not open. */
export interface Absence {
  readonly channel: string;
  /** Empty: any account of the channel. */
  readonly account: string;
  /** Whether a plugin provides the channel. */
  readonly hasPlugin: boolean;
  /** Whether the configuration has a section of the channel that asks for the account. */
  readonly section: "absent" | "disabled" | "present";
  /** Whether the account was read from the section, and could not be opened. */
  readonly failed: boolean;
  /** Why it could not be opened. */
  readonly reason?: string | undefined;
}

const waits = "Events that wait for it end after seven days, or sooner by an operator";

export function awayAccount({ channel, account, hasPlugin, section, failed, reason }: Absence): AwayAccount {
  const name = account === "" ? `an account of ${channel}` : `${channel}:${account}`;
  const path = `channels.${channel}${account === "" || account === "default" ? "" : `.accounts.${account}`}`;
  const drop = `\`${programCommand} events drop --channel ${channel}\``;
  const of = (detail: string, remedy: string): AwayAccount => ({
    code: "account_not_open",
    detail: `${name} ${detail}`,
    hint: `${remedy} ${waits}: ${drop}.`,
    path,
  });
  if (section === "absent") return of("is not configured", `Configure it in channels.${channel}.`);
  if (section === "disabled") return of("is disabled", `Remove enabled: false from ${path}.`);
  if (!hasPlugin)
    return of(
      "has no plugin that provides the channel",
      `Load the plugin of ${channel}: \`${programCommand} plugins list\`.`,
    );
  if (failed)
    return of(
      `is configured, but not open${reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`}`,
      `Correct ${path}.`,
    );
  return of("is not configured", `Configure it in ${path}.`);
}

/**
 * Another bot must not reply in the chats of the one that received the event: the same ids may name other chats there.
 */
export function replacedAccount(channel: string, account: string): AwayAccount {
  const { path } = awayAccount({ channel, account, hasPlugin: true, section: "present", failed: false });
  return {
    code: "account_replaced",
    detail: `${channel}:${account} signs in as another bot than the one that received the event`,
    hint:
      `Set the credentials of the former bot again. ${waits}: \`${programCommand} events drop --channel ` +
      `${channel}\`.`,
    path,
  };
}

/** Whether the dedupe key of an event, which contains who received it, names another bot than `signsInAs`. */
export function isOtherBot({ source, account = "", dedupeKey }: ReceivedBy, signsInAs: string | undefined): boolean {
  if (signsInAs === undefined || dedupeKey === undefined) return false;
  // A channel whose ids belong to the account and not to a bot has the account there.
  return !dedupeKey.startsWith(`${source}:${signsInAs}:`) && !dedupeKey.startsWith(`${source}:${account}:`);
}
