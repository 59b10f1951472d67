/** Connections that Slack refuses, and texts that are meant to cost time. */
import { aroundEach, describe, test } from "vitest";
import { readText } from "../../../plugins/slack/receive/text.ts";
import { hostileFamilies } from "../../support/hostile-texts.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { openSlack } from "./bench.ts";

aroundEach(inOwnTest);

describe.concurrent("a connection", () => {
  test("Socket Mode that is switched off is said, and tried again", async () => {
    const { server, state } = await openSlack();
    server.delivery.refresh("link_disabled");
    await expect
      .poll(state)
      .toMatchObject({ state: "waiting", code: "socket_mode_off", hint: expect.stringContaining("Socket Mode") });
    await expect.poll(state, { timeout: 5_000 }).toMatchObject({ state: "connected" });
  });

  test.each([
    ["invalid_auth", "wrong or was revoked"],
    ["account_inactive", "removed from the workspace"],
    ["token_expired", "token rotation"],
  ])("%s ends the account with what to press", async (error, hint) => {
    const { server, state } = await openSlack();
    server.refusal = error;
    server.delivery.cut();
    await expect
      .poll(state, { timeout: 5_000 })
      .toMatchObject({ state: "failed", code: "unauthorized", hint: expect.stringContaining(hint) });
  });
});

test.each(hostileFamilies.map((family) => [family.name, family] as const))(
  "a hostile text takes no time: %s",
  (_, family) => {
    const began = process.cpuUsage();
    readText(family.make(40_000), { me: "U0BOT0001", people: {} });
    const { user } = process.cpuUsage(began);
    expect(user).toBeLessThan(2_000_000);
  },
);
