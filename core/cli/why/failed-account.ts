/** Accounts that are down, for `why`: then no message arrives, so there is no event to explain. */
import { type AccountChange, accountsNamespace } from "../../channels/account-states.ts";
import type { Store } from "../../state/store.ts";
import type { Terminal } from "../output/terminal.ts";
import { renderAgo, renderClock } from "../output/times.ts";

/** The account of a channel, or of any channel, that went down last, if that was after `since` (epoch milliseconds). */
export async function failedSince(store: Store, since: number, channel?: string): Promise<AccountChange | null> {
  const stored = (await store.list(accountsNamespace)).map(({ value }) => value as unknown as AccountChange);
  const down = stored.filter(
    (change) =>
      (change.state === "failed" || change.state === "waiting") &&
      change.since > since &&
      (channel === undefined || change.channel === channel),
  );
  return down.sort((a, b) => b.since - a.since)[0] ?? null;
}

export function printFailedAccount(change: AccountChange, terminal: Terminal, now: number): void {
  const { channel, account, path, state, since } = change;
  const { style } = terminal;
  terminal.line(
    `${style(state === "failed" ? "red" : "yellow", state)} ${style("dim", "(account_down)")} no messages arrive`,
  );
  terminal.line();
  terminal.table(
    [
      ["account", `${channel}:${account}`],
      ["when", `${renderClock(since)} (${renderAgo(since, now)})`],
    ].map(([name = "", text = ""]) => [style("dim", name), text]),
    { indent: "  " },
  );
  terminal.line();
  const [what = state, remedy] = remedyIn(change);
  terminal.line(`  ${style("red", "✗")} connect ${what}`);
  terminal.line(`            ${style("dim", "decided by")} ${path}`);
  if (remedy !== undefined) terminal.line(`            ${style("dim", "to change")}  ${remedy}`);
}

/** Without a hint, a channel's detail says in one sentence what is wrong and, after a colon, what to do. */
function remedyIn({ state, detail = state, hint }: AccountChange): readonly [string, string?] {
  if (hint !== undefined) return [detail, hint];
  const at = detail.lastIndexOf(": ");
  return at === -1 ? [detail] : [detail.slice(0, at), detail.slice(at + 2)];
}
