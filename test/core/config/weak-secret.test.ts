import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { removeDirectory } from "../../support/directory.ts";
import { repeat, startGateway, type TestGateway } from "../../support/gateway.ts";

let running: TestGateway | undefined;
afterEach(async () => {
  await running?.gateway.close();
  if (running !== undefined) removeDirectory(running.directory);
  running = undefined;
});

const post = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = '{"text":"up","mode":"next-heartbeat"}';
  return (await fetch(`${running?.gateway.url}/hooks/wake`, { method: "POST", headers, body })).status;
};

test("a gateway with short tokens starts and warns of each; the tokens are never shown", async () => {
  running = await startGateway({
    config: { gateway: { port: 0, auth: { token: "weak-gateway" } }, hooks: { enabled: true, token: "weak-hook" } },
    plugins: [repeat],
  });
  const { problems } = await running.gateway.describe();
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual(["warning gateway.auth.token", "warning hooks.token"]);
  expect(JSON.stringify(problems)).not.toMatch(/weak-gateway|weak-hook/);
  expect(await post("weak-hook")).toBe(200);
  const logged = readFileSync(join(running.gateway.stateDirectory, "logs", "gateway.log"), "utf8").split("\n");
  expect(logged.filter((line) => line.includes("has fewer than 16 characters"))).toHaveLength(2);
});

test("a literal token is trimmed as one of the environment is", async () => {
  running = await startGateway({ config: { hooks: { enabled: true, token: "  the-hook-token-of-the-test\n" } }, plugins: [repeat] });
  expect(await post("the-hook-token-of-the-test")).toBe(200);
});

test("a blank token leaves the hook server off", async () => {
  running = await startGateway({ config: { hooks: { enabled: true, token: "   " } }, plugins: [repeat] });
  expect(await post("   ")).toBe(404);
  expect((await running.gateway.describe()).problems).toMatchObject([{ severity: "error", path: "hooks.token", section: "hooks" }]);
});
