/** A rotation of the hook token and of the gateway's own, seen by their clients. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programCommand } from "../../core/contract/command.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { createEngine, startGateway } from "../support/gateway.ts";

const old = "hook-token-before-the-rotation";
const dayMs = 86_400_000;

async function open(config: object, prepare: (directory: string) => void = () => {}) {
  const clock = { ahead: 0 };
  const directory = temporaryDirectory();
  prepare(directory);
  const { gateway, configFile } = await startGateway({
    directory,
    plugins: [createEngine(() => "done")],
    config: { agents: { defaults: { engine: "scripted" } }, ...config },
    gateway: { now: () => Date.now() + clock.ahead },
  });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  const commented = `// Who may call us.\n${readFileSync(configFile, "utf8").replace('"hooks":', "/* the hooks */ $&")}`;
  writeFileSync(configFile, commented);
  const status = async (path: string, token: string, init: RequestInit = {}) =>
    (
      await fetch(`${gateway.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      })
    ).status;
  const body = JSON.stringify({ text: "hello", mode: "next-heartbeat" });
  return {
    clock,
    directory,
    text: () => readFileSync(configFile, "utf8"),
    gatewayToken: () => readFileSync(join(gateway.stateDirectory, "gateway-token"), "utf8").trim(),
    hook: (token: string) => status("/hooks/wake", token, { method: "POST", body }),
    manage: (token: string) => status("/gateway/describe", token),
    command: (...args: readonly string[]) =>
      run([...args, "--config", configFile, "--state", gateway.stateDirectory], {
        home: temporaryHome(),
        env: { HOOKS: old },
      }),
  };
}

test("a rotated hook token is valid at once, the old one until the reported time; comments remain", async () => {
  const room = await open({ hooks: { enabled: true, token: old } });
  const { code, out } = await room.command("tokens", "rotate", "hooks", "--keep", "7d");
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      /^hooks\.token is a new token:\n {2}\S{43}\nThe old one stays valid until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; .*\nThe running gateway accepts the new one\.\n$/,
    ),
  });
  const token = /^ {2}(\S+)$/m.exec(out)?.[1] ?? "";
  expect(await Promise.all([token, old, "neither"].map(room.hook))).toEqual([200, 200, 401]);
  expect(room.text()).toMatch(/^\/\/ Who may call us\.\n[\s\S]*\/\* the hooks \*\//);

  room.clock.ahead = 7 * dayMs - 60_000;
  expect(await room.hook(old)).toBe(200);
  room.clock.ahead = 7 * dayMs + 60_000;
  expect([await room.hook(token), await room.hook(old)]).toEqual([200, 401]);
});

test("doctor reports a token still accepted after a rotation, with its end and the command to revoke it", async () => {
  const room = await open({ hooks: { enabled: true, token: old } });
  const findings = async () => (await room.command("doctor")).out;
  expect(await findings()).not.toContain("previousToken");
  await room.command("tokens", "rotate", "hooks", "--keep", "7d");
  await room.command("tokens", "rotate", "gateway", "--keep", "1h");
  const found = await findings();
  expect(found).toMatch(
    /! {2}tokens +hooks\.previousToken is still accepted beside the new token, until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\S+ days? from now\)/,
  );
  expect(found).toMatch(
    /gateway\.auth\.previousToken is still accepted beside the new token, until .* \(\S+ (?:min|h) from now\)/,
  );
  expect(found).toContain(`${programCommand} config unset hooks.previousToken`);
  expect(found).not.toContain(old);

  expect((await room.command("config", "unset", "hooks.previousToken")).code).toBe(0);
  expect((await room.command("reload")).code).toBe(0);
  expect(await room.hook(old)).toBe(401);
  expect(await findings()).not.toContain("hooks.previousToken");
});

test("with --keep 0, the old hook token expires at once, and so does one of an earlier rotation", async () => {
  const room = await open({ hooks: { enabled: true, token: old } });
  const rotate = async (...more: readonly string[]) =>
    JSON.parse((await room.command("tokens", "rotate", "hooks", "--json", ...more)).out) as {
      token: string;
      validUntil: string | null;
    };
  const first = await rotate();
  expect(Date.parse(first.validUntil ?? "")).toBeGreaterThan(Date.now() + dayMs - 60_000);
  const second = await rotate("--keep", "0");
  expect(second).toEqual({
    path: "hooks.token",
    in: "config",
    token: expect.any(String),
    validUntil: null,
    inForce: true,
  });
  expect(await Promise.all([second.token, first.token, old].map(room.hook))).toEqual([200, 401, 401]);
});

test("a hook token in a file is replaced there, and the old one is stored beside it", async () => {
  const room = await open({ hooks: { enabled: true, token: { file: "hook-token" } } }, (directory) =>
    writeFileSync(join(directory, "hook-token"), `${old}\n`),
  );
  const { code, out } = await room.command("tokens", "rotate", "hooks");
  const token = readFileSync(join(room.directory, "hook-token"), "utf8").trim();
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining(`hooks.token is a new token, in ${room.directory}/hook-token:\n  ${token}`),
  });
  expect(room.text()).toContain('"token":{"file":"hook-token"}');
  expect(room.text()).not.toContain(old);
  expect([await room.hook(token), await room.hook(old)]).toEqual([200, 200]);
  await room.command("tokens", "rotate", "hooks", "--keep", "0");
  expect([await room.hook(token), await room.hook(old)]).toEqual([401, 401]);
});

test.each([
  ["that was generated", {}],
  ["of the configuration", { gateway: { port: 0, auth: { token: "gateway-token-before-the-rotation" } } }],
])("a gateway token %s is replaced at run time, and commands continue to work", async (_, config) => {
  const room = await open(config);
  const before = room.gatewayToken();
  const { code, out } = await room.command("tokens", "rotate", "gateway", "--keep", "1h");
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("The running gateway accepts the new one.") });
  const token = room.gatewayToken();
  expect(token).not.toBe(before);
  expect([await room.manage(token), await room.manage(before), await room.manage("neither")]).toEqual([200, 200, 401]);
  expect((await room.command("status")).out).toContain("gateway   ready");
  room.clock.ahead = 2 * 3_600_000;
  expect([await room.manage(token), await room.manage(before)]).toEqual([200, 401]);
});

test("a token from the environment is not replaced, and the message explains how to do it manually", async () => {
  const room = await open({ hooks: { enabled: true, token: { env: "HOOKS" } } });
  const { code, err } = await room.command("tokens", "rotate", "hooks");
  expect(code).toBe(1);
  expect(err).toContain("hooks.token is read from the environment variable HOOKS, which this command cannot change.");
  expect(err).toContain("Name a variable with the old token in hooks.previousToken");
  expect((await room.command("tokens", "rotate", "hooks", "--keep", "soon")).code).toBe(2);
  expect((await room.command("tokens", "rotate", "door")).err).toContain('"door" is neither hooks nor gateway');
});

test("a token in a file that another program replaces is valid after a reload, without an edit", async () => {
  const file = "hook-token";
  const room = await open({ hooks: { enabled: true, token: { file } } }, (directory) =>
    writeFileSync(join(directory, file), old),
  );
  const reload = async () => (await room.command("reload")).out;
  await reload();
  writeFileSync(join(room.directory, file), "hook-token-of-the-other-program");
  expect(await reload()).toBe("The configuration was reloaded.\n");
  expect(await Promise.all([old, "hook-token-of-the-other-program"].map(room.hook))).toEqual([401, 200]);
  expect(await reload()).toBe("The configuration in the file is already in effect.\n");
});
