/** `channels list`: what there is, by what the channels declare. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

test("lists the channels of the gateway, those of other authors, and with --available those to install", async () => {
  const home = temporaryHome();
  mkdirSync(join(home, ".service", "acme"), { recursive: true });
  writeFileSync(
    join(home, ".service", "acme", "index.ts"),
    `import { defineChannel, Type } from "service-gateway/sdk/channel";
export default defineChannel({
  id: "acme", version: "1.0.0", host: "^0.2.0",
  listing: { name: "Acme Chat", needs: ["an approval"], publicAddress: "yes", tried: ["a stand-in"] },
  options: Type.Object({ buttons: Type.Boolean({ default: true }) }),
  capabilities: ({ buttons }) => ({ maxChars: 2000, buttons, repeats: { withinSeconds: 180 } }),
  open() { throw new Error("nothing is opened for the list"); },
});`,
  );
  const config = { plugins: { load: ["./acme"] }, channels: { acme: { accounts: { one: {}, two: {} } } } };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(config));
  const { code, out } = await run(["channels", "list"], { home });
  expect(code).toBe(0);
  expect(out).toMatch(/^botchat {2}Telegram {2}included, not configured$/m);
  expect(out).toMatch(/^acme {2}Acme Chat {2}loaded, 2 accounts$/m);
  const words = out.replaceAll(/\s+/g, " ");
  expect(words).toContain("plain text, 2000 at once, buttons (depends on the options)");
  expect(words).toContain("a send without an answer not repeated within 3 minutes");
  expect(words).toContain("needs an approval; a public address tried with a stand-in");
  expect(out).not.toContain("plugins add");
  expect(out).toMatch(/channels list --available` lists \d+ more/);
  const all = await run(["channels", "list", "--available", "--json"], { home });
  const { channels } = JSON.parse(all.out) as { channels: { id: string; state: string; package?: string }[] };
  expect(channels.find(({ id }) => id === "irc")).toMatchObject({ state: "available", package: "service-gateway-irc" });
  expect(channels.find(({ id }) => id === "acme")).toMatchObject({ state: "loaded", accounts: 2, name: "Acme Chat" });
});
