/**
 * What an operator asks during a day: who came, who waits, why somebody is left without an answer, also while the file
 * is broken.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { start } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  hookToken,
  openChannel,
  openPlatform,
  people,
  postHook,
  startGatewayProcess,
  stop,
  withBasics,
  writeConfig,
} from "./room.ts";

interface Listed {
  readonly id: string;
  readonly chat?: string;
  readonly sender?: string;
  readonly state: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly source: string;
}

test("events, waiting items and why are filtered by chat, sender and outcome, even in a broken file", async () => {
  const platform = await openPlatform();
  const [ada = 0, bela = 0] = people(platform);
  const gateway = await startGatewayProcess({
    hooks: { enabled: true, token: hookToken },
    agents: { defaults: { heartbeat: { every: "12h" } } },
    channels: { botchat: openChannel(platform, { dmPolicy: "allowlist", allowFrom: [ada] }) },
  });
  const { home, file } = gateway;
  const ask = (...args: readonly string[]) => run([...args, "--config", file], { home });
  const list = async (...args: readonly string[]): Promise<readonly Listed[]> =>
    (JSON.parse((await ask("events", "list", "--json", ...args)).out) as { readonly events: readonly Listed[] }).events;
  const following = start(["events", "list", "--follow", "--json", "--chat", `botchat:${bela}`, "--config", file], {
    home,
  });

  platform.act.say(ada, ada, "good morning");
  await answered(platform, ada, "good morning");
  platform.act.say(bela, bela, "let me in");
  await expect.poll(() => list("--outcome", "refused")).toMatchObject([{ chat: String(bela), sender: String(bela) }]);
  expect((await postHook(gateway.url, "wake", { text: "backup done", mode: "next-heartbeat" })).status).toBe(200);

  expect(await list("--chat", `botchat:${ada}`)).toMatchObject([{ outcome: "answered", sender: String(ada) }]);
  expect(await list("--sender", String(bela), "--since", "1h")).toMatchObject([
    { outcome: "refused", reason: "sender_not_allowed" },
  ]);
  expect(await list("--sender", `telephone:${bela}`)).toEqual([]);
  expect(await list("--since", "2999-01-01")).toEqual([]);
  expect((await ask("events", "list")).out).toMatch(/^when +event +from +chat +end +took\n/);
  expect((await ask("events", "list", "--sender", String(bela))).out).toMatch(
    / botchat: \S+ .*in a direct chat +\d+ +refused \(sender_not_allowed\) /,
  );
  expect(await list("--outcome", "waiting")).toMatchObject([{ source: "hooks", state: "waiting" }]);
  expect((await ask("status")).out).toMatch(
    /work +0 waiting, 0 running, 0 to be sent\n +1 report of a webhook is read in the agent's next turn\n/,
  );

  // Only what the filter lets through, with its end.
  const followed = (await following.until(/\n/)).trimEnd().split("\n");
  expect(followed.map((line) => JSON.parse(line) as Listed)).toMatchObject([
    { chat: String(bela), outcome: "refused" },
  ]);

  writeFileSync(file, '{ "state": { "dir": "state" }, "gateway": { "port": 0, }\n "channels": {');
  await gateway.until(/the configuration was rejected/);
  const why = await ask("why", "--chat", `botchat:${bela}`);
  expect(why).toMatchObject({ code: 0, out: expect.stringMatching(/^refused \(sender_not_allowed\)/) });
  expect(why.err).toContain(`${file}:2:2: a comma is missing before this. The state is read anyway: ${gateway.state}.`);
  expect((await ask("why", "--chat", String(ada))).out).toMatch(/^answered/);
  expect(await ask("why", "--chat", "botchat:5")).toMatchObject({
    code: 1,
    err: expect.stringContaining("The chat botchat:5 has no events."),
  });
  expect((await ask("why", "--chat", "5", "abc")).code).toBe(2);
  const status = await ask("status");
  expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/^gateway +ready at/) });
  expect(status.out).toContain("jsonc:2:2: a comma is missing before this.");
  expect(status.out).toContain("The gateway continues with the last valid configuration.");
  expect(await list("--sender", String(bela))).toHaveLength(1);
  expect((await ask("logs", "-n", "1")).code).toBe(0);
  // Whoever would change something does not guess.
  appendFileSync(file, "\n");
  expect(await ask("config", "get", "gateway.port")).toMatchObject({
    code: 1,
    err: expect.stringContaining("jsonc:2:2"),
  });
  await stop(gateway);
}, 60_000);

test("reload reports its result, restart adopts the file in the process, stop waits for a free state", async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const config = { hooks: { enabled: true, token: hookToken }, channels: { botchat: openChannel(platform) } };
  const gateway = await startGatewayProcess(config, { alone: true });
  const { home, file, state } = gateway;
  const ask = (...args: readonly string[]) => run([...args, "--config", file], { home });
  expect(await ask("reload")).toMatchObject({ code: 0, out: "The configuration in the file is already in effect.\n" });

  // The gateway may have looked by itself in between; what is wrong and what waits is answered all the same.
  writeConfig(
    file,
    withBasics({
      ...config,
      gateway: { port: 0, drainSeconds: 5, host: "0.0.0.0" },
      log: { level: "debug" },
      colour: 1,
    }),
  );
  const reloaded = await ask("reload");
  expect(reloaded.code).toBe(0);
  expect(reloaded.out).toMatch(
    /^The configuration (?:was reloaded|in the file is already in effect)\.\nwarning colour \(line \d+\): /,
  );
  expect(reloaded.out).toContain(
    `Changes of log, gateway.host take effect after a restart: \`${programCommand} restart\`.\n`,
  );

  // Options of plugins are read at the start: the edit says so, and so does status until then.
  const delay = "plugins.entries.echo.options.delayMs";
  expect(await ask("config", "set", delay, "1")).toMatchObject({ code: 0, err: "Takes effect after a restart.\n" });
  await gateway.until(/"paths":\["plugins"\],"msg":"some settings take effect after a restart"/);
  expect((await ask("status")).out).toContain(
    `Changes of plugins, log, gateway.host take effect after a restart: ${programCommand} restart\n`,
  );

  const before = readFileSync(join(state, "gateway.json"), "utf8");
  writeConfig(file, '{ "state": { "dir": "state" }, "hooks": [');
  const refused = {
    code: 1,
    err: expect.stringMatching(/error: The gateway at http:\S+ refused: \S+config\.jsonc:1:\d+: [^\n]+\.\n/),
  };
  expect(await ask("reload")).toMatchObject(refused);
  expect(await ask("restart")).toMatchObject(refused);
  expect(readFileSync(join(state, "gateway.json"), "utf8")).toBe(before);
  expect(JSON.parse((await ask("reload", "--json")).out)).toMatchObject({ ok: false, code: "gateway_refused" });
  const fetched = await fetch(`${gateway.url}/gateway/stop`, {
    method: "POST",
    headers: { authorization: `Bearer ${hookToken}` },
  });
  expect(fetched.status).toBe(401);

  writeConfig(file, withBasics({ ...config, gateway: { port: 0, drainSeconds: 5, host: "0.0.0.0" } }));
  const restarted = await ask("restart");
  expect(restarted).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^The gateway is running again at http:\S+ \(process \d+\)\.\n$/),
  });
  expect(restarted.out).toContain(`(process ${gateway.child.pid})`);
  expect((await ask("status")).out).not.toContain("after a restart");
  expect(readFileSync(join(state, "gateway.json"), "utf8")).not.toBe(before);
  await gateway.until(
    /"path":"gateway\.host"[^\n]*the gateway listens on all addresses of this machine, so every connected network can reach it/,
  );
  platform.act.say(ada, ada, "still there?");
  await answered(platform, ada, "still there?");

  const stopped = await ask("stop");
  expect(stopped).toMatchObject({ code: 0, out: `The gateway has stopped (process ${gateway.child.pid}).\n` });
  expect((await gateway.finished).code).toBe(0);
  expect(await ask("stop")).toMatchObject({ code: 0, out: `No gateway is running on ${state}.\n` });
  for (const command of ["restart", "reload"])
    expect(await ask(command)).toMatchObject({ code: 1, err: expect.stringContaining("No gateway is running on") });
}, 60_000);

test("stop ends an unresponsive gateway, but never another process that now has its id", async () => {
  const gateway = await startGatewayProcess({}, { alone: true });
  const { home, file, state } = gateway;
  const address = JSON.parse(readFileSync(join(state, "gateway.json"), "utf8")) as object;
  writeFileSync(join(state, "gateway.json"), JSON.stringify({ ...address, url: "http://127.0.0.1:9" }));
  expect(await run(["stop", "--config", file], { home })).toMatchObject({
    code: 0,
    out: expect.stringContaining("has stopped"),
  });
  expect((await gateway.finished).code).toBe(0);

  const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)"], { stdio: "ignore" });
  onTestFinished(() => void stranger.kill("SIGKILL"));
  await once(stranger, "spawn");
  for (const [name, text] of [
    ["gateway.json", JSON.stringify({ ...address, url: "http://127.0.0.1:9", pid: stranger.pid })],
    ["lock.pid", String(stranger.pid)],
  ] as const)
    writeFileSync(join(state, name), text);
  expect(await run(["stop", "--config", file], { home })).toMatchObject({
    code: 0,
    out: `No gateway is running on ${state}.\n`,
  });
  expect(stranger.exitCode).toBeNull();
  expect(stranger.signalCode).toBeNull();
}, 60_000);
