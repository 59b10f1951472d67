/** Opens the source of updates: polling, or the account's own webhook. */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { failureOf } from "./failure.ts";
import { createGatherer } from "./gather.ts";
import { poll } from "./polling.ts";

export interface IntakeOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  /** Aborted when no more updates are wanted. */
  readonly signal: AbortSignal;
  /** Called for each update after it was accepted. */
  readonly onUpdate: (update: Json) => void;
}

/** Resolves when updates can arrive, with a promise that resolves when they no longer can. */
export async function openIntake(options: IntakeOptions): Promise<{ readonly ended: Promise<void> }> {
  const { api, account, identity } = options;
  const gatherer = await createGatherer(account);
  const intake = { ...options, gatherer };
  // A failure here only means that a later edit without changes gets a turn, so it is not logged.
  const keep = () => gatherer.keep().catch(() => {});
  const { webhookUrl: url, webhookSecret: secret = "" } = account.options;
  if (url !== undefined) {
    const { listen } = await import("./webhook.ts");
    return { ended: (await listen({ ...intake, url, secret })).closed.then(keep) };
  }
  await removeWebhook(intake);
  const ended = poll({ ...intake, api }).catch((error: unknown) => {
    account.status({ state: "failed", identity, ...failureOf(error) });
  });
  return { ended: ended.then(keep) };
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
      log.warn({ reason: error instanceof ChannelError ? error.reason : "failed" }, "the webhook could not be looked up");
  }
}
