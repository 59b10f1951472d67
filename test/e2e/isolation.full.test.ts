/**
 * Gateways in one process: each with its own events, plugins, commands, secrets and log, and nothing left when they are
 * closed.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { definePlugin } from "../../core/sdk/contract.ts";
import { createPlatform } from "../../plugins/playground/platform/index.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { postHook } from "./room.ts";

function neighbour(name: string) {
  const settled: string[] = [];
  const keeper = definePlugin({
    id: "keeper",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.command({ name: `only_${name}`, summary: name, role: "anyone", run: async () => `I am ${name}` });
      host.route({
        method: "GET",
        path: "/keeper",
        access: "public",
        handler: async () => ({ status: 200, body: name }),
      });
      host.tap("settled", async (record) => {
        settled.push(record.eventId);
        await host.store.set("name", name);
      });
    },
  });
  const directory = temporaryDirectory();
  onTestFinished(() => removeDirectory(directory));
  const open = () =>
    createTestHost({
      directory,
      config: { log: { level: "debug" }, hooks: { token: `hook-secret-of-${name}` }, plugins: { load: [] } },
      plugins: [keeper],
      answer: ({ inbound }) => `${name} heard: ${inbound.text}`,
    });
  return { name, directory, settled, open };
}

test("two gateways with the same configuration share nothing, and one continues when the other closes", async () => {
  const [left, right] = [neighbour("left"), neighbour("right")];
  const [one, two] = await Promise.all([left.open(), right.open()]);
  onTestFinished(() => one.close());
  onTestFinished(() => two.close());
  expect(one.url).not.toBe(two.url);

  // The same sender, the same update id: two events.
  await Promise.all([one.say("hello", { id: "1" }), two.say("hello", { id: "1" })]);
  expect(one.outbox().map(({ text }) => text)).toEqual(["left heard: hello"]);
  expect(two.outbox().map(({ text }) => text)).toEqual(["right heard: hello"]);
  // Observers are not waited for.
  await expect.poll(() => left.settled).toHaveLength(1);
  await expect.poll(() => right.settled).toHaveLength(1);
  expect(left.settled).not.toEqual(right.settled);

  await two.say("/only_left");
  await two.say("/only_right");
  expect(
    two
      .outbox()
      .slice(1)
      .map(({ text }) => text),
  ).toEqual(["right heard: /only_left", "I am right"]);
  expect(await (await fetch(`${one.url}/keeper`)).text()).toBe("left");
  expect(await (await fetch(`${two.url}/keeper`)).text()).toBe("right");
  const wake = (url: string, token: string) =>
    postHook(url, "wake", { text: "x", mode: "next-heartbeat" }, token).then(({ status }) => status);
  expect(await wake(one.url, "hook-secret-of-left")).toBe(200);
  expect(await wake(one.url, "hook-secret-of-right")).toBe(401);

  await one.close();
  expect(await wake(two.url, "hook-secret-of-right")).toBe(200);
  expect(await (await two.fetch("/readyz")).json()).toEqual({ ok: true });
  await two.say("still there?");
  expect(two.outbox().at(-1)?.text).toBe("right heard: still there?");
  await expect(fetch(`${one.url}/healthz`)).rejects.toThrow();
  await two.close();
  const log = (directory: string) => readFileSync(join(directory, "state", "logs", "gateway.log"), "utf8");
  expect(log(left.directory)).not.toMatch(new RegExp(`hook-secret|${two.url}`));
  expect(log(right.directory)).not.toMatch(new RegExp(`hook-secret|${one.url}`));
});

test("a program exits by itself after closing its gateways", async () => {
  const bots = ["4301:first", "4302:second"].map((token, index) => ({
    token,
    username: `bot_${index}_bot`,
    name: `Bot ${index}`,
  }));
  const platform = await createPlatform({ bots });
  onTestFinished(() => platform.close());
  const args = [join(import.meta.dirname, "embedder.ts"), platform.url, ...bots.map(({ token }) => token)];
  // One that does not is ended after this time, which is an error.
  const ended = await new Promise<{ readonly out: string; readonly err: string }>((resolve) => {
    execFile(process.execPath, args, { timeout: 60_000 }, (error, out, err) =>
      resolve({ out, err: `${err}${error?.message ?? ""}` }),
    );
  });
  expect(ended.err).toBe("");
  expect(ended.out).toBe("closed []\n");
});
