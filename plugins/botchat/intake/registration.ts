/** Registers the webhook with the platform, and keeps it registered. */
import { type ChannelAccount, ChannelError, type ChannelStatus, pause } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createBackoff } from "../wire/backoff.ts";
import { failureOf, lostWebhook, registrationFailure } from "./failure.ts";
import { updateKinds } from "./parse.ts";
import type { Listener } from "./webhook.ts";

export interface RegistrationOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  readonly signal: AbortSignal;
  readonly url: string;
  readonly secret: string;
  readonly listener: Listener;
}

/** The platform may return the address in another spelling. */
function isSameAddress(a: string, b: string): boolean {
  return a === b || (URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href);
}

/**
 * Retries until the platform accepts the webhook, and sets it again when it is lost. Runs until the signal is aborted.
 */
export function keepRegistered(options: RegistrationOptions): void {
  const { api, account, identity, signal, url, secret } = options;
  let lastContactAt = account.now();
  /** The same, by a monotonic clock. */
  let heardAt = performance.now();
  const heard = () => {
    lastContactAt = account.now();
    heardAt = performance.now();
  };
  options.listener.watch((failure) => {
    heard();
    if (failure === undefined) account.status({ state: "connected", identity, lastContactAt });
    else account.status({ state: "waiting", identity, lastContactAt, ...failureOf(failure) });
  });
  const stallMs = account.options.polling.stallSeconds * 1_000;

  /**
   * Checks with the platform if nothing arrived for a while: the removal of a webhook, such as by a program that polls,
   * is not announced.
   */
  async function staysSet(): Promise<boolean> {
    for (let left = stallMs; left > 0 && !signal.aborted; left = heardAt + stallMs - performance.now())
      await pause(left, signal);
    if (signal.aborted) return true;
    const { url: set = "" } = await api.call("getWebhookInfo", {}, signal);
    if (isSameAddress(set, url)) return true;
    account.status({ state: "waiting", identity, lastContactAt, ...lostWebhook(set) });
    return false;
  }

  async function register(): Promise<void> {
    const backoff = createBackoff({
      minMs: account.options.polling.minDelayMs,
      maxMs: account.options.polling.maxDelayMs,
    });
    let isSet = false;
    while (!signal.aborted) {
      try {
        if (!isSet)
          await api.call("setWebhook", { url, secret_token: secret, allowed_updates: [...updateKinds] }, signal);
        backoff.reset();
        heard();
        account.status({ state: "connected", identity, lastContactAt });
        isSet = await staysSet();
      } catch (error) {
        if (signal.aborted) return;
        // The registration is unknown now, so "connected" is reported only after an answer.
        isSet = false;
        if (error instanceof ChannelError && error.reason === "unauthorized") {
          account.status({ state: "failed", identity, ...failureOf(error) });
          return;
        }
        account.status({ state: "waiting", identity, ...registrationFailure(error) });
        const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
        await pause(Math.max(asked ?? 0, backoff.next()), signal);
      }
    }
  }
  void register();
}
