/** What people and machines get wrong: one clear sentence each, the rest runs, nothing is lost. */
import { existsSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { aroundEach, describe, test } from "vitest";
import { createGateway } from "../../core/gateway/gateway.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { createLoopback, repeat, startGateway } from "../support/gateway.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import {
  answered,
  answers,
  botToken,
  configure,
  hookToken,
  kill,
  openChannel,
  openPlatform,
  people,
  postHook,
  startGatewayProcess,
  stop,
  takenOver,
  withBasics,
  writeConfig,
} from "./room.ts";

aroundEach(inOwnTest);

const hooks = { enabled: true, token: hookToken };

/** `error: ` and one sentence; below it one line that says what to do. */
const oneSentence = /^error: [^\n]+\.\n {7}[^\n]+\n$/;

describe.concurrent("a platform with invalid responses", () => {
  test("is reported by status, and the account recovers without loss", async () => {
    const platform = await openPlatform();
    const [ada = 0] = people(platform);
    const junk = createServer((_request, response) => send(response));
    let send = (response: ServerResponse): void =>
      void response.writeHead(200, { "content-type": "text/html" }).end("<html>portal</html>");
    junk.listen(0, "127.0.0.1");
    await new Promise((resolve) => junk.once("listening", resolve));
    onTestFinished(() => void junk.close());
    const gateway = await startGatewayProcess({ channels: { botchat: openChannel(platform) } });
    for (const kind of ["garbage", "reset-before", "status"] as const)
      platform.faults.add({ method: "getUpdates", kind, times: 2, status: 502 });
    platform.faults.add({
      method: "sendMessage",
      kind: "refuse",
      times: 1,
      status: 500,
      description: "Internal Server Error",
    });
    platform.act.say(ada, ada, "through the noise");
    await gateway.until(/cannot be reached|no answer|junk|not JSON/i);
    await answered(platform, ada, "through the noise");
    expect(answers(platform, ada).filter((text) => text === "through the noise")).toHaveLength(1);

    const away = { ...openChannel(platform), apiRoot: `http://127.0.0.1:${(junk.address() as AddressInfo).port}` };
    const bodies = [
      '{"ok":true',
      '{"ok":true,"result":7}',
      '{"ok":true,"result":[null,7,{"update_id":"x"},{"update_id":1}]}',
      "[]",
      "null",
      "",
    ];
    let turn = 0;
    send = (response) => {
      turn += 1;
      const body = bodies[turn % bodies.length];
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    writeConfig(gateway.file, withBasics({ channels: { botchat: away } }));
    await gateway.until(/the configuration was reloaded/);
    await expect.poll(() => turn).toBeGreaterThan(12);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    platform.act.say(ada, ada, "while it was away");
    writeConfig(gateway.file, withBasics({ channels: { botchat: openChannel(platform) } }));
    await gateway.until(takenOver(2));
    await answered(platform, ada, "while it was away");
    const status = JSON.parse(
      (await run(["status", "--json", "--config", gateway.file], { home: gateway.home })).out,
    ) as object;
    expect(status).toMatchObject({ ready: true, gateway: { accounts: [{ status: { state: "connected" } }] } });
    await stop(gateway);
  });

  test("is named by status if it is a web page", async () => {
    const platform = await openPlatform();
    platform.faults.add({ method: "*", kind: "garbage", times: 1_000 });
    const gateway = await startGatewayProcess({ channels: { botchat: openChannel(platform) } });
    await gateway.until(/"state":"waiting"/);
    const status = await run(["status", "--config", gateway.file], { home: gateway.home });
    expect(status.out).toMatch(/botchat:default +waiting/);
    expect(status.out).not.toContain(botToken);
    // It has tried: what is down there degrades the gateway, and takes it from nobody.
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(status.out).toMatch(/degraded at http/);
    platform.faults.clear();
    const again = () => run(["status", "--config", gateway.file], { home: gateway.home });
    await expect.poll(async () => (await again()).out, { interval: 100 }).toMatch(/ready at http/);
    await stop(gateway);
  });
});

describe.concurrent("the configuration", () => {
  test("a syntax error stops the start with the file, line and column", async () => {
    const home = temporaryHome();
    const file = configure(home, {});
    writeConfig(file, '{\n  // a comment\n  "gateway": { "port": 1, "host" "127.0.0.1" }\n}\n');
    const { code, out, err } = await run(["gateway", "--config", file], { home });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(oneSentence);
    expect(err).toContain(`${file}:3:`);
    expect(existsSync(join(home, "state")), "nothing was begun").toBe(false);
  });

  test("a wrong type disables only its own section and is reported with its path and the allowed values", async () => {
    const platform = await openPlatform();
    const [ada = 0] = people(platform);
    const wrongChannel = { hooks, channels: { botchat: openChannel(platform, { dmPolicy: "everybody" }) } };
    const gateway = await startGatewayProcess(wrongChannel);
    const printed = await gateway.until(/channels\.botchat\.dmPolicy/);
    expect(printed).toMatch(/dmPolicy[^\n]*pairing/);
    expect((await postHook(gateway.url, "wake", { text: "hooks work", mode: "next-heartbeat" })).status).toBe(200);
    const status = await run(["status", "--config", gateway.file], { home: gateway.home });
    expect(status.out).toContain("channels.botchat.dmPolicy");

    writeConfig(
      gateway.file,
      withBasics({ hooks: { ...hooks, maxBodyBytes: "many" }, channels: { botchat: openChannel(platform) } }),
    );
    expect(await gateway.until(/the configuration was reloaded/)).toMatch(/hooks\.maxBodyBytes[^\n]*/);
    // A live edit leaves the section as it was.
    expect((await postHook(gateway.url, "wake", { text: "still on", mode: "next-heartbeat" })).status).toBe(200);
    platform.act.say(ada, ada, "the channel runs now");
    await answered(platform, ada, "the channel runs now");
    await stop(gateway);
  });

  test("invalid options of a plugin disable that plugin", async () => {
    const gateway = await startGatewayProcess({
      hooks,
      plugins: { entries: { echo: { options: { delayMs: "soon" } } } },
    });
    expect(await gateway.until(/delayMs/)).toMatch(/plugins\.entries\.echo\.options\.delayMs/);
    expect((await postHook(gateway.url, "wake", { text: "hooks work", mode: "next-heartbeat" })).status).toBe(200);
    const listed = await run(["plugins", "list", "--config", gateway.file], { home: gateway.home });
    expect(listed.out).toMatch(/✗ +echo/);
    await stop(gateway);
  });
});

describe.concurrent("a faulty plugin", () => {
  const declared = (body: string, host = "^0.2.0") =>
    `import { definePlugin } from "service-gateway/sdk";\nexport default definePlugin({ id: "ID", version: ` +
    `"1.0.0", host: "${host}", ${body} });\n`;
  const broken: Readonly<Record<string, { readonly source: string; readonly says: RegExp }>> = {
    thrower: {
      source: declared('setup() { throw new Error("the cellar is flooded"); }'),
      says: /thrower failed in setup: the cellar is flooded/,
    },
    hanger: {
      source: declared("setup() { return new Promise(() => {}); }"),
      says: /hanger did not finish setup within 0\.3 s/,
    },
    future: {
      source: declared("setup() {}", "^9.0.0"),
      says: /future was written for SDK \^9\.0\.0; this host provides 0\.2/,
    },
    importer: {
      source: 'throw new Error("no luck at import");\n',
      says: /importer\.ts cannot be loaded: no luck at import/,
    },
    nothing: { source: "export const x = 1;\n", says: /nothing\.ts is invalid: it has no default export/ },
  };

  test("that throws, hangs, fails at import or is for another host is named in one sentence; the rest runs", {
    timeout: 90_000,
  }, async () => {
    const home = temporaryHome();
    for (const [id, { source }] of Object.entries(broken))
      writeFileSync(join(home, `${id}.ts`), source.replace('"ID"', `"${id}"`));
    writeFileSync(join(home, "good.ts"), declared("setup() {}").replace('"ID"', '"good"'));
    const loopback = createLoopback();
    const chat = await startGateway({
      directory: home,
      config: {
        hooks,
        channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } },
        plugins: { load: [...Object.keys(broken), "good"].map((id) => `./${id}.ts`) },
      },
      plugins: [loopback.plugin, repeat],
      gateway: { pluginSetupMs: 300 },
    });
    onTestFinished(() => chat.gateway.close());
    await loopback.say("are you there?");
    await loopback.sentCount(1);
    expect((await postHook(chat.gateway.url, "wake", { text: "hello", mode: "next-heartbeat" })).status).toBe(200);
    const { plugins } = await chat.gateway.describe();
    for (const { says } of Object.values(broken)) {
      const failed = plugins.filter(({ state, reason = "" }) => state === "failed" && says.test(reason));
      expect(failed, String(says)).toHaveLength(1);
      expect(failed[0]?.reason).not.toContain("\n");
    }
    expect(plugins.find(({ id }) => id === "good")?.state).toBe("up");
    expect(chat.gateway.readiness().ready).toBe(false);
    const listed = await run(["plugins", "list", "--config", chat.configFile], { home });
    for (const { says } of Object.values(broken)) expect(listed.out).toMatch(says);
  });
});

