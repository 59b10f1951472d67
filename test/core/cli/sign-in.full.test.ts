/** A channel on which a person signs the bot in: what the operator sees, and where its session is. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createTestHost } from "../../../core/testkit/index.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { readScreen } from "../../support/read-screen.ts";
import { hasTerminal, openTerminal } from "../../support/terminal.ts";
import { run, temporaryHome } from "./command.ts";

/** The channel that the manual shows. */
const page = readFileSync(new URL("../../../examples/authors/channel-sign-in.md", import.meta.url), "utf8");
const [, source = ""] = /<!-- example: linked\/index\.ts -->\s+```ts\n([\s\S]*?)```/.exec(page) ?? [];

const link = "linked://device?id=4711&key=QkVHSU4tVEhJUy1LRVktSVMtU0VDUkVU";
const session = "session-7d1f-of-the-linked-device";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** The server of the platform: `scan` is what the person does with their phone. */
async function openPlatform() {
  let isScanned = false;
  const server = createServer(({ url, headers }, response) => {
    if (url === "/link") return response.end(JSON.stringify(isScanned ? { session } : { link }));
    const isKnown = headers.authorization === `Bearer ${session}`;
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ name: "Beacon" }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  closing.push(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    scan() {
      isScanned = true;
    },
  };
}

test.each(["inline", "worker"] as const)(
  "the code is printed, and after the scan the session is a secret: %s",
  async (isolation) => {
    const platform = await openPlatform();
    const directory = temporaryDirectory();
    mkdirSync(join(directory, "linked"));
    writeFileSync(join(directory, "linked", "index.ts"), source);
    const config = {
      plugins: { load: [join(directory, "linked")], entries: { linked: { isolation } } },
      channels: { linked: { url: platform.url } },
      log: { level: "trace" },
    };
    const service = (...args: string[]) =>
      run([...args, "--config", join(directory, "config.jsonc")], { home: directory });
    await using host = await createTestHost({ directory, config });
    await expect.poll(async () => (await service("channels", "status")).out).toContain("█");
    const { out } = await service("channels", "status");
    expect(out).toMatch(/linked:default +waiting .*A person has to sign the bot in/);
    expect(out).toContain("linked:default: On your phone, open Settings > Linked devices, and scan the code.");
    const rows = out.split("\n").filter((line) => /[█▀▄]/.test(line));
    expect(readScreen(rows.map((line) => line.slice(2)))).toBe(link);

    platform.scan();
    await expect.poll(async () => (await service("channels", "status")).out).toMatch(/linked:default +connected/);
    expect((await service("channels", "status")).out).not.toMatch(/█|scan the code/);
    const file = join(host.directory, "state", "linked", "default", "secrets", "session");
    expect([readFileSync(file, "utf8"), (statSync(file).mode & 0o777).toString(8)]).toEqual([session, "600"]);
    const log = readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8");
    expect(log).toContain("sign_in_needed");
    for (const secret of [session, link]) expect(log).not.toContain(secret);

    const unlinked = await service("linked", "unlink", "--json");
    expect(JSON.parse(unlinked.out)).toEqual({ removed: true });
    const wrong = await service("linked", "unlink", "other");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("the accounts of linked are default")]);
  },
);

test.skipIf(!hasTerminal)(
  "init shows the code, waits for the scan, and goes on",
  async () => {
    const platform = await openPlatform();
    const home = temporaryHome();
    mkdirSync(join(home, ".service", "linked"), { recursive: true });
    writeFileSync(join(home, ".service", "linked", "index.ts"), source);
    const file = join(home, ".service", "config.jsonc");
    writeFileSync(file, JSON.stringify({ plugins: { load: ["./linked"] }, gateway: { port: 0 } }));
    const args = ["init", "--channel", "linked", "--platform-address", platform.url];
    const { type, until, finished } = openTerminal(args, { home, columns: 120 });
    await until(/You need your phone\./);
    await until(/Model \(number or name; Enter skips\): /);
    type("\r");
    await until(/Write them\? \[Y\/n\]: /);
    type("\r");
    const shown = await until(/scan the code\.[\s\S]*Waiting \(Enter skips\): /);
    const rows = shown.split(/\r?\n/).filter((line) => /[█▀▄]/.test(line));
    expect(readScreen(rows.map((line) => line.slice(2)))).toBe(link);
    platform.scan();
    await until(/Your bot is Beacon\./);
    await until(/Who is the owner\?[\s\S]*Waiting \(Enter skips\): /);
    type("\r");
    await until(/\[y\/N\]: /);
    type("\r");
    const { code, out } = await finished;
    expect([code, out.includes(session)]).toEqual([0, false]);
    expect(readFileSync(file, "utf8")).toMatch(/"linked": \{[^}]*"dmPolicy": "pairing"/);
    const again = await openTerminal(["channels", "status"], { home, columns: 200 }).finished;
    expect(again.out).not.toContain(link);
  },
  60_000,
);
