/** The life of a connection that has to last: it connects again after each loss, and reports its state. */
import { randomInt } from "node:crypto";
import { asSentence, ChannelError, codeOf, reasonOf } from "../contract/index.ts";
import type { ChannelAccount, ChannelStatus } from "./contract.ts";
import { pause } from "./waits.ts";

/**
 * An open connection, as `connect` returns it to `keepConnected`.
 *
 * @example
 * const live: LiveConnection = {
 *   identity: { id: "42", username: "bot" },
 *   lost: once(socket, "close").then(() => new Error("the server closed it")),
 * };
 */
export interface LiveConnection {
  /** The bot's own name and id. */
  readonly identity?: NonNullable<ChannelStatus["identity"]>;
  /** A sentence for the operator about a connection that works, such as a room that the bot may not enter. */
  readonly detail?: string;
  /** The code of `detail`, from the channel's `codes`; see `ChannelStatus.code`. */
  readonly code?: string;
  /** Resolves when the connection is lost, with the reason if known. A rejection is treated as the reason. */
  readonly lost: Promise<unknown>;
}

/** The first wait after a loss, and the longest one, in milliseconds. */
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

/**
 * Connects, and reconnects after each loss, until the account closes. The waits double from 1 s to 60 s. Each is
 * extended by a random amount of up to a fifth, so that many clients do not return at once. After a connection that
 * lasted a minute, they begin at 1 s again. Reports `connecting`, `connected`, and `waiting` with the reason and the
 * time of the next attempt.
 *
 * Resolves when connected, or when the platform is away; then it keeps trying. `connect` has `timeoutMs` (default 30
 * s), after which its signal aborts. If it fails, it closes what it opened. After an error, it is called again after a
 * wait, or after `retryAfterMs` of a `ChannelError` if that is longer. A `ChannelError` that is not retryable, such as
 * `unauthorized`, is final: the first attempt rejects with it, a later one reports `failed`.
 *
 * Once `connect` has resolved, its signal aborts only when the account closes. A server that becomes silent is not
 * noticed here: ping it from time to time, and let `lost` resolve if it does not answer. `defineLineChannel` does so.
 *
 * @example
 * start: () => keepConnected(account, async (signal) => {
 *   socket = await open(account.options.server, signal);
 *   return { lost: once(socket, "close") };
 * }),
 */
export async function keepConnected(
  account: Pick<ChannelAccount, "signal" | "status" | "now">,
  connect: (signal: AbortSignal) => Promise<LiveConnection>,
  { timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const { signal, now } = account;
  let failures = 0;

  async function attempt(): Promise<LiveConnection> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const connecting = connect(AbortSignal.any([signal, late.signal]));
      // Nothing waits for the loss of a connection that comes too late, or while the account closes.
      connecting.then(({ lost }) => lost.catch(() => {})).catch(() => {});
      return await Promise.race([connecting, expired(late.signal, timeoutMs)]);
    } finally {
      clearTimeout(timer);
    }
  }

  async function wait(error: unknown): Promise<void> {
    const doubled = Math.min(firstWaitMs * 2 ** Math.min(failures, 10), longestWaitMs);
    const asked = error instanceof ChannelError ? (error.retryAfterMs ?? 0) : 0;
    const ms = Math.max(asked, doubled + randomInt(Math.ceil(doubled / 5)));
    failures += 1;
    const detail = `${asSentence(reasonOf(error))} The next attempt is in ${Math.max(1, Math.round(ms / 1_000))} s.`;
    account.status({ state: "waiting", detail, ...codeOf(error) });
    await pause(ms, signal);
  }

  async function stay({ lost }: LiveConnection): Promise<void> {
    const since = now();
    const reason = await lost.catch((error: unknown) => error);
    if (signal.aborted) return;
    if (isFinal(reason)) throw reason;
    if (now() - since >= longestWaitMs) failures = 0;
    await wait(reason instanceof Error ? reason : new Error("The platform closed the connection"));
  }

  /** Until the first connection or the first wait; the rest goes on behind it. */
  async function run(settled: () => void): Promise<void> {
    while (!signal.aborted) {
      account.status({ state: "connecting" });
      let live: LiveConnection | undefined;
      try {
        live = await attempt();
      } catch (error) {
        if (signal.aborted) break;
        if (isFinal(error)) throw error;
        const waiting = wait(error);
        settled();
        await waiting;
        continue;
      }
      if (signal.aborted) break;
      const { identity, code, detail } = live;
      const known = {
        ...(identity && { identity }),
        ...(code !== undefined && { code }),
        ...(detail !== undefined && { detail }),
      };
      account.status({ state: "connected", lastContactAt: now(), ...known });
      settled();
      await stay(live);
    }
  }

  const first = Promise.withResolvers<void>();
  let isFirst = true;
  const settled = () => {
    isFirst = false;
    first.resolve();
  };
  run(settled).then(settled, (error: unknown) => {
    if (isFirst) first.reject(error);
    else account.status({ state: "failed", detail: reasonOf(error), ...codeOf(error) });
  });
  await first.promise;
}

/** A failure that no wait mends. */
function isFinal(error: unknown): boolean {
  return error instanceof ChannelError && !error.retryable;
}

function expired(signal: AbortSignal, timeoutMs: number): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => reject(new Error(`The platform did not let the bot in within ${timeoutMs / 1_000} s`));
    signal.addEventListener("abort", late, { once: true });
  });
}
