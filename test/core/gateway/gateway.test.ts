import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, startGateway } from "../../support/gateway.ts";

const token = "hook-token-0123456789";

const wake = (url: string) =>
  fetch(`${url}/hooks/wake`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "door bell", mode: "next-heartbeat" }),
  });

test("a draining gateway asks hooks to retry later and finishes the running turn", async () => {
  const loopback = createLoopback();
  let finish = () => {};
  let began = () => {};
  const runs = new Promise<void>((resolve) => {
    began = resolve;
  });
  const engine = createEngine(async () => {
    began();
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return "done";
  });
  const { gateway, directory } = await startGateway({
    config: {
      gateway: { port: 0, drainSeconds: 10 },
      hooks: { enabled: true, token },
      channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
    },
    plugins: [loopback.plugin, engine],
  });
  expect((await wake(gateway.url)).status).toBe(200);
  await loopback.say("hello");
  await runs;
  const closed = gateway.close();
  const refused = await wake(gateway.url);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({ ok: false, code: "unavailable" });
  const own = { authorization: `Bearer ${readFileSync(join(gateway.stateDirectory, "gateway-token"), "utf8").trim()}` };
  const readyz = await fetch(`${gateway.url}/readyz`, { headers: own });
  expect(await readyz.json()).toMatchObject({ reasons: ["The gateway closes."] });
  finish();
  await closed;
  expect(loopback.sent.map(({ text }) => text)).toEqual(["done"]);
  removeDirectory(directory);
});

test("a wake is handled by the next heartbeat and ends with the same outcome", async () => {
  const loopback = createLoopback();
  const engine = createEngine(({ inbound }) =>
    inbound.request?.heartbeat === undefined ? "hi" : `events: ${inbound.request.heartbeat.events.join(", ")}`,
  );
  const { gateway, directory, settled } = await startGateway({
    config: { hooks: { enabled: true, token }, channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } },
    plugins: [loopback.plugin, engine],
  });
  await settled(await loopback.say("hello"));
  const quiet = (await (await wake(gateway.url)).json()) as { eventId: string };
  const loud = await fetch(`${gateway.url}/hooks/wake`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ text: "smoke alarm" }),
  });
  const { eventId } = (await loud.json()) as { eventId: string };
  const [first, second] = [await settled(quiet.eventId), await settled(eventId)];
  expect(first).toMatchObject({ outcome: "answered", unitId: quiet.eventId });
  expect(second).toMatchObject({ outcome: "answered", unitId: quiet.eventId });
  expect(loopback.sent.at(-1)?.text).toBe("events: door bell, smoke alarm");
  await gateway.close();
  removeDirectory(directory);
});

test("if the wakes exceed one heartbeat, the newest are shown and the others counted, in one heartbeat", async () => {
  const loopback = createLoopback();
  const told: string[] = [];
  const texts: string[] = [];
  const engine = createEngine(({ inbound }) => {
    told.push(...(inbound.request?.heartbeat?.events ?? []));
    texts.push(inbound.text);
    return "HEARTBEAT_OK";
  });
  const { gateway, directory, settled } = await startGateway({
    config: { hooks: { enabled: true, token } },
    plugins: [loopback.plugin, engine],
  });
  const ids: string[] = [];
  for (let index = 0; index < 450; index += 1) {
    const lane = "agent:main:main";
    const accepted = await gateway.receive({
      source: "hooks",
      kind: "wake",
      lane,
      authority: "hook",
      gather: { key: `heartbeat:${lane}`, due: index === 449 ? Date.now() : null },
      body: { text: `event ${index}` },
    });
    ids.push(accepted.eventId);
  }
  for (const id of [ids[0], ids[250], ids[449]]) expect((await settled(id ?? "")).outcome).toBe("silent");
  expect(texts).toHaveLength(1);
  expect(texts[0]).toContain("400 earlier events were left out");
  expect(told).toEqual(Array.from({ length: 50 }, (_, index) => `event ${index + 400}`));
  await gateway.close();
  removeDirectory(directory);
});

test("a message is answered on its own channel, regardless of the last recipient", async () => {
  const channels = [createLoopback({ id: "first" }), createLoopback({ id: "second" })] as const;
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const { gateway, directory, settled } = await startGateway({
    config: { channels: { first: open, second: open } },
    plugins: [
      ...channels.map(({ plugin }) => plugin),
      createEngine(({ inbound }) => `to ${inbound.channel}, not to another channel`),
    ],
  });
  const [first, second] = channels;
  for (const channel of [first, second, first]) await settled(await channel.say("hello"));
  expect(channels.map(({ sent }) => sent.map(({ text }) => text.split(",")[0]))).toEqual([
    ["to first", "to first"],
    ["to second"],
  ]);
  await gateway.close();
  removeDirectory(directory);
});

test("an embedded gateway can be reloaded from outside but stopped only by its program", async () => {
  const { gateway, directory } = await startGateway({ config: { gateway: { port: 0 } }, plugins: [] });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  const authorization = `Bearer ${readFileSync(join(gateway.stateDirectory, "gateway-token"), "utf8").trim()}`;
  const ask = async (what: string) => {
    const response = await fetch(`${gateway.url}/gateway/${what}`, { method: "POST", headers: { authorization } });
    return [response.status, await response.json()];
  };
  expect(await ask("reload")).toMatchObject([200, { ok: true, changed: false, waiting: [] }]);
  for (const what of ["stop", "restart"])
    expect(await ask(what)).toMatchObject([409, { ok: false, code: "gateway_embedded" }]);
  expect(gateway.readiness().ready).toBe(true);
});