describe.concurrent("resources in use", () => {
  test("a port in use is named in the error", async () => {
    const other = createSocketServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const home = temporaryHome();
    const { code, err } = await run(["gateway", "--config", configure(home, { gateway: { port } })], { home });
    expect(code).toBe(1);
    expect(err).toMatch(oneSentence);
    expect(err).toContain(`127.0.0.1:${port} is already in use`);

    // In a program that embeds the gateway, a failed start leaves nothing behind: the next one takes the same state.
    const options = { configFile: join(home, "config.jsonc"), environment: {}, bundled: false };
    await expect(createGateway(options)).rejects.toMatchObject({ code: "port_in_use" });
    configure(home, {});
    const gateway = await createGateway(options);
    expect(gateway.readiness().ready).toBe(true);
    await gateway.close();
  });

  test("a state directory has only one gateway, in any process, until that gateway is killed", async () => {
    const gateway = await startGatewayProcess({});
    const { code, err } = await run(["gateway", "--config", gateway.file], { home: gateway.home });
    expect(code).toBe(1);
    expect(err).toMatch(oneSentence);
    expect(err).toContain(`Another gateway (process ${gateway.child.pid}) uses the state directory`);
    await kill(gateway);
    const chat = await startGateway({ directory: gateway.home });
    onTestFinished(() => chat.gateway.close());
    await expect(createGateway({ configFile: chat.configFile, environment: {}, bundled: false })).rejects.toMatchObject(
      {
        code: "state_locked",
        message: expect.stringContaining(`process ${process.pid}`),
      },
    );
    expect(chat.gateway.readiness().ready, "the first one is not disturbed").toBe(true);
  });
});
