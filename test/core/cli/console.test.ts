import { expect, test } from "vitest";
import { startGatewayProcess, stop } from "../../e2e/room.ts";
import { askAs, ofPage } from "../../support/browser-client.ts";
import { run as runShared } from "./command-runner.ts";

test("`console` prints a link that signs one browser in, and lists and revokes its session", async () => {
  const gateway = await startGatewayProcess({});
  const run = (...args: string[]) => runShared(["console", ...args, "--state", gateway.state], { home: gateway.home });
  const { code, out, err } = await run("--role", "view");
  expect([code, out.replace(/code=[\w-]{22}\n$/, "CODE")]).toEqual([0, `${gateway.url}/console/#CODE`]);
  expect(err).toContain("The link works once, within 60 seconds.");
  const [, link] = out.trim().split("#code=");
  const begun = await askAs(gateway.url, "/gateway/v1/session", {
    body: { code: link },
    headers: { ...ofPage, "user-agent": "Test browser" },
  });
  expect(begun.json.session).toMatchObject({ role: "view", browser: "Test browser" });
  expect((await run("--list")).out).toMatch(new RegExp(`${begun.json.session.id} +view +just now +\\S+ +Test browser`));
  expect((await run("--revoke", begun.json.session.id)).out).toContain("is revoked");
  expect((await run("--list")).out).toBe("No browser is signed in.\n");
  await stop(gateway);
  expect((await run()).err).toMatch(/^error: /);
});
