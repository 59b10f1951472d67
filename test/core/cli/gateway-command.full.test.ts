import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { aroundEach, describe, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { expect, inOwnTest, onTestFinished } from "../../support/own-test.ts";
import { bundled, start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";
import { startGateway } from "./gateway-runner.ts";

aroundEach(inOwnTest);

function homeWith(config: object): { readonly home: string; readonly state: string } {
  const home = temporaryHome();
  const state = join(home, ".service");
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, "config.jsonc"), JSON.stringify(config));
  return { home, state };
}

const ready = /ready at (http:\/\/127\.0\.0\.1:\d+) \(process \d+\)/;

interface Message {
  readonly from: { readonly is_bot: boolean };
  readonly text?: string;
}

/** Ada's chat on a playground page. */
function chatAt(page: string) {
  const say = async (text: string) => {
    const body = JSON.stringify({ do: "say", person: 1001, text });
    await fetch(`${page}/_playground/act`, { method: "POST", body, headers: { "content-type": "application/json" } });
  };
  const told = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const { rooms } = (await (await fetch(`${page}/_playground/state`)).json()) as {
        rooms: { key: string; messages: Message[] }[];
      };
      const texts = rooms.flatMap(({ messages }) =>
        messages.flatMap(({ from, text = "" }) => (from.is_bot ? [text] : [])),
      );
      const found = texts.find((text) => pattern.test(text));
      if (found !== undefined) return found;
      await wait(50);
    }
  };
  return { say, told };
}

describe.concurrent("dev", () => {
  test("takes a new user from the first message through pairing to a reply and the printed webhook call", async () => {
    const home = temporaryHome();
    const dev = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    const said = await dev.until(/Page +\S+[\s\S]*Ctrl\+C/);
    const page = /Page +(\S+)\//.exec(said)?.[1] ?? "";
    const { say, told } = chatAt(page);

    await say("Good morning.");
    const code = /approve botchat ([A-Z2-9]{8})/.exec(await told(/pairing approve/))?.[1] ?? "";
    // No flag names the state: who has only ever run `dev` means its state.
    const why = async () => (await run(["why", "last"], { home })).out;
    await expect.poll(why, { interval: 100 }).toMatch(/^refused \(pairing_required\)/);
    expect(await why()).toContain("(1001) in a direct chat");

    const approved = await run(["pairing", "approve", "botchat", code], { home });
    expect(approved.out).toMatch(/and is an owner now\.\nThe bot notifies them\.\n$/);
    await told(/approved/i);

    await say("Good evening.");
    await told(/Good evening\./);
    await expect.poll(why, { interval: 100 }).toMatch(/^answered after /);

    const token = readFileSync(join(home, ".service", "dev", "hook-token"), "utf8").trim();
    expect(said).not.toContain(token);
    const url = /curl -X POST (\S+\/hooks\/agent)/.exec(said)?.[1] ?? "";
    const body = /-d '(\{"message".*\})'/.exec(said)?.[1] ?? "";
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(202);
    await told(/Say hello\./);

    const { plugins } = JSON.parse((await run(["plugins", "list", "--json"], { home })).out) as {
      plugins: { id: string; state: string }[];
    };
    expect(plugins.filter(({ state }) => state !== "up")).toEqual([]);
    dev.child.kill("SIGINT");
    expect((await dev.finished).code).toBe(0);

    const again = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    const restarted = await again.until(/Page +\S+[\s\S]*channel connected/);
    const hook = /curl -X POST (\S+\/hooks\/agent)/.exec(restarted)?.[1] ?? "";
    expect((await fetch(hook, { method: "POST", headers, body })).status).toBe(202);
    await chatAt(/Page +(\S+)\//.exec(restarted)?.[1] ?? "").told(/Say hello\./);
  });

  test("makes its configuration and tokens readable by the user only, and keeps existing files", async () => {
    const home = temporaryHome();
    const state = join(home, ".service", "dev");
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "hook-token"), "mine\n");
    const dev = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    await dev.until(/Ctrl\+C/);
    expect(readFileSync(join(state, "hook-token"), "utf8")).toBe("mine\n");
    expect(statSync(join(state, "config.jsonc")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(state, "config.jsonc"), "utf8")).toContain("// Webhooks.");
  });

  test("ports of the command line hold for that start, also after an edit, and are not written down", async () => {
    const home = temporaryHome();
    const file = join(home, ".service", "dev", "config.jsonc");
    const dev = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    const said = await dev.until(/Page +\S+[\s\S]*Ctrl\+C/);
    const page = /Page +(\S+)\//.exec(said)?.[1] ?? "";
    expect(page).not.toContain(":18790");
    expect(said).not.toContain("http://127.0.0.1:18789");
    const written = readFileSync(file, "utf8");
    expect(written).toContain('"gateway": { "port": 18789 }');
    expect(written).toContain('"apiRoot": "http://127.0.0.1:18790"');
    expect(written).toContain('"port": 18790');
    writeFileSync(file, written.replace('"dmPolicy": "pairing"', '"dmPolicy": "open", "allowFrom": ["*"]'));
    const printed = await dev.until(/the configuration was reloaded/);
    expect(printed).not.toContain("after a restart");
    const { say, told } = chatAt(page);
    await say("Good morning.");
    await told(/Good morning\./);
  });

  test("beside a configuration of the user's own, the printed commands name the state of dev", async () => {
    const home = temporaryHome();
    mkdirSync(join(home, ".service"));
    writeFileSync(join(home, ".service", "config.jsonc"), "{}");
    const dev = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    const said = await dev.until(/Ctrl\+C/);
    const flag = `--state ${join(home, ".service", "dev")}`;
    expect(said).toContain(`pairing approve botchat CODE ${flag}`);
    expect(said).toContain(`why last ${flag}`);
  });

  test("a second one on the same state is refused, and changes no port of the first", async () => {
    const home = temporaryHome();
    const dev = startGateway(["dev", "--port", "0", "--page-port", "0"], { home });
    await dev.until(/Ctrl\+C/);
    const file = join(home, ".service", "dev", "config.jsonc");
    const before = readFileSync(file, "utf8");
    const second = await run(["dev", "--port", "0", "--page-port", "0"], { home });
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Another gateway[\s\S]*stop --state \/.*dev`/),
    });
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test.each([["--port"], ["--page-port"]])(
    "a used %s ends the start with the command that takes a free one",
    async (flag) => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      onTestFinished(() => void other.close());
      const { port } = other.address() as AddressInfo;
      const home = temporaryHome();
      const args = ["dev", "--port", "0", "--page-port", "0", flag, String(port)];
      const { code, err, out } = await run(args, { home });
      expect(code).toBe(1);
      expect(err).toContain(`error: 127.0.0.1:${port} is already in use.`);
      expect(err).toContain(`dev ${flag} 0\`, which takes a free port`);
      expect(out, "no address of a page that another program serves").not.toContain("Page");
    },
  );
});

