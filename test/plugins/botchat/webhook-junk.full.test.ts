/** Requests to the webhook of a bot whose bodies are no update, from a caller that has the secret. */
import { expect, test } from "vitest";
import { burst } from "../../support/junk.ts";
import { sendJunkRequests } from "../../support/junk-requests.ts";
import { freePort } from "../../support/ports.ts";
import { createTestAccount, openConnection, until } from "./account.ts";
import { ada, openPlatform, quick, token } from "./platform.ts";

test("10,000 in a row are refused, and the next update arrives", async () => {
  const platform = await openPlatform({ webhookRetryMs: 20 });
  const port = await freePort();
  const [webhookUrl, webhookSecret] = [`http://127.0.0.1:${port}/telegram-webhook`, "webhook-secret-1"];
  const account = createTestAccount({
    ...{ botToken: token, apiRoot: platform.url, polling: quick, webhookUrl, webhookSecret, webhookPort: port },
  });
  await openConnection(account).start();
  await until(() => account.statuses.at(-1)?.state === "connected", "the registration");
  const statuses = await sendJunkRequests(webhookUrl, {
    headers: { "x-telegram-bot-api-secret-token": webhookSecret },
  });
  // 413: a megabyte and its quotes are more than a body may have.
  expect(Object.keys(statuses).filter((status) => !["400", "413"].includes(status))).toEqual([]);
  expect(statuses["400"]).toBeGreaterThanOrEqual(burst);
  expect(account.received).toHaveLength(0);
  platform.act.say(ada, ada, "still there?");
  await until(() => account.received.length === 1, "the update");
  // What a caller sends is no fault of the gateway.
  expect(account.logs.filter(({ level }) => level !== "debug").length).toBeLessThan(5);
});
