import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, repeat, startGateway } from "../../support/gateway.ts";

const channels = { loopback: { dmPolicy: "open", allowFrom: ["*"] } };

/** An event that a gateway took in and did not come to answer. */
async function leaveBehind(directory: string): Promise<string> {
  const loopback = createLoopback();
  const stuck = createEngine(() => new Promise(() => {}));
  const { gateway } = await startGateway({
    directory,
    config: { gateway: { port: 0, drainSeconds: 0 }, channels },
    plugins: [loopback.plugin, stuck],
  });
  const id = await loopback.say("hello");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await gateway.close();
  return id;
}

async function stateOf(
  directory: string,
  id: string,
): Promise<{ readonly state?: string; readonly attempts?: number }> {
  const store = await openSqliteStore({ directory: join(directory, "state"), now: Date.now });
  const report = await store.event(id);
  await store.close();
  return report ?? {};
}

// Both wait until what was put off is looked at again; they do so together.
test.concurrent("an error in a channel's section loses no waiting message: a correction sends each answer", async ({
  onTestFinished,
}) => {
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const id = await leaveBehind(directory);
  const broken = createLoopback();
  const second = await startGateway({
    directory,
    config: { channels: { loopback: { ...channels.loopback, dmPolicy: 5 } } },
    plugins: [broken.plugin, repeat],
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  await second.gateway.close();
  expect(await stateOf(directory, id)).toMatchObject({ state: "waiting" });

  const mended = createLoopback();
  const third = await startGateway({ directory, config: { channels }, plugins: [mended.plugin, repeat] });
  expect(await third.settled(id)).toMatchObject({ outcome: "answered" });
  expect(mended.sent).toEqual([{ chat: "7", text: "heard: hello" }]);
  await third.gateway.close();
});

test.concurrent("messages waiting for an account continue without a restart after the configuration is fixed", async ({
  onTestFinished,
}) => {
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const id = await leaveBehind(directory);
  const loopback = createLoopback();
  const running = await startGateway({
    directory,
    config: { channels: { loopback: { ...channels.loopback, dmPolicy: 5 } } },
    plugins: [loopback.plugin, repeat],
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  writeFileSync(running.configFile, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, channels }));
  expect(await running.settled(id)).toMatchObject({ outcome: "answered" });
  await running.gateway.close();
});