describe.concurrent("gateway", () => {
  test("prints one line when ready, reports its status on request, and exits with 0 on SIGTERM", async () => {
    const { home, state } = homeWith({ gateway: { port: 0 } });
    const gateway = startGateway(["gateway"], { home });
    const url = ready.exec(await gateway.until(ready))?.[1];
    const status = JSON.parse((await run(["status", "--json"], { home })).out) as object;
    expect(status).toMatchObject({ running: true, ready: true, url, pid: gateway.child.pid, stateDirectory: state });
    expect(statSync(join(state, "gateway-token")).mode & 0o777).toBe(0o600);
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
    expect(existsSync(join(state, "gateway.json"))).toBe(false);
    expect((await run(["status"], { home })).out).toMatch(/^gateway +not running/);
  });

  test("continues when the reader of its output exits, such as a pager, and closes as usual", async () => {
    const { home, state } = homeWith({
      gateway: { port: 0 },
      hooks: { enabled: true, token: "a-token-0123456789abcdef" },
    });
    const gateway = start(["gateway"], { home });
    const url = ready.exec(await gateway.until(ready))?.[1] ?? "";
    gateway.child.stdout?.destroy();
    gateway.child.stderr?.destroy();
    const headers = { authorization: "Bearer a-token-0123456789abcdef", "content-type": "application/json" };
    // Its end is a line of the log.
    const answer = await fetch(`${url}/hooks/agent`, {
      method: "POST",
      headers: { ...headers, prefer: "wait=20" },
      body: '{"message":"ring"}',
    });
    expect(await answer.json()).toMatchObject({ outcome: "silent" });
    await expect.poll(() => readFileSync(join(state, "logs", "gateway.log"), "utf8")).toContain("event ended");
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
    expect(existsSync(join(state, "gateway.json"))).toBe(false);
  });

  test("without configuration says what is missing and what to run; loads the file once it is written", async () => {
    const home = temporaryHome();
    // The default port belongs to a gateway that somebody may run here.
    const state = join(home, ".service");
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "config.jsonc"), JSON.stringify({ gateway: { port: 0 } }));
    const gateway = startGateway(["gateway"], { home });
    const said = await gateway.until(/the manual is /);
    expect(said).toContain(`No channel and no webhook is enabled in ${join(state, "config.jsonc")}`);
    expect(said).toContain(`For your own bot: ${programCommand} init`);
    expect(said).toContain(`${programCommand} dev`);
    const page = /the manual is ([^)]+)/.exec(said)?.[1] ?? "";
    expect(existsSync(page)).toBe(true);
    writeFileSync(
      join(state, "config.jsonc"),
      JSON.stringify({ gateway: { port: 0 }, hooks: { enabled: true, token: "a-token-0123456789abcdef" } }),
    );
    await gateway.until(/reloaded/);
    const url = ready.exec(said)?.[1] ?? "";
    const answer = await fetch(`${url}/hooks/wake`, {
      method: "POST",
      headers: { authorization: "Bearer a-token-0123456789abcdef", "content-type": "application/json" },
      body: JSON.stringify({ text: "ring" }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  });

  test("limits its heap's young generation and helper threads in its own process, unless users set them", async () => {
    const { home } = homeWith({ gateway: { port: 0 } });
    const flagsOf = async (args: readonly string[], nodeArgs: readonly string[] = []) => {
      const gateway = start(args, { home, main: bundled, nodeArgs });
      await gateway.until(ready);
      const line = execFileSync("ps", ["-ww", "-o", "args=", "-p", String(gateway.child.pid)], { encoding: "utf8" });
      gateway.child.kill("SIGTERM");
      expect((await gateway.finished).code).toBe(0);
      return line.match(/--(max-semi-space|v8-pool)-size=\d+/g);
    };
    const helpers = `--v8-pool-size=${Math.min(4, availableParallelism())}`;
    expect(await flagsOf(["gateway"])).toEqual(["--max-semi-space-size=8", helpers]);
    expect(await flagsOf(["--state", join(home, ".service"), "gateway"])).toEqual(["--max-semi-space-size=8", helpers]);
    expect(await flagsOf(["gateway"], ["--max-semi-space-size=24"])).toEqual(["--max-semi-space-size=24"]);
    expect(await flagsOf(["gateway"], ["--v8-pool-size=3"])).toEqual(["--v8-pool-size=3", "--max-semi-space-size=8"]);
  });

  test("logs uncaught plugin errors: a rejected promise is survived, and a thrown error ends the process", async () => {
    const { home } = homeWith({ gateway: { port: 0 }, plugins: { load: ["./stray"] } });
    const folder = join(home, ".service", "stray");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "index.ts"),
      `import { definePlugin } from "service-gateway/sdk";
      export default definePlugin({ id: "stray", version: "1.0.0", host: "^0.2.0", setup(host) {
        host.onReady(() => {
          void Promise.reject(new Error("forgotten"));
          setTimeout(() => { throw new Error("thrown from a timer"); }, 300);
        });
      } });`,
    );
    const gateway = start(["gateway"], { home });
    await gateway.until(ready);
    const { code, err } = await gateway.finished;
    expect(code).toBe(1);
    expect(err).toContain("thrown from a timer");
    const lines = (await run(["logs", "--level", "error", "--json"], { home })).out.trimEnd().split("\n");
    // A line that is being written when the process ends may come behind its last line.
    const byTime = lines
      .map((line) => JSON.parse(line) as { readonly time: number })
      .sort((one, other) => one.time - other.time);
    expect(byTime).toMatchObject([
      { level: 50, error: { message: "forgotten" }, msg: "unhandled promise rejection" },
      { level: 60, error: { message: "thrown from a timer", stack: expect.stringContaining("stray/index.ts") } },
    ]);
  });

  test("provides its configuration to a command that names only the state directory", async () => {
    const home = temporaryHome();
    const [state, file] = [join(home, "state"), join(home, "elsewhere.jsonc")];
    writeFileSync(file, JSON.stringify({ gateway: { port: 0 }, channels: { botchat: { enabled: false } } }));
    const gateway = startGateway(["gateway", "--config", file, "--state", state], { home });
    await gateway.until(ready);
    const channels = await run(["channels", "status", "--state", state], { home });
    expect(channels).toMatchObject({ code: 0, out: expect.stringMatching(/^botchat:default +off/) });
    expect((await run(["config", "get", "gateway.port"], { home, env: { SERVICE_STATE_DIR: state } })).out).toBe("0\n");
    const set = await run(["config", "set", "log.level", "debug", "--state", state], { home });
    expect(set).toMatchObject({ code: 0, out: "log.level is set.\n", err: "Takes effect after a restart.\n" });
    expect((await run(["config", "set", "gateway.drainSeconds", "5", "--state", state], { home })).err).toBe("");
    // Who names a file means that one.
    const other = join(home, "other.jsonc");
    writeFileSync(other, JSON.stringify({ gateway: { port: 5 } }));
    const ways: readonly { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }[] = [
      { args: ["--config", other], env: {} },
      { args: [], env: { SERVICE_CONFIG: other } },
    ];
    for (const named of ways) {
      expect(
        (await run(["config", "get", "gateway.port", "--state", state, ...named.args], { home, env: named.env })).out,
      ).toBe("5\n");
    }
    gateway.child.kill("SIGTERM");
    expect((await gateway.finished).code).toBe(0);
  });

  test("exits with one sentence if another runs on the same state, and the first continues", async () => {
    const { home, state } = homeWith({ gateway: { port: 0 } });
    const first = startGateway(["gateway"], { home });
    await first.until(ready);
    const { code, err } = await run(["gateway"], { home });
    expect(code).toBe(1);
    expect(err).toContain(`error: Another gateway (process ${first.child.pid}) uses the state directory ${state}.\n`);
    expect((await run(["status"], { home })).out).toMatch(/^gateway +ready/);
  });

  test("continues after being suspended, and meanwhile no other gateway takes its state", async () => {
    const { home, state } = homeWith({ gateway: { port: 0 } });
    const first = startGateway(["gateway"], { home });
    await first.until(ready);
    first.child.kill("SIGSTOP");
    const { code, err } = await run(["gateway"], { home });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`(process ${first.child.pid}) uses the state directory ${state}.`),
    ]);
    first.child.kill("SIGCONT");
    expect((await run(["status"], { home })).out).toMatch(/^gateway +ready/);
  });

  test("exits with 1 and one sentence for a port in use or a missing file", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { home } = homeWith({ gateway: { port } });
    expect(await run(["gateway"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`error: 127.0.0.1:${port} is already in use.`),
    });
    const missing = join(home, "nowhere.jsonc");
    expect(await run(["gateway", "--config", missing], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${missing} does not exist.`),
    });
  });

  test("refuses a restart to a used port, another machine's address or an emptied file before it stops", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const { home, state } = homeWith({ gateway: { port: 0 } });
    const gateway = startGateway(["gateway"], { home });
    await gateway.until(ready);
    await run(["config", "set", "gateway.port", String(port)], { home });
    expect(await run(["restart"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining(`127.0.0.1:${port} is already in use`),
    });
    await run(["config", "set", "gateway.port", "0"], { home });
    await run(["config", "set", "gateway.host", "192.0.2.1"], { home });
    expect(await run(["restart"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining("Cannot listen on 192.0.2.1:0"),
    });
    writeFileSync(join(state, "config.jsonc"), "");
    expect(await run(["restart"], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining("contains no configuration"),
    });
    expect(await run(["status"], { home })).toMatchObject({
      out: expect.stringMatching(new RegExp(`ready.*process ${gateway.child.pid}`)),
    });
  });

  test("runs without a configuration file", async () => {
    const home = temporaryHome();
    const gateway = startGateway(["gateway"], { home, env: { SERVICE_STATE_DIR: join(home, "state") } });
    // The default port may be taken on this machine; either end is the one clear sentence.
    const said = await Promise.race([gateway.until(ready), gateway.finished.then(({ err }) => err)]);
    expect(said).toMatch(/ready at http:\/\/127\.0\.0\.1:18789|127\.0\.0\.1:18789 is already in use/);
  });
});

describe.concurrent("playground", () => {
  test("runs alone with the given token, and exits on SIGTERM", async () => {
    const playground = start(["playground", "--port", "0", "--token", "42:secret"], { home: temporaryHome() });
    const url = /http:\S+/.exec(await playground.until(/playground: http:\S+\n/))?.[0] ?? "";
    expect((await fetch(url)).status).toBe(200);
    expect(await (await fetch(`${url}/bot42:secret/getMe`)).json()).toMatchObject({ ok: true, result: { id: 42 } });
    playground.child.kill("SIGTERM");
    expect((await playground.finished).code).toBe(0);
  });
});
