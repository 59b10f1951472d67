/** `init` at a terminal: the questions, what becomes of the answers, and of those that never came. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { stripVTControlCharacters } from "node:util";
import { test } from "vitest";
import { answered, answers } from "../../e2e/room.ts";
import { expect, onTestFinished } from "../../support/own-test.ts";
import { hasTerminal, openTerminal } from "../../support/terminal.ts";
import { run } from "./command-runner.ts";
import { answer, botToken, modelKey, openInitRoom } from "./init-room.ts";

const prompts = {
  token: /Paste the token \(hidden; Enter skips\): /,
  model: /Model \(number or name; Enter skips\): /,
  address: /Address \(Enter: back\): /,
  key: /Key of local \(hidden; Enter: none\): /,
  name: /Model \(number or name; Enter: back\): /,
  owner: /Waiting \(Enter skips\): /,
  isOwner: /Is this you, the owner\? \[Y\/n\]: /,
  hooks: /Let programs write to the agent by HTTP\? \[y\/N\]: /,
};

/** As on the screen: what a password's prompt or a removed question leaves is no text. */
const plain = (shown: string) => stripVTControlCharacters(shown);

test.skipIf(!hasTerminal)(
  "from nothing to the first answer in five questions; no secret is shown, and another run asks nothing again",
  async () => {
    const { platform, server, home, at, text } = await openInitRoom();
    const [ada = 0] = platform.world.people.keys();
    const began = performance.now();
    const { type, until, finished } = openTerminal(["init", "--platform-address", platform.url], { home });
    await until(prompts.token);
    type("4242:a-mistyped-token\r");
    await until(/refuses it: the platform rejects the bot token/);
    await until(prompts.token);
    type(`${botToken}\r`);
    await until(/Your bot is @e2e_bot/);
    await until(prompts.model);
    type("local\r");
    await until(prompts.address);
    type(`${server.url}\r`);
    await until(prompts.key);
    type(`${modelKey}\r`);
    await until(prompts.name);
    type("small\r");
    await until(/local\/small answers; the first word came after/);
    await until(prompts.owner);
    platform.act.say(ada, ada, "hello?");
    await until(prompts.isOwner);
    // Longer than a person needs to read the name.
    await new Promise((resolve) => setTimeout(resolve, 600));
    type("\r");
    await until(/is the owner\./);
    await until(/It has answered: look at your chat/);
    expect(answers(platform, ada)).toContain(answer);
    await until(prompts.hooks);
    type("y\r");
    const { code, out } = await finished;
    expect(code).toBe(0);
    expect(performance.now() - began).toBeLessThan(120_000);
    for (const secret of [botToken, modelKey, "a-mistyped-token"]) expect(out).not.toContain(secret);
    expect(out).not.toContain(readFileSync(at(".service/hook-token"), "utf8").trim());
    expect(out).toContain("curl -X POST http://127.0.0.1:");
    expect(text().split("\n").length).toBeLessThanOrEqual(40);
    const owners = await run(["pairing", "list", "botchat", "--json"], { home });
    expect(JSON.parse(owners.out).approved).toMatchObject([{ senderId: String(ada), owner: true }]);
    const before = text();
    const again = await openTerminal(["init"], { home }).finished;
    expect(again.code).toBe(0);
    expect(again.out).not.toContain("Enter skips");
    expect([text(), readdirSync(at(".service")).filter((name) => /-2$/.test(name))]).toEqual([before, []]);
  },
);

test.skipIf(!hasTerminal)(
  "Ctrl+C at any question ends with 130, leaves the file as it was, and no secret behind",
  async () => {
    const { platform, server, home, at } = await openInitRoom();
    const before = `{ "gateway": { "port": 0 }, // mine
  "channels": { "botchat": { "apiRoot": "${platform.url}" } } }`;
    const folder = at(".service");
    const changes = /Write them\? \[Y\/n\]: /;
    const steps: readonly (readonly [RegExp, string])[] = [
      [prompts.token, `${botToken}\r`],
      [prompts.model, "local\r"],
      [prompts.address, `${server.url}\r`],
      [prompts.key, "\r"],
      [prompts.name, "small\r"],
      [changes, ""],
    ];
    for (const [index, [last]] of steps.entries()) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(at(".service/config.jsonc"), before);
      const { type, until, finished } = openTerminal(["init"], { home });
      for (const [prompt, typed] of steps.slice(0, index)) {
        await until(prompt);
        type(typed);
      }
      await until(last);
      type("\x03");
      const { code, out } = await finished;
      expect([code, plain(out).replace(/\s+/g, " ")]).toEqual([130, expect.stringContaining("Nothing was written")]);
      expect([readdirSync(folder), readFileSync(at(".service/config.jsonc"), "utf8")]).toEqual([
        ["config.jsonc"],
        before,
      ]);
    }
  },
);

test.skipIf(!hasTerminal)(
  "Ctrl+C while init waits for the owner ends the gateway that it started; the next run goes on from there",
  async () => {
    const { platform, home, at, standIns, text } = await openInitRoom();
    const [ada = 0, bela = 0] = platform.world.people.keys();
    const first = openTerminal(["init", ...standIns], { home });
    await first.until(prompts.token);
    first.type(`${botToken}\r`);
    await first.until(prompts.owner);
    expect((await run(["status", "--json"], { home })).out).toContain('"running": true');
    first.type("\x03");
    const { code, out } = await first.finished;
    expect([code, plain(out).replace(/\s+/g, " ")]).toEqual([130, expect.stringContaining("What was written stays")]);
    expect(JSON.parse((await run(["status", "--json"], { home })).out)).toMatchObject({ running: false });
    const before = text();
    const second = openTerminal(["init"], { home, columns: 40, env: { NO_COLOR: "" } });
    await second.until(prompts.owner);
    // The first sender is not the owner.
    platform.act.say(bela, bela, "hi");
    await second.until(prompts.isOwner);
    second.type("n\r");
    await second.until(prompts.owner);
    platform.act.say(ada, ada, "hello");
    await second.until(prompts.isOwner);
    await new Promise((resolve) => setTimeout(resolve, 600));
    second.type("\r");
    await second.until(prompts.hooks);
    second.type("\r");
    const ended = await second.finished;
    expect(ended.code).toBe(0);
    await answered(platform, ada, answer);
    expect(answers(platform, bela)).not.toContain(answer);
    expect(text()).toBe(before);
    expect(existsSync(at(".service/hook-token"))).toBe(false);
    const tooLong = plain(ended.out)
      .split(/[\r\n]+/)
      .filter((line) => line.length > 40 && !/[/`]|npm run|service/.test(line));
    expect(tooLong).toEqual([]);
  },
);

test.skipIf(!hasTerminal)("a gateway that cannot start ends init with 1 and the reason; the file stays", async () => {
  const { home, standIns, write, text } = await openInitRoom();
  const other = createServer();
  onTestFinished(() => void other.close());
  await once(other.listen(0, "127.0.0.1"), "listening");
  const { port } = other.address() as AddressInfo;
  write(`{ "gateway": { "port": ${port} } }`);
  const { type, until, finished } = openTerminal(["init", ...standIns], { home });
  await until(prompts.token);
  type(`${botToken}\r`);
  await until(/Write them\? \[Y\/n\]: /);
  type("\r");
  const { code, out } = await finished;
  expect([code, plain(out)]).toEqual([1, expect.stringContaining(`127.0.0.1:${port} is already in use`)]);
  expect(text()).toContain('"bot-token"');
});
