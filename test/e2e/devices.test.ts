import { expect, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { answered, answers, openChannel, openPlatform, people, startGatewayProcess, stop } from "./room.ts";

test("a device is paired through the chat, listed and revoked on the command line, locked out at once", async () => {
  const platform = await openPlatform();
  const [owner = 0] = people(platform);
  const gateway = await startGatewayProcess({
    channels: { botchat: openChannel(platform, { allowFrom: [String(owner), "*"] }) },
  });
  const devices = async (...args: string[]) => {
    const { code, out, err } = await run(["devices", ...args, "--config", gateway.file], { home: gateway.home });
    return { code, out, err };
  };
  platform.act.say(owner, owner, "/pair");
  await answered(platform, owner, /\/devices\/pair/);
  const code = /[A-Z2-9]{8}/.exec(answers(platform, owner).join("\n"))?.[0] ?? "";
  const asked = await fetch(`${gateway.url}/devices/pair`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name: "Laptop" }),
  });
  const { id, secret } = (await asked.json()) as { readonly id: string; readonly secret: string };
  expect((await devices("list")).out).toMatch(new RegExp(`^id .*\\n${id}  Laptop  waiting  127\\.0\\.0\\.1 `));
  expect(await devices("approve")).toMatchObject({ code: 0, out: `Laptop (${id}) is approved.\n` });
  const collected = await fetch(`${gateway.url}/devices/pair/${id}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { token } = (await collected.json()) as { readonly token: string };
  const describe = async () =>
    (await fetch(`${gateway.url}/gateway/describe`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await describe()).toBe(200);
  expect(JSON.parse((await devices("list", "--json")).out)).toMatchObject([
    { id, name: "Laptop", connected: true, usedAt: expect.any(Number) },
  ]);
  expect(await devices("revoke", id)).toMatchObject({ code: 0 });
  expect(await describe()).toBe(401);
  await stop(gateway);
  // The same without a gateway.
  expect(await devices("revoke", id)).toMatchObject({
    code: 1,
    out: "There is no device with this id; `devices list` shows them.\n",
  });
  const json = await devices("revoke", id, "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toEqual({
    ok: false,
    error: "There is no device with this id; `devices list` shows them.",
    code: "plugin_command_failed",
  });
});

test("help shows the commands of plugins and their own help", async () => {
  const home = temporaryHome();
  const [whole, group, one] = await Promise.all(
    [["--help"], ["devices"], ["devices", "revoke", "--help"]].map((args) => run(args, { home })),
  );
  expect(whole?.out).toContain("devices list|approve|revoke");
  expect(group).toMatchObject({ code: 2, err: expect.stringContaining(`${programCommand} devices list`) });
  expect(one?.out).toContain(`Example:\n  ${programCommand} devices revoke`);
});
