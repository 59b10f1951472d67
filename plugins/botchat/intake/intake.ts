/** How updates come in: by polling, or by a webhook of the account's own. */
import type { Json } from "service-gateway/sdk";
import { type ChannelAccount, ChannelError, type ChannelStatus } from "service-gateway/sdk/channel";
import type { AccountOptions } from "../options.ts";
import type { BotApi } from "../wire/api.ts";
import { createGatherer } from "./gather.ts";
import { failureDetail, poll } from "./polling.ts";

export interface IntakeOptions {
  readonly api: BotApi;
  readonly account: ChannelAccount<AccountOptions>;
  readonly identity: NonNullable<ChannelStatus["identity"]>;
  /** Aborted when no more updates are wanted. */
  readonly signal: AbortSignal;
  /** Called for each update after it was accepted. */
  readonly onUpdate: (update: Json) => void;
}

/** Resolves when updates can come in, with a promise that resolves when they no longer can. */
export async function openIntake(options: IntakeOptions): Promise<{ readonly ended: Promise<void> }> {
  const { api, account, identity } = options;
  const gatherer = await createGatherer(account);
  const intake = { ...options, gatherer };
  // If it is lost, an edit that changes nothing is reported: not worth a log line.
  const keep = () => gatherer.keep().catch(() => {});
  const { webhookUrl: url, webhookSecret: secret = "" } = account.options;
  if (url !== undefined) {
    const { listen } = await import("./webhook.ts");
    return { ended: (await listen({ ...intake, url, secret })).closed.then(keep) };
  }
  await removeWebhook(intake);
  const ended = poll({ ...intake, api }).catch((error: unknown) => {
    account.status({ state: "failed", identity, detail: failureDetail(error) });
  });
  return { ended: ended.then(keep) };
}

/** A webhook that an earlier setup left would keep every update from us. A failure here shows itself as a 409. */
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
