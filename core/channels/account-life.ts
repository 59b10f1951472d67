/**
 * The life of an account from its connection to its close. It connects once no closing account blocks it; other
 * accounts continue meanwhile.
 */
import { codeOf, reasonOf } from "../contract/index.ts";
import type { Log } from "../log/index.ts";
import { accountDuty, type Duties } from "../state/index.ts";
import type { AccountStates } from "./account-states.ts";
import { explainedStatus } from "./connection/status-detail.ts";
import { logStatus, type OpenAccount, type OpenAccountOptions } from "./open-account.ts";

/** An account that is closing. */
interface Closing {
  readonly channel: string;
  readonly name: string;
  readonly holds: readonly string[];
  /** Resolves when it has closed or was given up; never rejects. */
  readonly ended: Promise<void>;
}

/** Two accounts that receive with the same credential would take each other's events. */
function isInTheWay(closing: Closing, name: string, { holds }: OpenAccount): boolean {
  return closing.name === name || closing.holds.some((held) => holds.includes(held));
}

/** How long the calls of an account that was replaced may take to end. */
const retireMs = 10_000;

export interface AccountLife {
  /** Connects an account that has not started; does not wait for the connection. */
  begin(name: string, account: OpenAccount): void;
  /** Starts to close an account. After its deadline it is given up, and events it still submits are refused. */
  shut(name: string, account: OpenAccount): void;
  /** Takes nothing more in, lets its calls end, and closes. Another account has taken its place. */
  retire(name: string, account: OpenAccount): void;
  /** Resolves when every account that was shut has closed, or was given up. */
  ended(): Promise<unknown>;
}

export function createAccountLife(options: {
  readonly log: Log;
  readonly commands: OpenAccountOptions["commands"];
  readonly states: Pick<AccountStates, "note" | "noteStandby">;
  readonly duties: Pick<Duties, "take">;
  /** Whether waiting accounts may still connect. */
  readonly isStarted: () => boolean;
}): AccountLife {
  const { log, states } = options;
  const closing = new Set<Closing>();

  /** Connects at once, or once no other node receives for the account. */
  function connectAsDuty(account: OpenAccount): void {
    const { channel, id } = account.live;
    const taking = options.duties.take(accountDuty(channel, id), account.stop.signal, () => {
      account.standby = true;
      account.status = { state: "waiting", detail: "another node receives for this account" };
      // A channel may have to listen first, and this node is not ready before that.
      const standing = account.connection.standBy?.() ?? Promise.resolve();
      standing.then(
        () => states.noteStandby({ channel, id }),
        (error: unknown) => {
          if (account.standby === true) fail(account, error);
        },
      );
    });
    if (taking === undefined) {
      connect(account);
      return;
    }
    void taking.then((taken) => {
      if (!taken || account.closed || account.replaced) return;
      account.standby = false;
      account.status = { state: "connecting" };
      connect(account);
    });
  }

  function connect(account: OpenAccount): void {
    account.menu = JSON.stringify(options.commands(account.live.channel));
    account.connection.start().catch((error: unknown) => fail(account, error));
  }

  function fail(account: OpenAccount, error: unknown): void {
    if (account.closed) return;
    const { channel, id, path } = account.live;
    const status = explainedStatus({ state: "failed", detail: reasonOf(error), ...codeOf(error) }, account.live.codes);
    const known = account.status.state === status.state && account.status.detail === status.detail;
    account.status = status;
    if (known) return;
    logStatus(log.child({ channel, account: id }), status, path);
    states.note({ channel, id, path }, status);
  }

  /** From then on what comes from it is refused. */
  function close(account: OpenAccount): Promise<void> {
    const { channel, id, plugin } = account.live;
    account.closed = true;
    account.stop.abort();
    return account.connection.close().catch((error: unknown) => {
      log.error(
        { channel, account: id, plugin, error: reasonOf(error) },
        "the connection did not close properly and was given up",
      );
    });
  }

  async function endCalls({ connection, calls }: OpenAccount): Promise<void> {
    await connection.pause?.().catch(() => {});
    await calls.ended(retireMs);
  }

  function leave(name: string, { live: { channel }, holds }: OpenAccount, ended: Promise<void>): void {
    const entry: Closing = { channel, name, holds, ended };
    closing.add(entry);
    void ended.then(() => closing.delete(entry));
  }

  return {
    begin(name, account) {
      if (account.started) return;
      account.started = true;
      const before = [...closing].filter(
        (other) => other.channel === account.live.channel && isInTheWay(other, name, account),
      );
      if (before.length === 0) connectAsDuty(account);
      else
        void Promise.all(before.map(({ ended }) => ended)).then(() => {
          if (options.isStarted() && !account.closed && !account.replaced) connectAsDuty(account);
        });
    },
    shut: (name, account) => leave(name, account, close(account)),
    retire(name, account) {
      account.replaced = true;
      leave(
        name,
        account,
        endCalls(account).then(() => close(account)),
      );
    },
    ended: () => Promise.all([...closing].map(({ ended }) => ended)),
  };
}
