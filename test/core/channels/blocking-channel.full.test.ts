/** A channel that holds the event loop: the log names its plugin and the call, wherever the core makes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { createDesk, type Desk } from "../../support/faults.ts";

/** Keeps the event loop waiting, without work that other tests would wait for. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_250);
}

async function startWith({ plugin }: Desk): Promise<TestHost> {
  const host = await createTestHost({
    plugins: [plugin],
    config: { channels: { desk: { dmPolicy: "open", allowFrom: ["*"] } } },
  });
  onTestFinished(() => host.close());
  return host;
}

test.each(["parse", "render", "send"] as const)(
  "the log names the plugin that blocks the event loop in %s",
  async (call) => {
    let blocked = false;
    const desk = createDesk((_, good) => ({
      [call]: (...args: readonly never[]) => {
        if (!blocked) block();
        blocked = true;
        return (good[call] as (...args: readonly never[]) => unknown)(...args);
      },
    }));
    const host = await startWith(desk);
    await host.settled(await desk.say("hi"));
    const log = () => readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8");
    await vi.waitFor(() => expect(log()).toContain("the event loop was blocked"), { timeout: 60_000 });
    expect(log()).toMatch(
      new RegExp(
        `"plugin":"acme","hook":"${call} of desk:default".*blocked for 1.[0-9] s by the plugin acme at ` +
          `${call} of desk:default`,
      ),
    );
  },
);

test("the log names the plugin that blocks the event loop in send after an await", async () => {
  const desk = createDesk((_, good) => ({
    async send(...args) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      block();
      return await good.send(...args);
    },
  }));
  const host = await startWith(desk);
  await host.settled(await desk.say("hi"));
  const log = () => readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8");
  await vi.waitFor(() => expect(log()).toContain("a tap of acme at send of desk:default was running"), {
    timeout: 60_000,
  });
});
