/** A channel that holds the event loop: the log names its plugin and the call, wherever the core makes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeDirectory } from "../../support/directory.ts";
import { createDesk } from "../../support/faults.ts";
import { repeat, startGateway } from "../../support/gateway.ts";

/** Keeps the event loop waiting, without work that other tests would wait for. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_250);
}

test.each(["parse", "render", "send"] as const)("in %s", async (call) => {
  let blocked = false;
  const desk = createDesk((_, good) => ({
    [call]: (...args: readonly never[]) => {
      if (!blocked) block();
      blocked = true;
      return (good[call] as (...args: readonly never[]) => unknown)(...args);
    },
  }));
  const config = { channels: { desk: { dmPolicy: "open", allowFrom: ["*"] } } };
  const { gateway, directory, settled } = await startGateway({ config, plugins: [desk.plugin, repeat] });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  await settled(await desk.say("hi"));
  const log = () => readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8");
  await vi.waitFor(() => expect(log()).toContain("the event loop was blocked"), { timeout: 5_000 });
  expect(log()).toMatch(
    new RegExp(`"plugin":"acme","hook":"${call} of desk:default".*blocked for 1.[0-9] s by the plugin acme at ${call} of desk:default`),
  );
});

test("in send, after it has waited", async () => {
  const desk = createDesk((_, good) => ({
    async send(...args) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      block();
      return await good.send(...args);
    },
  }));
  const config = { channels: { desk: { dmPolicy: "open", allowFrom: ["*"] } } };
  const { gateway, directory, settled } = await startGateway({ config, plugins: [desk.plugin, repeat] });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  await settled(await desk.say("hi"));
  const log = () => readFileSync(join(gateway.stateDirectory, "logs", "gateway.log"), "utf8");
  await vi.waitFor(() => expect(log()).toContain("a tap of acme at send of desk:default was running"), { timeout: 5_000 });
});
