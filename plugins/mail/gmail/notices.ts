/**
 * Notifications of new mail: requests Gmail to publish them, which lasts for seven days, and pulls them from a
 * subscription.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Json, PluginHost } from "service-gateway/sdk";
import { type NoticeStatus, SourceError } from "../source.ts";
import type { Api } from "./api.ts";

export interface Notice {
  readonly address: string;
  readonly historyId: string;
}

/** What Gmail was requested to announce, as stored. */
interface Order {
  readonly topic: string;
  readonly label: string;
  readonly address: string;
  readonly orderedAt: number;
  readonly expires: number;
}

export interface Notices {
  status(): NoticeStatus;
  /** Requests notifications if there is no valid request, and starts to pull them. Never rejects. */
  keep(mailbox: { readonly address: string; readonly label: string }): Promise<void>;
}

const dayMs = 86_400_000;
const orderAgainMs = 60_000;
const longestBackOffMs = 60_000;
/** Pause after an immediate empty answer, so that the server is not called without one. */
const shortestPullMs = 500;
const maxSilentFailures = 3;
/** A refusal comes at once; a server that waits has accepted. */
const acceptedMs = 2_000;

export function createNotices({
  account,
  topic,
  subscription,
  api,
  store,
  now,
  signal,
  onNotice,
  onChange,
}: {
  readonly account: string;
  readonly topic: string;
  /** Absent if notifications are posted to the gateway. */
  readonly subscription?: string;
  readonly api: Pick<Api, "watch" | "pull" | "acknowledge">;
  readonly store: PluginHost["store"];
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly onNotice: (notice: Notice) => void;
  readonly onChange: () => void;
}): Notices {
  const place = `gmail-watch:${account}`;
  let order: Order | undefined;
  let orderFault: { readonly error: SourceError; readonly at: number } | undefined;
  let pullFault: SourceError | undefined;
  let isPulling = false;

  /** At the first look of a process the request must be valid for two more days. */
  function isDue(wanted: Pick<Order, "topic" | "label" | "address">, isFirst: boolean): boolean {
    if (
      order === undefined ||
      order.topic !== wanted.topic ||
      order.label !== wanted.label ||
      order.address !== wanted.address
    )
      return true;
    return now() - order.orderedAt > dayMs || (isFirst && order.expires - now() < 2 * dayMs);
  }

  async function keepOrder(mailbox: { readonly address: string; readonly label: string }): Promise<void> {
    if (orderFault !== undefined && now() - orderFault.at < Math.max(orderAgainMs, orderFault.error.retryAfterMs))
      return;
    try {
      const isFirst = order === undefined;
      order ??= ((await store.get(place)) ?? undefined) as unknown as Order | undefined;
      const wanted = { topic, ...mailbox };
      if (isDue(wanted, isFirst)) {
        const { expiration } = await api.watch(topic, mailbox.label);
        order = { ...wanted, orderedAt: now(), expires: Number(expiration) };
        await store.set(place, { ...order } as Json);
      }
      orderFault = undefined;
    } catch (error) {
      orderFault = { error: asFault(error), at: now() };
    }
  }

  async function pull(from: string): Promise<void> {
    let failures = 0;
    const settle = (fault: SourceError | undefined) => {
      const isOther = (fault === undefined) !== (pullFault === undefined);
      pullFault = fault;
      if (isOther) onChange();
    };
    while (!signal.aborted) {
      const began = now();
      const accepted = setTimeout(() => settle(undefined), acceptedMs);
      try {
        const received = await api.pull(from);
        for (const { message } of received) {
          const notice = readNotice(message.data);
          if (notice !== undefined) onNotice(notice);
        }
        if (received.length > 0)
          await api.acknowledge(
            from,
            received.map(({ ackId }) => ackId),
          );
        else if (now() - began < shortestPullMs) await pause(shortestPullMs, signal);
        failures = 0;
        settle(undefined);
      } catch (error) {
        if (signal.aborted) return;
        const fault = asFault(error);
        failures += 1;
        clearTimeout(accepted);
        // A permission that ended is a fault of the mailbox itself.
        if (fault.kind === "setup" || (fault.kind === "outage" && failures >= maxSilentFailures)) settle(fault);
        await pause(Math.max(fault.retryAfterMs, Math.min(longestBackOffMs, 1_000 * 2 ** (failures - 1))), signal);
      } finally {
        clearTimeout(accepted);
      }
    }
  }

  return {
    status() {
      // A subscription that is still valid is renewed in time after an outage.
      const isCovered = orderFault?.error.kind === "outage" && order !== undefined && order.expires - now() > dayMs;
      const fault = (isCovered ? undefined : orderFault?.error) ?? pullFault;
      return { ...(order === undefined ? {} : { expires: order.expires }), fault };
    },
    async keep(mailbox) {
      await keepOrder(mailbox);
      if (subscription === undefined || isPulling) return;
      isPulling = true;
      void pull(subscription);
    },
  };
}

/** Base64 of `{ "emailAddress", "historyId" }`, the id as a number or a text; `undefined` for anything else. */
export function readNotice(data: unknown): Notice | undefined {
  try {
    const { emailAddress, historyId } = JSON.parse(Buffer.from(String(data), "base64").toString("utf8")) as {
      readonly emailAddress?: unknown;
      readonly historyId?: unknown;
    };
    const id = String(historyId);
    return typeof emailAddress === "string" && /^\d{1,20}$/.test(id)
      ? { address: emailAddress, historyId: id }
      : undefined;
  } catch {
    return undefined;
  }
}

function asFault(error: unknown): SourceError {
  return error instanceof SourceError
    ? error
    : new SourceError("outage", String(error), "It is retried automatically.");
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
