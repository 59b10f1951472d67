/** `/readyz` over the life of a gateway: accounts hold it back until they have tried, and never take it away again. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { firstAttempts } from "../../core/cli/start/gateway.ts";
import { createLoopback, repeat, startGateway } from "../support/gateway.ts";

test("an account that never connected makes readyz fail; one that fails later degrades it", async () => {
  const loopback = createLoopback({ connects: false });
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const channels = { loopback: { accounts: { one: open } } };
  const { gateway, configFile, directory } = await startGateway({
    config: { channels },
    plugins: [loopback.plugin, repeat],
  });
  onTestFinished(() => gateway.close());
  const token = readFileSync(join(directory, "state", "gateway-token"), "utf8").trim();
  const readyz = async (headers: Record<string, string> = {}): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`${gateway.url}/readyz`, { headers });
    return [answer.status, await answer.json()];
  };
  const detailed = () => readyz({ authorization: `Bearer ${token}` });

  expect(await readyz()).toEqual([503, { ok: false }]);
  expect(await detailed()).toEqual([
    503,
    expect.objectContaining({ ok: false, reasons: ["loopback:one is connecting"] }),
  ]);

  loopback.report({ state: "waiting", detail: "the platform does not answer" });
  expect(await readyz()).toEqual([200, { ok: true }]);
  const degraded = { ok: true, degraded: true, reasons: ["loopback:one is waiting: the platform does not answer"] };
  expect(await detailed()).toEqual([200, degraded]);

  loopback.report({ state: "connected" });
  expect(await detailed()).toEqual([200, { ok: true }]);
  for (const state of ["connecting", "failed", "stopped"] as const) {
    loopback.report({ state });
    expect(await detailed()).toEqual([200, { ok: true, degraded: true, reasons: [`loopback:one is ${state}`] }]);
  }

  // An account that is added later has not tried yet, and takes the gateway from nobody either.
  const config = JSON.parse(readFileSync(configFile, "utf8")) as object;
  writeFileSync(
    configFile,
    JSON.stringify({ ...config, channels: { loopback: { accounts: { one: open, two: open } } } }),
  );
  await expect
    .poll(async () => (await detailed())[1])
    .toMatchObject({ reasons: expect.arrayContaining(["loopback:two is connecting"]) });
  expect(await readyz()).toEqual([200, { ok: true }]);
});

test("the ready line of the gateway waits for the first attempt of each account, but not for long", async () => {
  const loopback = createLoopback({ connects: false });
  const channels = { loopback: { accounts: { one: { dmPolicy: "open", allowFrom: ["*"] } } } };
  const { gateway } = await startGateway({ config: { channels }, plugins: [loopback.plugin, repeat] });
  onTestFinished(() => gateway.close());
  const stopping = new AbortController();
  expect(await firstAttempts(gateway, stopping.signal, 100)).toEqual(["loopback:one is connecting"]);

  let isOver = false;
  const waiting = firstAttempts(gateway, stopping.signal, 60_000).finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isOver).toBe(false);
  loopback.report({ state: "waiting", detail: "the platform does not answer" });
  expect(await waiting).toEqual([]);
});

test("a gateway that is to stop does not wait for its accounts", async () => {
  const never = { readiness: () => ({ ready: false, reasons: [], tried: false }) };
  const stopping = new AbortController();
  const waiting = firstAttempts(never, stopping.signal, 60_000);
  stopping.abort();
  expect(await waiting).toEqual([]);
});
