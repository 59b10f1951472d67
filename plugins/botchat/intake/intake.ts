/** Opens the source of updates: polling, or the account's own webhook. */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { failureOf } from "./failure.ts";
import { createGatherer, type Gatherer } from "./gather.ts";
import { poll } from "./polling.ts";
import type { Listener } from "./webhook.ts";

export interface IntakeOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  /** Aborted when no more updates are wanted. */
  readonly signal: AbortSignal;
  /** Called for each update after it was accepted. */
  readonly onUpdate: (update: Json) => void;
}

/** `ended` resolves when updates can no longer arrive. */
interface Opened {
  readonly ended: Promise<void>;
}

export interface Intake {
  /**
   * Stores what the platform posts to this node while another one has registered the webhook. Does nothing for an
   * account that polls.
   */
  listen(): Promise<Opened>;
  /**
   * Resolves when updates can arrive: polls, or listens and registers the webhook. `listen` may have been called
   * before.
   */
  open(): Promise<Opened>;
}

// A failure here only means that a later edit without changes gets a turn, so it is not logged.
const keep = (gatherer: Gatherer) => gatherer.keep().catch(() => {});

export function createIntake(options: IntakeOptions): Intake {
  const { api, account, identity } = options;
  const { webhookUrl: url, webhookSecret: secret = "" } = account.options;
  let opening: Promise<Opened & { readonly listener: Listener }> | undefined;

  async function openListener() {
    const gatherer = await createGatherer(account);
    const webhook = await import("./webhook.ts");
    const listener = await webhook.openListener({ ...options, gatherer, secret });
    return { listener, ended: listener.closed.then(() => keep(gatherer)) };
  }

  /** A listener that could not bind is opened again by the next call. */
  function openOnce() {
    opening ??= openListener().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function openPolling(): Promise<Opened> {
    const gatherer = await createGatherer(account);
    await removeWebhook(options);
    const polling = poll({ ...options, gatherer }).catch((error: unknown) => {
      account.status({ state: "failed", identity, ...failureOf(error) });
    });
    return { ended: polling.then(() => keep(gatherer)) };
  }

  return {
    listen: async () => (url === undefined ? { ended: Promise.resolve() } : await openOnce()),
    async open() {
      if (url === undefined) return await openPolling();
      const { listener, ended } = await openOnce();
      const { keepRegistered } = await import("./registration.ts");
      keepRegistered({ api, account, identity, signal: options.signal, url, secret, listener });
      return { ended };
    },
  };
}

/** Removes the webhook of an earlier setup, which would receive all updates. If this fails, polling reports a 409. */
async function removeWebhook({ api, account: { log }, signal }: IntakeOptions): Promise<void> {
  try {
    const info = await api.call("getWebhookInfo", {}, signal);
    if (!info.url) return;
    await api.call("deleteWebhook", {}, signal);
    log.info({}, "a webhook that was set for this bot is removed, because the account polls");
  } catch (error) {
    if (!signal.aborted)
      log.warn(
        { reason: error instanceof ChannelError ? error.reason : "failed" },
        "the webhook could not be looked up",
      );
  }
}
