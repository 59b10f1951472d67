/** `channels status` of an account to which a platform posts: the address to give to it, and whether it has called. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { run } from "./command.ts";

/** The channel that the manual shows. */
const page = readFileSync(new URL("../../../examples/authors/channel-posted.md", import.meta.url), "utf8");
const [, source = ""] = /<!-- example: plaza\/index\.ts -->\s+```ts\n([\s\S]*?)```/.exec(page) ?? [];

async function status(host: TestHost): Promise<string> {
  const { out, err, code } = await run(["channels", "status", "--config", join(host.directory, "config.jsonc")], {
    home: host.directory,
  });
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return out;
}

test("the address is printed with gateway.publicUrl, and whether it has been called, with the answer", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "plaza"));
  writeFileSync(join(directory, "plaza", "index.ts"), source);
  const channels = { plaza: { url: "http://127.0.0.1:1", signingSecret: "secret-4711" } };
  const plugins = { load: [join(directory, "plaza")] };
  await using host = await createTestHost({ directory, config: { plugins, channels } });
  const path = "/channels/plaza/default/events";
  const before = await status(host);
  expect(before).toContain(`${host.url}${path}`);
  expect(before).toContain("not called since the gateway started");
  expect(before).toContain("Set gateway.publicUrl");
  await host.configure({ gateway: { publicUrl: "https://gateway.example/" } });
  expect((await host.fetch(path, { method: "POST", body: "{}" })).status).toBe(401);
  const after = await status(host);
  expect(after).toMatch(/POST +https:\/\/gateway\.example\/channels\/plaza\/default\/events +called .*, answered 401/);
  expect(after).not.toContain("Set gateway.publicUrl");
});
