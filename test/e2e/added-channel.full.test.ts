/**
 * A channel of a third party, as its users have it: made by `plugins create`, packed by its author, added from the
 * tarball where its sources are not, configured, and answering.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { ChannelPlatform } from "../../core/testkit/index.ts";
import { run, start, temporaryHome } from "../core/cli/command.ts";
import { createNpmRegistry } from "../support/npm-registry.ts";

/** The author's machine: the tarball, and the platform of the package's tests. */
async function publishedChannel(version: string) {
  const author = temporaryHome();
  const folder = join(author, "acme-chat");
  await run(["plugins", "create", "acme-chat", "--kind", "channel", "--dir", folder], { home: author });
  for (const file of ["package.json", "src/index.ts"]) {
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), text.replace('"0.1.0"', JSON.stringify(version)));
  }
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts"], { cwd: folder, stdio: "ignore" });
  const { openPlatform } = (await import(pathToFileURL(join(folder, "test", "platform.ts")).href)) as {
    readonly openPlatform: () => Promise<ChannelPlatform>;
  };
  return { author, tarball: readFileSync(join(folder, `acme-chat-${version}.tgz`)), openPlatform };
}

test("a channel added from its tarball answers; a newer version comes from a registry", async () => {
  const { author, tarball, openPlatform } = await publishedChannel("0.1.0");
  const newer = await publishedChannel("0.2.0");
  const platform = await openPlatform();
  onTestFinished(() => platform.close());
  const registry = await createNpmRegistry();
  onTestFinished(() => registry.close());
  for (const directory of [author, newer.author]) rmSync(directory, { recursive: true });

  const home = temporaryHome();
  const env = { npm_config_registry: registry.url, npm_config_cache: join(home, "npm-cache") };
  const command = async (...args: readonly string[]) => await run(args, { home, env });
  mkdirSync(join(home, "downloads"));
  const file = join(home, "downloads", "acme-chat-0.1.0.tgz");
  writeFileSync(file, tarball);
  await command("config", "set", "gateway.port", "0");
  await command("config", "set", "channels.acme-chat", '{ "dmPolicy": "open", "allowFrom": ["*"] }');
  expect((await command("config", "validate")).out).toMatch(/no enabled plugin.*plugins add/s);

  expect(await command("plugins", "add", file, "--yes")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/provides the channel acme-chat[\s\S]*Its settings are in channels\.acme-chat/),
  });
  for (const [key, value] of Object.entries({ ...platform.options, token: "123456:secret-of-the-bot" }))
    expect(await command("config", "set", `channels.acme-chat.${key}`, String(value))).toMatchObject({ code: 0 });
  expect(await command("config", "validate")).toMatchObject({ code: 0, out: expect.stringContaining("is valid") });

  const gateway = start(["gateway"], { home, env });
  await gateway.until(/ready at/);
  await platform.write("Hello from far away");
  await expect.poll(() => platform.read(), { timeout: 10_000 }).toContainEqual(expect.stringContaining("far away"));

  // The gateway goes on with the version that it has loaded, whose files stay until it has ended.
  registry.publish(newer.tarball);
  const updated = await command("plugins", "add", "acme-chat", "--yes");
  expect(updated).toMatchObject({
    code: 0,
    out: expect.stringMatching(/from 0\.1\.0 to 0\.2\.0[\s\S]*after a restart/),
  });
  await platform.write("And again");
  await expect.poll(() => platform.read(), { timeout: 10_000 }).toContainEqual(expect.stringContaining("And again"));
  gateway.child.kill("SIGTERM");
  expect((await gateway.finished).code).toBe(0);
  expect((await command("plugins", "list")).out).toMatch(/acme-chat +0\.2\.0/);

  const removed = await command("plugins", "remove", "acme-chat");
  expect(removed.out).toMatch(/still names it, without effect:\n {2}channels\["acme-chat"\]|channels\.acme-chat/);
  expect((await command("plugins", "list")).out).not.toContain("acme-chat");
}, 120_000);
