/** What an operator asks during a day: who came, who waits, why somebody is left without an answer, also while the file is broken. */
import { appendFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { start } from "../core/cli/command.ts";
import { run } from "../core/cli/desk.ts";
import { answered, hookToken, openChannel, openPlatform, people, postHook, startGatewayProcess, stop } from "./room.ts";

interface Listed {
  readonly id: string;
  readonly chat?: string;
  readonly sender?: string;
  readonly state: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly source: string;
}

test("events by chat, sender, outcome and time; what waits and since when; why of a chat; all of it while the file is broken", async () => {
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
  const following = start(["events", "list", "--follow", "--json", "--chat", `botchat:${bela}`, "--config", file], { home });

  platform.act.say(ada, ada, "good morning");
  await answered(platform, ada, "good morning");
  platform.act.say(bela, bela, "let me in");
  await expect.poll(() => list("--outcome", "refused")).toMatchObject([{ chat: String(bela), sender: String(bela) }]);
  expect((await postHook(gateway.url, "wake", { text: "backup done", mode: "next-heartbeat" })).status).toBe(200);

  expect(await list("--chat", `botchat:${ada}`)).toMatchObject([{ outcome: "answered", sender: String(ada) }]);
  expect(await list("--sender", String(bela), "--since", "1h")).toMatchObject([{ outcome: "refused", reason: "sender_not_allowed" }]);
  expect(await list("--sender", `telephone:${bela}`)).toEqual([]);
  expect(await list("--since", "2999-01-01")).toEqual([]);
  expect((await ask("events", "list")).out).toMatch(/^when +event +from +chat +end +took\n/);
  expect((await ask("events", "list", "--sender", String(bela))).out).toMatch(
    / botchat: \S+ .*in a direct chat +\d+ +refused \(sender_not_allowed\) /,
  );
  expect(await list("--outcome", "waiting")).toMatchObject([{ source: "hooks", state: "waiting" }]);
  expect((await ask("status")).out).toMatch(
    /work +1 waiting, 0 running, 0 to be sent; the oldest for \d.*: service events list --outcome waiting\n/,
  );

  // Only what the filter lets through, with its end.
  const followed = (await following.until(/\n/)).trimEnd().split("\n");
  expect(followed.map((line) => JSON.parse(line) as Listed)).toMatchObject([{ chat: String(bela), outcome: "refused" }]);

  writeFileSync(file, '{ "state": { "dir": "state" }, "gateway": { "port": 0, }\n "channels": {');
  await gateway.until(/the configuration was not taken over/);
  const why = await ask("why", "--chat", `botchat:${bela}`);
  expect(why).toMatchObject({ code: 0, out: expect.stringMatching(/^refused \(sender_not_allowed\)/) });
  expect(why.err).toContain(`${file}:2:2: a comma is missing before this. The state is read all the same: ${gateway.state}.`);
  expect((await ask("why", "--chat", String(ada))).out).toMatch(/^answered/);
  expect(await ask("why", "--chat", "botchat:5")).toMatchObject({
    code: 1,
    err: expect.stringContaining("There is no event of the chat botchat:5."),
  });
  expect((await ask("why", "--chat", "5", "abc")).code).toBe(2);
  const status = await ask("status");
  expect(status).toMatchObject({ code: 0, out: expect.stringMatching(/^gateway +ready at/) });
  expect(status.out).toContain("jsonc:2:2: a comma is missing before this.");
  expect(status.out).toContain("The gateway runs on with the last good configuration.");
  expect(await list("--sender", String(bela))).toHaveLength(1);
  expect((await ask("logs", "-n", "1")).code).toBe(0);
  // Whoever would change something does not guess.
  appendFileSync(file, "\n");
  expect(await ask("config", "get", "gateway.port")).toMatchObject({ code: 1, err: expect.stringContaining("jsonc:2:2") });
  await stop(gateway);
}, 60_000);
