/** Nodes that share their configuration through the store. */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { usePostgres } from "../support/postgres.ts";
import { answered, createNodeGroup, hookToken, type Node, personOf, postHook, startPair } from "./node-group.ts";

const database = usePostgres();

/** Longest time in which an edit must be known to every node. */
const everywhere = { timeout: 2_000, interval: 50 };

// Again where the machine had other work.
test("a configuration edit by command or chat applies on the other node within two seconds, and on a node that joins", {
  retry: 3,
}, async () => {
  const url = database.newUrl();
  const group = await createNodeGroup(database, onTestFinished, {
    channel: { allowFrom: ["1001", "*"] },
    state: { dir: "state", store: "postgres", url, config: "store" },
    commands: { config: true },
  });
  const { platform } = group;
  const [one, two] = await startPair(group);
  const hook = async (node: Node) =>
    (await postHook(node, "agent", { message: "work", wakeMode: "next-heartbeat" })).status;
  const get = async (node: Node, path: string) => (await node.command("config", "get", path)).out.trim();
  expect([await hook(one), await hook(two)]).toEqual([202, 202]);
  expect(await one.command("config", "set", "hooks.path", "/other")).toMatchObject({ code: 0 });
  await expect.poll(() => hook(two), everywhere).toBe(404);
  expect(await two.command("config", "set", "hooks.path", "/hooks")).toMatchObject({ code: 0 });
  await expect.poll(() => hook(one), everywhere).toBe(202);

  const ada = personOf(platform);
  platform.act.say(ada, ada, "/config set agents.defaults.thinking high");
  await answered(platform, ada, /thinking/);
  const text = () => readFileSync(two.file, "utf8");
  await expect.poll(text, everywhere).toMatch(/"thinking": ?"high"/);
  expect(await get(two, "agents.defaults.thinking")).toBe("high");

  // Each file keeps what belongs to its node.
  expect(await get(one, "gateway.node")).toBe("one");
  expect(await get(two, "gateway.node")).toBe("two");
  expect(text()).toContain(new URL(url).host);
  const rows = await database.query(url, "SELECT value FROM $schema.kv WHERE namespace = 'config'");
  expect(JSON.stringify(rows)).not.toContain(new URL(url).host);

  const state = { dir: "state", store: "postgres", url, config: "store" };
  const three = await group.node("three", { config: { gateway: { port: 0, node: "three" }, state } });
  expect(await hook(three)).toBe(202);
  expect(await get(three, "hooks.token")).not.toContain(hookToken);
  expect(await get(three, "agents.defaults.thinking")).toBe("high");
});
