/**
 * What the events that wait wait for: a channel that is missing, or a model that does not answer. Read from the state,
 * so it needs no gateway.
 */
import { waitsForModel } from "../agents/turn/model-outages.ts";
import type { Decision } from "../contract/types.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";
import { renderDuration } from "./times.ts";

/** More events are not counted; the count then ends in a plus. */
export const mostCounted = 10_000;

export interface Waits {
  readonly events: number;
  /** More events wait than are counted. */
  readonly more?: true;
  /** When the oldest of them was accepted, epoch milliseconds. */
  readonly oldestAt: number;
  /** `account_not_open`, `account_replaced` or `waits_for_model`. */
  readonly code: string;
  /** What they wait for, as a sentence without a full stop. */
  readonly reason: string;
  readonly fix: string;
  readonly channel?: string;
  readonly account?: string;
  readonly path?: string;
}

const codes: ReadonlySet<string> = new Set(["account_not_open", "account_replaced", waitsForModel]);

function cause({ decisions }: EventReport): Decision | undefined {
  const last = decisions.findLast(({ station, verdict }) => station === "settled" && verdict === "retry");
  return last !== undefined && codes.has(last.code) ? last : undefined;
}

/** The account that a path such as `channels.botchat.accounts.work` names. */
function accountAt(path: string | undefined): { readonly channel?: string; readonly account?: string } {
  const [, channel, account = "default"] = /^channels\.([^.]+)(?:\.accounts\.(.+))?$/.exec(path ?? "") ?? [];
  return channel === undefined ? {} : { channel, account };
}

interface Group {
  readonly cause: Decision;
  readonly events: EventReport[];
}

async function groupsOf(store: Store): Promise<{ readonly groups: readonly Group[]; readonly more: boolean }> {
  const open = await store.events({ open: true, includeInternal: true, oldestFirst: true, limit: mostCounted });
  const groups = new Map<string, Group>();
  /** Events of a lane wait for the first one. */
  const lanes = new Map<string, Group>();
  const accounts = new Map<string, Group>();
  const rest: EventReport[] = [];
  for (const event of open) {
    if (event.state !== "waiting") continue;
    const found = cause(event);
    if (found === undefined) {
      rest.push(event);
      continue;
    }
    const key = `${found.code} ${found.path ?? found.detail}`;
    const group = groups.get(key) ?? { cause: found, events: [] };
    groups.set(key, group);
    group.events.push(event);
    lanes.set(event.lane, group);
    const { channel, account } = accountAt(found.path);
    if (channel !== undefined) accounts.set(`${channel} ${account}`, group);
  }
  for (const event of rest)
    (lanes.get(event.lane) ?? accounts.get(`${event.source} ${event.account}`))?.events.push(event);
  return { groups: [...groups.values()], more: open.length === mostCounted };
}

export async function waitsIn(store: Store): Promise<readonly Waits[]> {
  const { groups, more } = await groupsOf(store);
  return groups.map(({ cause: { code, detail = code, hint = "", path }, events }) => ({
    events: events.length,
    ...(more && { more: true as const }),
    oldestAt: Math.min(...events.map(({ acceptedAt }) => acceptedAt)),
    ...{ code, reason: detail, fix: hint },
    ...(code === waitsForModel ? {} : accountAt(path)),
    ...(path === undefined ? {} : { path }),
  }));
}

/** `3 events wait: botchat:default is disabled; the oldest for 2 h`. */
export function waitsLine({ events, more, reason, oldestAt }: Waits, now: number): string {
  const count = more === true ? `${events}+ events wait` : events === 1 ? "1 event waits" : `${events} events wait`;
  return `${count}: ${reason}; the oldest for ${renderDuration(now - oldestAt)}`;
}

/** The events that wait from or for a channel, with those that nothing has looked at yet. */
export async function waitingFor(
  store: Store,
  { channel, account }: { readonly channel: string; readonly account?: string | undefined },
) {
  const { groups } = await groupsOf(store);
  const isPlace = (at: { readonly channel?: string | undefined; readonly account?: string | undefined }) =>
    at.channel === channel && (account === undefined || at.account === account);
  const waiting = groups.filter((group) => isPlace(accountAt(group.cause.path))).flatMap(({ events }) => events);
  const own = await store.events({ open: true, includeInternal: true, source: channel, limit: mostCounted });
  const known = new Set(waiting.map(({ id }) => id));
  const others = own.filter(
    (event) => event.state === "waiting" && !known.has(event.id) && isPlace({ channel, account: event.account }),
  );
  return [...waiting, ...others];
}
