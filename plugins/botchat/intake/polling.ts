/**
 * Long polling. A batch is committed first and confirmed afterwards, by the offset of the next call, so no offset is
 * stored. Updates that an earlier process did not confirm arrive again, and the host recognizes them by their update
 * id.
 */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus, pause } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createBackoff } from "../wire/backoff.ts";
import { type Failure, failureOf } from "./failure.ts";
import { number, record } from "./fields.ts";
import type { Gatherer } from "./gather.ts";
import { updateKinds } from "./parse.ts";

export interface PollingOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  /** The bot's id: update ids are unique for one bot only. */
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  readonly signal: AbortSignal;
  readonly gatherer: Gatherer;
  /** Called after the commit of each update. */
  onUpdate(update: Json): void;
}

/** Updates requested at a time: the platform's maximum. */
const batch = 100;
/** Updates submitted at a time: room for one more is not room for a whole batch. */
const portion = 25;

interface Identified {
  readonly update: Json;
  readonly updateId: number;
}

/** Runs until the signal is aborted, or until the platform refuses the token. */
export async function poll({ api, account, identity, signal, gatherer, onUpdate }: PollingOptions): Promise<void> {
  const { polling } = account.options;
  const backoff = createBackoff({ minMs: polling.minDelayMs, maxMs: polling.maxDelayMs });
  const stallMs = polling.stallSeconds * 1_000;
  let offset: number | undefined;
  let lastContactAt = account.now();
  // Does not use the wall clock, which may be set back.
  let quietSince = performance.now();

  const report = (state: ChannelStatus["state"], failure?: Failure) =>
    account.status({ state, lastContactAt, identity, ...failure });

  async function next(): Promise<readonly Json[]> {
    const answer = await api.call(
      "getUpdates",
      { timeout: polling.timeoutSeconds, limit: batch, allowed_updates: [...updateKinds], offset },
      signal,
    );
    if (!Array.isArray(answer))
      throw new ChannelError("bad_answer", { retryable: true, detail: "getUpdates: the answer is not a list" });
    return answer as unknown as readonly Json[];
  }

  /** The updates with ids, in the order in which an offset confirms them. */
  function withIds(updates: readonly Json[]): readonly Identified[] {
    const known = updates.flatMap((update) => {
      const updateId = number(record(update)?.update_id);
      return updateId === undefined ? [] : [{ update, updateId }];
    });
    // None of it can be confirmed: another request would return the same updates at once.
    if (known.length === 0 && updates.length > 0)
      throw new ChannelError("bad_answer", { retryable: true, detail: "getUpdates: no update in it has an id" });
    return known.sort((one, other) => one.updateId - other.updateId);
  }

  /** They are submitted in one iteration of the event loop, so that the store writes them in one commit. */
  async function commit(updates: readonly Identified[]): Promise<void> {
    const placed = updates.map(({ update, updateId }) => ({
      update,
      at: { id: String(updateId), identity: identity.id, ...gatherer.place(update) },
    }));
    await gatherer.noted();
    await Promise.all(placed.map(({ update, at }) => account.receive(update, at)));
    for (const { update, updateId } of updates) {
      onUpdate(update);
      offset = updateId + 1;
    }
  }

  async function recover(error: unknown): Promise<void> {
    const reason = error instanceof ChannelError ? error.reason : "receive_failed";
    report("waiting", failureOf(error));
    if (reason === "conflict" && error instanceof ChannelError && /webhook/i.test(error.message)) {
      await api.call("deleteWebhook", {}, signal).catch(() => {});
    }
    if (reason === "timeout" || performance.now() - quietSince >= stallMs) {
      // A hanging connection is not always reported as broken, so after this time without an answer all are replaced.
      quietSince = performance.now();
      account.log.warn({ seconds: polling.stallSeconds }, "no completed getUpdates: reconnecting");
      api.renew();
    }
    const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
    await pause(Math.max(asked ?? 0, backoff.next()), signal);
  }

  let stop = () => {};
  signal.addEventListener("abort", () => stop(), { once: true });
  /** Avoids a race with one promise for all polls, which would retain memory of each poll until it is settled. */
  const orStopped = (work: Promise<void>) =>
    new Promise<void>((resolve, reject) => {
      stop = resolve;
      work.then(resolve, reject);
    });

  report("connected");
  while (!signal.aborted) {
    try {
      const updates = await next();
      lastContactAt = account.now();
      quietSince = performance.now();
      const known = withIds(updates);
      for (let from = 0; from < known.length; from += portion) {
        await account.room();
        if (signal.aborted) return;
        // A store that hangs must not keep the account from closing. Updates that it did not accept are not confirmed.
        await orStopped(commit(known.slice(from, from + portion)));
      }
      if (signal.aborted) return;
      backoff.reset();
      report("connected");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ChannelError && error.reason === "unauthorized") {
        report("failed", failureOf(error));
        return;
      }
      await recover(error);
    }
  }
}
