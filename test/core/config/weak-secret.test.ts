import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";

const post = async (host: TestHost, token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return (await host.fetch("/hooks/wake", { method: "POST", headers, body: '{"text":"up","mode":"next-heartbeat"}' })).status;
};

test("a gateway with short tokens starts and warns of each; the tokens are never shown", async () => {
  await using host = await createTestHost({ config: { gateway: { auth: { token: "weak-gateway" } }, hooks: { token: "weak-hook" } } });
  const problems = await host.problems();
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual(["warning gateway.auth.token", "warning hooks.token"]);
  expect(JSON.stringify(problems)).not.toMatch(/weak-gateway|weak-hook/);
  expect(await post(host, "weak-hook")).toBe(200);
  const logged = readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8").split("\n");
  expect(logged.filter((line) => line.includes("has fewer than 16 characters"))).toHaveLength(2);
});

test("a literal token is trimmed as one of the environment is", async () => {
  await using host = await createTestHost({ config: { hooks: { token: "  the-hook-token-of-the-test\n" } } });
  expect(await post(host, "the-hook-token-of-the-test")).toBe(200);
});

test("a blank token leaves the hook server off", async () => {
  await using host = await createTestHost({ config: { hooks: { token: "   " } }, allowErrors: [/at hooks\.token|^hooks\.token/] });
  expect(await post(host, "   ")).toBe(404);
  expect(await host.problems()).toMatchObject([{ severity: "error", path: "hooks.token" }]);
});
