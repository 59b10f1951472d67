/** Events that Slack posts to the gateway, and what others post there. */
import { createHmac } from "node:crypto";
import { aroundEach, describe, test } from "vitest";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { botToken, signingSecret } from "../../support/slack/server.ts";
import { ada, adaDirect, team } from "../../support/slack/world.ts";
import { openSlack, type SlackBench } from "./bench.ts";

aroundEach(inOwnTest);

const options = { botToken, appToken: undefined, signingSecret };

async function openPosted(more: object = {}) {
  const bench = await openSlack({ options: { ...options, ...more } });
  bench.server.delivery.postTo = `${bench.host.url}/channels/slack/default/events`;
  return bench;
}

const event = (of: object = {}) => ({
  ...{ type: "event_callback", team_id: team, event_id: "Ev1", authorizations: [{ team_id: team }] },
  event: { type: "message", channel: adaDirect, user: ada, text: "Hello", ts: "1760000000.000100" },
  ...of,
});

async function post(
  { host }: Pick<SlackBench, "host">,
  body: string,
  { secret = signingSecret, at = Date.now(), path = "default/events", signature = "" } = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const time = String(Math.floor(at / 1_000));
  const right = `v0=${createHmac("sha256", secret).update(`v0:${time}:${body}`).digest("hex")}`;
  const response = await fetch(`${host.url}/channels/slack/${path}`, {
    method: "POST",
    body,
    headers: { "x-slack-request-timestamp": time, "x-slack-signature": signature || right },
  });
  return { status: response.status, text: await response.text() };
}

describe.concurrent("posted events", () => {
  test("are stored before they are confirmed, and a repetition is never skipped nor answered twice", async () => {
    const { server, seen, ends } = await openPosted();
    server.people.say("Hello");
    await expect.poll(() => seen()).toEqual(["heard: Hello"]);
    server.delivery.repeat();
    server.people.press("go");
    await expect.poll(() => ends.length).toBe(2);
    await expect.poll(() => server.delivery.confirmed.filter(({ kind }) => kind === "interactive").length).toBe(1);
    expect(seen().filter((text) => text === "heard: Hello")).toHaveLength(1);
  });

  test("the address is verified by the challenge, only if it is signed", async () => {
    const bench = await openPosted();
    const body = JSON.stringify({ type: "url_verification", challenge: "c-4711", token: "old" });
    expect(await post(bench, body)).toEqual({ status: 200, text: "c-4711" });
    expect((await post(bench, body, { secret: "another" })).status).toBe(401);
  });

  test.each([
    ["forged", { secret: "another-secret" }],
    ["without a signature", { signature: "v0=" }],
    ["signed by the old version", { signature: "v1=00" }],
    ["older than five minutes", { at: Date.now() - 400_000 }],
    ["from the future", { at: Date.now() + 400_000 }],
  ])("a request that is %s is refused, and nothing is received", async (_, how) => {
    const bench = await openPosted();
    expect((await post(bench, JSON.stringify(event()), how)).status).toBe(401);
    expect((await post(bench, JSON.stringify(event()))).status).toBe(200);
    await expect.poll(() => bench.seen()).toEqual(["heard: Hello"]);
  });

  test("a request with a changed body has the signature of another one", async () => {
    const bench = await openPosted();
    const body = JSON.stringify(event());
    const time = String(Math.floor(Date.now() / 1_000));
    const signature = `v0=${createHmac("sha256", signingSecret).update(`v0:${time}:${body}`).digest("hex")}`;
    expect((await post(bench, body.replace("Hello", "Hullo"), { signature })).status).toBe(401);
  });

  test("an event of another workspace is confirmed and ignored", async () => {
    const bench = await openPosted();
    const foreign = event({ team_id: "T0FOREIGN", authorizations: [{ team_id: "T0FOREIGN" }] });
    expect((await post(bench, JSON.stringify(foreign))).status).toBe(200);
    expect((await post(bench, "not JSON")).status).toBe(400);
    expect((await post(bench, JSON.stringify(event({ event: null })))).status).toBe(200);
    expect(bench.ends).toEqual([]);
  });

  test("a replayed request is not answered again", async () => {
    const bench = await openPosted();
    const body = JSON.stringify(event());
    const at = Date.now();
    for (let time = 0; time < 3; time += 1) expect((await post(bench, body, { at })).status).toBe(200);
    await expect.poll(() => bench.seen()).toEqual(["heard: Hello"]);
    await bench.host.advance(5_000);
    expect(bench.seen()).toEqual(["heard: Hello"]);
  });

  test("the address of all workspaces names the account by its team, and another team finds none", async () => {
    const bench = await openPosted({ team });
    const path = "events";
    expect((await post(bench, JSON.stringify(event()), { path })).status).toBe(200);
    await expect.poll(() => bench.seen()).toEqual(["heard: Hello"]);
    const foreign = event({ team_id: "T0FOREIGN", authorizations: [{ team_id: "T0FOREIGN" }] });
    expect((await post(bench, JSON.stringify(foreign), { path })).status).toBe(404);
    const form = new URLSearchParams({
      team_id: team,
      command: "/ask",
      text: "why",
      user_id: ada,
      channel_id: adaDirect,
    });
    expect((await post(bench, form.toString(), { path })).status).toBe(200);
    await expect.poll(() => bench.seen()).toEqual(["heard: Hello", "heard: why"]);
  });
});
