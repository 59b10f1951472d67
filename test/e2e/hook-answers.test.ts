import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type ChannelAccount, defineChannel, Type } from "../../core/sdk/contract.ts";
import { createTestHost } from "../../core/testkit/index.ts";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { senderOf } from "../support/senders.ts";
import { anotherClient, closeHookGateways, hookToken, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const standard = senderOf("standard-webhooks");
const github = senderOf("github");

const room = await startHookGateway({
  hooks: {
    mappings: [
      {
        match: { path: "std" },
        messageTemplate: "{{ text }}",
        deliver: false,
        signature: { ...standard.settings, secret: standard.secret },
      },
      {
        id: "pushes",
        match: { path: "gh" },
        messageTemplate: "{{ text }}",
        deliver: false,
        signature: { ...github.settings, secret: github.secret },
      },
    ],
  },
});

const send = (path: string, sent: { readonly headers: Record<string, string>; readonly body: Buffer }) =>
  room.send({ target: `/hooks/${path}`, headers: Object.entries(sent.headers), body: sent.body });

const log = () => readFileSync(join(room.stateDirectory, "logs", "gateway.log"), "utf8");

const why = async (...args: readonly string[]) =>
  (
    await run(["why", ...args, "--config", room.host.configFile, "--state", room.stateDirectory], {
      home: temporaryDirectory(),
    })
  ).out;

test("unknown items beside a valid signature are ignored, and alone they are rejected", async () => {
  const sent = standard.send({ at: Date.now(), id: "msg_1" });
  const right = sent.headers[standard.header] ?? "";
  const odd = ["v9,§", "v1", "v1,not base64", "x", "v1a,AAAA", "hello=world"];
  const withSignature = (value: string, id: string) => {
    const fresh = standard.send({ at: Date.now(), id });
    return {
      ...fresh,
      headers: { ...fresh.headers, [standard.header]: value.replace(right, fresh.headers[standard.header] ?? "") },
    };
  };
  for (const [index, item] of odd.entries()) {
    expect((await send("std", withSignature(`${item} ${right}`, `before_${index}`))).status, item).toBe(202);
    expect((await send("std", withSignature(`${right} ${item}`, `behind_${index}`))).status, item).toBe(202);
    expect((await send("std", withSignature(item, `alone_${index}`))).status, item).toBe(401);
  }
});

test("a run without a session key gets hook: and a UUID", async () => {
  await room.post("agent", { message: "which session is this", deliver: false });
  const turn = await room.turn(({ inbound }) => inbound.text.includes("which session is this"));
  expect(turn.sessionKey).toMatch(/^hook:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("the error for an unknown channel lists the existing ones", async () => {
  const { json } = await room.post("agent", { message: "x", channel: "pigeon" });
  expect(json).toMatchObject({ code: "channel_unknown", error: "channel must be last or loopback." });
});

test("responses about results forbid caching, found or not", async () => {
  const { json } = await room.post("agent", { message: "a result", deliver: false });
  const results = [
    await room.send({ method: "GET", target: `/hooks/runs/${json?.runId}` }),
    await room.send({ method: "GET", target: "/hooks/runs/none" }),
  ];
  expect(results.map(({ status, headers }) => [status, headers["cache-control"]])).toEqual([
    [200, "no-store"],
    [404, "no-store"],
  ]);
  const waited = await room.post("agent", { message: "a result to wait for", deliver: false }, [["prefer", "wait=10"]]);
  expect(waited).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
});

test("match.path * is an error with a remedy", async () => {
  const file = join(temporaryDirectory(), "config.jsonc");
  writeFileSync(
    file,
    JSON.stringify({
      hooks: { enabled: true, token: hookToken, mappings: [{ match: { path: "*" }, messageTemplate: "x" }] },
    }),
  );
  const { code, out } = await run(["config", "validate", "--config", file], { home: temporaryDirectory() });
  expect(code).toBe(1);
  expect(out).toContain('hooks.mappings[0].match.path: is "*", and paths have no wildcards');
  expect(out).toContain("Leave match.path out to take every name.");
});

test("why names the mapping and the signature of a delivery", async () => {
  const { json } = await send("gh", github.send({ at: Date.now(), id: "why" }));
  await room.host.settled(String(json?.eventId));
  const told = await why(String(json?.eventId));
  expect(told).toMatch(/mapping +pushes/);
  expect(told).toMatch(/let in by +signature github verified/);
});

test("a rejected signature is logged at the default level as missing, wrong or old, and why reports it", async () => {
  const sent = standard.send({ at: Date.now(), id: "f" });
  const old = standard.send({ at: Date.now() - 3_600_000, id: "f" });
  const { [standard.header]: _, ...unsigned } = sent.headers;
  const faults = [
    ["missing", { ...sent, headers: unsigned }, /The signature is missing: the header webhook-signature is missing/],
    ["wrong", { ...sent, body: Buffer.from("{}") }, /The signature is wrong: the signature does not match/],
    ["old", old, /The signature is too old, or the clocks differ: the signature is 360\d s old, and 300 s are allowed/],
  ] as const;
  for (const [fault, request, sentence] of faults) {
    const client = anotherClient();
    const headers = [...Object.entries(request.headers), client];
    const answer = await room.send({ target: "/hooks/std", headers, body: request.body });
    expect(answer).toMatchObject({ status: 401, json: { error: "The signature is missing, wrong or too old." } });
    const line = () =>
      log()
        .split("\n")
        .find((one) => one.includes("a signature was not accepted") && one.includes(`"${client[1]}"`));
    await expect.poll(line).toContain(`a signature was not accepted: ${fault}`);
    expect(JSON.parse(line() ?? "{}")).toMatchObject({ hook: "std", client: client[1], fault });
    await expect.poll(() => why("last")).toMatch(sentence);
  }
});

/** It takes every event in, and recognizes none. */
const deaf = (receive: (account: ChannelAccount<object>) => void) =>
  defineChannel({
    id: "deaf",
    version: "1.0.0",
    host: "*",
    options: Type.Object({}),
    capabilities: { maxChars: 100, markup: "plain" },
    open(account) {
      receive(account);
      return {
        async start() {},
        parse: () => undefined,
        render: () => [],
        send: async () => ({ messageId: "1" }),
        async close() {},
      };
    },
  });

test("why reports that junk on an open channel requires no change", async () => {
  let account: ChannelAccount<object> | undefined;
  const channel = deaf((given) => {
    account = given;
  });
  await using host = await createTestHost({
    plugins: [channel],
    config: { channels: { deaf: { dmPolicy: "open", allowFrom: ["*"] } } },
  });
  const { eventId = "" } = (await account?.receive({ unheard: "of" }, { id: "1", lane: "deaf:default:junk" })) ?? {};
  await host.settled(eventId);
  const { out: told } = await run(["why", eventId, "--config", host.configFile], { home: temporaryDirectory() });
  expect(told).toContain("failed (no_ingress)");
  expect(told).toContain("account default of the channel deaf does not recognize the event");
  expect(told).toContain("No setting changes that");
  expect(told).not.toContain("Load the plugin");
});
