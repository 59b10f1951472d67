/** Methods for receiving updates, by polling or webhook, and for the bot's identity. */
import type { Call, Method } from "../core.ts";
import { badRequest, conflict } from "../errors.ts";
import type { Feed } from "../feed.ts";
import { allowedKinds } from "../feed.ts";
import { flagOf, jsonOf, numberOf, textOf } from "../params.ts";
import type { Webhook } from "../webhook.ts";

function feedOf(call: Call): Feed {
  return call.core.feeds.get(call.bot.user.id) as Feed;
}

function webhookOf(call: Call): Webhook {
  return call.core.webhooks.get(call.bot.user.id) as Webhook;
}

const getMe: Method = (call) => ({
  ...call.bot.user,
  can_join_groups: true,
  can_read_all_group_messages: !call.bot.privacy,
  supports_inline_queries: false,
  can_connect_to_business: false,
  has_main_web_app: false,
});

const getUpdates: Method = (call) => {
  if (webhookOf(call).active()) {
    throw conflict(
      "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
  }
  const feed = feedOf(call);
  feed.allow(allowedKinds(jsonOf(call.params, "allowed_updates", "allowed updates")));
  return feed.poll({
    offset: numberOf(call.params, "offset"),
    limit: numberOf(call.params, "limit"),
    timeoutSeconds: numberOf(call.params, "timeout"),
    onGone: call.onGone,
  });
};

const setWebhook: Method = (call) => {
  const feed = feedOf(call);
  const url = textOf(call.params, "url") ?? "";
  const secret = textOf(call.params, "secret_token");
  const connections = numberOf(call.params, "max_connections");
  const kinds = allowedKinds(jsonOf(call.params, "allowed_updates", "allowed updates"));
  if (url !== "") {
    if (secret !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(secret))
      throw badRequest("secret token contains unallowed characters");
    checkTarget(url);
  }
  feed.allow(kinds);
  if (flagOf(call.params, "drop_pending_updates")) feed.clear();
  feed.interrupt("setWebhook");
  webhookOf(call).set(
    url === "" ? undefined : { url, secret, maxConnections: Math.min(Math.max(connections ?? 40, 1), 100) },
  );
  return true;
};

/** Accepts only URLs of this machine. Like a local server of the platform, it accepts plain HTTP and any port. */
function checkTarget(target: string): void {
  let url: URL;
  try {
    url = new URL(target);
  } catch {
    throw badRequest("bad webhook: invalid URL specified");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw badRequest("bad webhook: An HTTPS URL must be provided for webhook");
  if (!["127.0.0.1", "localhost", "[::1]"].includes(url.hostname)) {
    throw badRequest("bad webhook: the playground reaches loopback addresses only");
  }
}

const deleteWebhook: Method = (call) => {
  if (flagOf(call.params, "drop_pending_updates")) feedOf(call).clear();
  webhookOf(call).set(undefined);
  return true;
};

const getWebhookInfo: Method = (call) => {
  const allowed = feedOf(call).allowed();
  return {
    ...webhookOf(call).info(),
    has_custom_certificate: false,
    pending_update_count: feedOf(call).pending(),
    ...(allowed === undefined ? {} : { allowed_updates: allowed }),
  };
};

export const feedMethods = { getMe, getUpdates, setWebhook, deleteWebhook, getWebhookInfo };
