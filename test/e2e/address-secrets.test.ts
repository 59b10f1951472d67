/** A secret in the address of a hook is read by the check of the sender, and by nothing else. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { anotherClient, closeHookGateways, type HookGateway, jsonType, startHookGateway } from "./hook-room.ts";

afterAll(closeHookGateways);

const secret = "4f1d0b7a9c2e-of-the-address";
const signature = { scheme: "query", parameter: "key", secret };
const quiet = { deliver: false, wakeMode: "next-heartbeat" };
let room: HookGateway;

beforeAll(async () => {
  room = await startHookGateway({
    hooks: {
      mappings: [
        {
          id: "posted",
          match: { path: "posted" },
          messageTemplate: "<{{ query.key }}> <{{ query.seen }}> {{ payload }}",
          signature,
          ...quiet,
        },
        { id: "got", match: { path: "got" }, method: "GET", messageTemplate: "{{ payload }}", signature, ...quiet },
        {
          ...{ id: "tested", match: { path: "tested" }, messageTemplate: "{{ payload }}", signature },
          challenge: { method: "GET", value: "query.key" },
          ...quiet,
        },
      ],
    },
  });
});

const send = (target: string, { method = "POST", body = '{"a":1}' } = {}) =>
  room.send({
    method,
    target: `/hooks/${target}`,
    headers: [anotherClient(), jsonType],
    ...(method === "POST" && { body }),
  });

const command = async (...args: readonly string[]) =>
  (
    await run([...args, "--config", room.host.configFile, "--state", room.stateDirectory], {
      home: temporaryDirectory(),
    })
  ).out;

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });

test("the sender of the secret is accepted and any other is refused, and guesses are limited", async () => {
  expect((await send(`posted?key=${secret}&page=2`)).status).toBe(202);
  expect((await send(`posted?page=2&%6bey=${secret}`)).status).toBe(202);
  const client = anotherClient();
  const guess = (key: string) =>
    room.send({ method: "POST", target: `/hooks/posted?key=${key}`, headers: [client, jsonType], body: "{}" });
  for (let number = 0; number < 20; number += 1) expect((await guess(`guess-${number}`)).status).toBe(401);
  expect((await guess("one-more")).status).toBe(429);
  expect((await send("posted")).json).toMatchObject({ code: "signature_invalid" });
});

test("neither templates nor the payload of a GET nor the answer to a test contain it", async () => {
  await send(`posted?a=1&key=${secret}&seen=b`);
  const posted = await room.turn(({ inbound }) => inbound.text.includes("<b>"));
  expect(posted.inbound.text).toContain('<> <b> {"a":1}');
  expect((await send(`got?button=door&key=${secret}`, { method: "GET" })).status).toBe(202);
  const { inbound } = await room.turn(({ inbound }) => inbound.text.includes("door"));
  expect(inbound.text).toContain('{"button":"door"}');
  expect((await send(`tested?key=${secret}`, { method: "GET" })).status).toBe(405);
});

test("hooks send --sign adds it to the address, and does not print it", async () => {
  const file = join(temporaryDirectory(), "delivery.json");
  writeFileSync(file, '{"sent":"by hand"}');
  const out = await command("hooks", "send", "posted", file, "--sign");
  expect(out).toMatch(/^202 from .*\/hooks\/posted, with signature query$/m);
  expect(out).not.toContain("key");
});

test("it is in no file of the state, no log, no list of deliveries, no trace and no metrics", async () => {
  const { json } = await send(`posted?key=${secret}&seen=yes`);
  const { eventId } = json as { readonly eventId: string };
  await room.turn(({ inbound }) => inbound.text.includes("<yes>"));
  await send(`posted?key=${secret}x`);
  const shown = [
    await command("why", eventId, "--json"),
    await command("why", "last"),
    await command("hooks", "show", eventId, "--json"),
    await command("hooks", "deliveries", "--json"),
    await command("hooks", "list", "--json"),
    await command("logs"),
  ].join("\n");
  expect(shown).toContain('"seen"');
  expect(shown).not.toMatch(/4f1d0b7a9c2e|"key"/);
  const written = filesBelow(room.stateDirectory).filter((path) => readFileSync(path).includes("4f1d0b7a9c2e"));
  expect(written).toEqual([]);
});
