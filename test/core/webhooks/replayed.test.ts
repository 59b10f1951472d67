/** Captured requests that are sent again, against a whole gateway. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, startGateway, type TestGateway } from "../../support/gateway.ts";
import { type SentHook, senderOf } from "../../support/senders.ts";
import { temporaryHome } from "../cli/command.ts";
import { run } from "../cli/command-runner.ts";
import { type Answer, hookToken, toAnswer } from "../http/fixture.ts";

const at = Date.now();
const names = ["github", "shopify", "bitbucket", "sentry", "gitlab", "hmac"] as const;
const bodyOnce = "hmac-once";

let clock = at;
let gateway: TestGateway;
const turns: string[] = [];

beforeAll(async () => {
  const mapping = (path: string, settings: object) => ({
    id: path,
    match: { path },
    messageTemplate: "{{ text }}",
    deliver: false,
    signature: settings,
  });
  const engine = createEngine((turn) => {
    if (turn.inbound.kind === "hook") turns.push(turn.inbound.text);
    return "done";
  });
  gateway = await startGateway({
    plugins: [engine],
    gateway: { now: () => clock },
    config: {
      hooks: {
        enabled: true,
        token: hookToken,
        mappings: [
          ...names.map((name) => mapping(name, { ...senderOf(name).settings, secret: senderOf(name).secret })),
          mapping(bodyOnce, { ...senderOf("hmac").settings, secret: senderOf("hmac").secret, dedupe: "body" }),
        ],
      },
    },
  });
});
afterAll(async () => {
  await gateway.gateway.close();
  removeDirectory(gateway.directory);
});

const post = async (path: string, sent: SentHook): Promise<Answer> =>
  toAnswer(
    await fetch(`${gateway.gateway.url}/hooks/${path}`, {
      method: "POST",
      headers: sent.headers,
      body: new Uint8Array(sent.body),
    }),
  );

/** The same request under other ids, and with headers that nobody signed. */
const replays = (sent: SentHook): readonly SentHook[] =>
  ["1", "2", "3", "4", "5"].map((id) => ({
    ...sent,
    headers: Object.fromEntries(
      Object.entries({ ...sent.headers, "idempotency-key": id, "webhook-id": id }).map(([name, value]) =>
        /delivery|webhook-id|uuid|request-id/.test(name) ? [name, id] : [name, value],
      ),
    ),
  }));

const service = (...args: readonly string[]) =>
  run([...args, "--config", gateway.configFile, "--state", gateway.gateway.stateDirectory], { home: temporaryHome() });

describe("without a signed time", () => {
  test.each(["github", "shopify", "bitbucket", "sentry"])(
    "a captured request of %s runs once, under any delivery id",
    async (name) => {
      const sent = senderOf(name).send({ at, body: `{"text":"captured from ${name}"}` });
      const first = await post(name, sent);
      expect(first.status).toBe(202);
      for (const replay of replays(sent)) expect((await post(name, replay)).text).toBe(first.text);
      clock = at + 6.9 * 86_400_000;
      for (const replay of replays(sent)) expect((await post(name, replay)).text).toBe(first.text);
      clock = at;
      await gateway.settled(String(first.json.eventId));
      expect(turns.filter((text) => text.includes(`captured from ${name}`))).toHaveLength(1);
    },
  );

  test.each([...names])("the same id of %s with another signed body is a new event", async (name) => {
    const sender = senderOf(name);
    const send = (body: string) => post(name, sender.send({ at, id: "one-id", body }));
    const first = await send('{"text":"the first"}');
    const second = await send('{"text":"the second"}');
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.json.eventId).not.toBe(first.json.eventId);
  });
});

describe("equal bodies under hmac", () => {
  const sent = senderOf("hmac").send({ at, body: '{"text":"backup_done"}' });

  test("are two events if they have no id", async () => {
    const [first, second] = [await post("hmac", sent), await post("hmac", sent)];
    expect(second.status).toBe(202);
    expect(second.json.eventId).not.toBe(first.json.eventId);
  });

  test("are one event for a week with dedupe set to body", async () => {
    const first = await post(bodyOnce, sent);
    expect((await post(bodyOnce, sent)).text).toBe(first.text);
    clock = at + 7 * 86_400_000 + 1_000;
    expect((await post(bodyOnce, sent)).json.eventId).not.toBe(first.json.eventId);
    clock = at;
  });
});

describe("a repeated delivery is recorded", () => {
  test("in the list of deliveries, in why, and as the latest activity", async () => {
    const sent = senderOf("github").send({ at, body: '{"text":"seen again"}' });
    const { eventId } = (await post("github", sent)).json as { readonly eventId: string };
    await gateway.settled(eventId);
    clock = at + 60_000;
    for (const replay of replays(sent).slice(0, 3)) await post("github", replay);
    await expect
      .poll(async () => JSON.parse((await service("hooks", "show", eventId, "--json")).out).repeated)
      .toEqual({ count: 3, at: clock });
    const listed = JSON.parse((await service("hooks", "deliveries", "--json")).out) as {
      readonly deliveries: readonly { readonly id: string; readonly repeated?: object }[];
    };
    expect(listed.deliveries.find(({ id }) => id === eventId)?.repeated).toMatchObject({ count: 3 });
    expect((await service("hooks", "deliveries")).out).toContain("came 3 more");
    expect((await service("why", eventId)).out).toMatch(/again +came 3 times, last/);
    const last = (await service("why", "last")).out;
    expect(last).toMatch(/^repeated \(the delivery arrived before\)/);
    expect(last).toContain(eventId);
    clock = at;
  });

  test("for an endpoint too, with the hook token and an Idempotency-Key", async () => {
    const wake = async () => {
      const answer = await fetch(`${gateway.gateway.url}/hooks/wake`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${hookToken}`,
          "content-type": "application/json",
          "idempotency-key": "wake-1",
        },
        body: '{"text":"up","mode":"next-heartbeat"}',
      });
      return (await answer.json()) as { readonly eventId: string };
    };
    const { eventId } = await wake();
    expect((await wake()).eventId).toBe(eventId);
    await expect
      .poll(async () => JSON.parse((await service("hooks", "show", eventId, "--json")).out).repeated)
      .toMatchObject({ count: 1 });
  });
});
