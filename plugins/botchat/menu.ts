/** Registers the menu of commands if the platform's differs, and retries after a failure. */
import { isDeepStrictEqual } from "node:util";
import { type ChannelAccount, ChannelError, pause } from "service-gateway/sdk/channel";
import type { AccountOptions } from "./options.ts";
import type { BotApi } from "./wire/api.ts";
import { createBackoff } from "./wire/backoff.ts";

interface Command {
  readonly name: string;
  readonly summary: string;
}

interface Entry {
  readonly command: string;
  readonly description: string;
}

type Attempt = { readonly done: true } | { readonly done: false; readonly waitMs: number };

const mostCommands = 100;
const longestDescription = 256;

/** Combines the host's commands and the custom ones. Unusable commands are reported and left out. */
function menuOf(
  commands: readonly Command[],
  custom: AccountOptions["customCommands"],
): { readonly entries: readonly Entry[]; readonly problems: readonly string[] } {
  const entries = new Map<string, string>();
  const problems: string[] = [];
  for (const { name, summary } of commands) entries.set(name.replaceAll("-", "_"), summary);
  const native = new Set(entries.keys());
  for (const { command, description } of custom) {
    const name = command.trim().replace(/^\//, "").trim().toLowerCase();
    if (!/^[a-z0-9_]{1,32}$/.test(name))
      problems.push(`customCommands: "${command}" is not a command name: use a-z, 0-9 and _, at most 32`);
    else if (native.has(name))
      problems.push(`customCommands: /${name} is already a command of the gateway; choose another name`);
    else if (entries.has(name)) problems.push(`customCommands: /${name} is listed twice; the second is ignored`);
    else if (description.trim() === "") problems.push(`customCommands: /${name} has no description`);
    else entries.set(name, description);
  }
  const all = [...entries].map(([command, text]) => ({
    command,
    description: text.trim().slice(0, longestDescription) || command,
  }));
  if (all.length > mostCommands)
    problems.push(`the menu holds ${mostCommands} commands; ${all.length - mostCommands} are left out`);
  return { entries: all.slice(0, mostCommands), problems };
}

const isUnknown = (error: unknown) => error instanceof ChannelError && error.reason === "method_unknown";

export interface Menu {
  /** Resolves after the first attempt. A failure is retried until the account closes. */
  register(commands: readonly Command[]): Promise<void>;
}

export function createMenu(options: {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly custom: () => AccountOptions["customCommands"];
}): Menu {
  const { api, account } = options;
  let latest = 0;
  let tail: Promise<unknown> = Promise.resolve();

  /**
   * Asks the platform instead of remembering the menu, because other programs and people change menus, too. Some
   * servers can only set a menu.
   */
  async function isThere(entries: readonly Entry[]): Promise<boolean> {
    try {
      const there = await api.call("getMyCommands", {}, account.signal);
      return isDeepStrictEqual(
        there.map(({ command, description }) => ({ command, description })),
        entries,
      );
    } catch (error) {
      if (isUnknown(error)) return false;
      throw error;
    }
  }

  async function attempt(entries: readonly Entry[]): Promise<Attempt> {
    try {
      if (!(await isThere(entries))) await api.call("setMyCommands", { commands: [...entries] }, account.signal);
      return { done: true };
    } catch (error) {
      if (isUnknown(error)) {
        // Retrying would not help.
        account.log.warn(
          {},
          "setMyCommands failed: the server at apiRoot has no menu of commands; commands work when typed",
        );
        return { done: true };
      }
      if (!account.signal.aborted) {
        const remedy = "check the network, the proxy and apiRoot; it is retried";
        account.log.warn(
          { commands: entries.length },
          "setMyCommands failed: " +
            `${error instanceof ChannelError ? error.message : "the answer could not be read"}; ${remedy}`,
        );
      }
      return { done: false, waitMs: error instanceof ChannelError ? (error.retryAfterMs ?? 0) : 0 };
    }
  }

  async function retry(entries: readonly Entry[], turn: number, first: Attempt): Promise<void> {
    const backoff = createBackoff({ minMs: 1_000, maxMs: 600_000 });
    for (let last = first; !last.done; last = await attempt(entries)) {
      await pause(Math.max(backoff.next(), last.waitMs), account.signal);
      if (account.signal.aborted || turn !== latest) return;
    }
  }

  return {
    async register(commands) {
      const { entries, problems } = menuOf(commands, options.custom());
      for (const problem of problems) account.log.error({}, problem);
      latest += 1;
      const turn = latest;
      // Attempts run one after the other, so that an older menu never replaces a newer one.
      const first = tail.then(() => attempt(entries));
      tail = first;
      void retry(entries, turn, await first);
    },
  };
}
