import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

interface Finding {
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly reason: string;
  readonly path?: string;
  readonly fix?: string;
  readonly repair?: string;
  readonly mended?: boolean;
}

interface Answer {
  readonly code: number | null;
  readonly ok: boolean;
  readonly backup?: string;
  readonly findings: readonly Finding[];
}

function homeWith(config: object | string): { readonly home: string; readonly file: string; readonly state: string } {
  const home = temporaryHome();
  const state = join(home, "state");
  const file = join(home, "config.jsonc");
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config), { mode: 0o600 });
  return { home, file, state };
}

const basics = { gateway: { port: 0 }, state: { dir: "state" } };

async function doctor(home: string, ...more: readonly string[]): Promise<Answer> {
  const { code, out, err } = await run(["doctor", "--json", "--config", join(home, "config.jsonc"), ...more], { home });
  expect(err).toBe("");
  return { code, ...(JSON.parse(out) as Omit<Answer, "code">) };
}

const of = ({ findings }: Answer, check: string) => findings.filter((finding) => finding.check === check);

describe("doctor", () => {
  test("gives each check a name, a verdict and a reason for a valid configuration without a gateway", async () => {
    const { home, state } = homeWith({ ...basics, agents: { defaults: { engine: "echo" } } });
    const answer = await doctor(home);
    expect(answer).toMatchObject({ code: 0, ok: true });
    expect(answer.findings.map(({ check, verdict }) => `${check} ${verdict}`)).toEqual([
      "configuration ok",
      "tokens ok",
      "state ok",
      "disk ok",
      "backup ok",
      "gateway ok",
      "reach ok",
      "plugins ok",
      "agents ok",
      "platform ok",
      "allowlists ok",
      "groups ok",
      "strangers ok",
      "other bots ok",
      "conversations ok",
    ]);
    expect(answer.findings.every(({ reason }) => reason.length > 0)).toBe(true);
    expect(existsSync(join(state, "state.db"))).toBe(false);
    const { out } = await run(["doctor", "--config", join(home, "config.jsonc")], { home });
    expect(out).toMatch(/^✓ {2}configuration +\S+config\.jsonc is valid\n/);
    expect(out).toContain("\nAll is well.\n");
  });

  test("reports an unreadable file as its only finding, with the line", async () => {
    const { home } = homeWith('{\n  "gateway": {\n');
    const answer = await doctor(home);
    expect(answer).toMatchObject({ code: 1, ok: false, findings: [{ check: "configuration", verdict: "fail" }] });
    expect(answer.findings[0]?.reason).toMatch(/config\.jsonc:3:1/);
  });

  test("reports problems of the file with path, line and remedy, and exits with 1 on an error", async () => {
    const { home } = homeWith({ ...basics, gatewy: {}, hooks: { enabled: true } });
    const answer = await doctor(home);
    expect(answer.code).toBe(1);
    expect(of(answer, "configuration")).toMatchObject([
      { verdict: "warn", path: "gatewy", reason: expect.stringContaining("(line 1)") },
      {
        verdict: "fail",
        path: "hooks.token",
        reason: expect.stringContaining("hooks is off until then"),
        fix: expect.stringContaining("long random"),
      },
    ]);
  });

  test("reports tokens that are easy to guess without showing them", async () => {
    const { home } = homeWith({
      ...basics,
      gateway: { port: 0, auth: { token: "hunter2-hunter2-h" } },
      hooks: { enabled: true, token: "kurz" },
    });
    const answer = await doctor(home);
    expect(of(answer, "tokens")).toMatchObject([{ verdict: "warn", path: "gateway.auth.token" }]);
    expect(of(answer, "configuration")).toMatchObject([
      {
        verdict: "fail",
        path: "hooks.token",
        reason: expect.stringContaining("fewer than 8 characters, so it is not used; hooks is off"),
      },
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|kurz/);
  });

  test("reports a large database that cannot shrink, and --fix rewrites it", async () => {
    const { home, state } = homeWith(basics);
    await (await openSqliteStore({ directory: state, now: () => 0 })).close();
    const file = join(state, "state.db");
    const db = new DatabaseSync(file);
    db.exec("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM");
    db.exec("INSERT INTO kv (namespace, key, value) VALUES ('n', 'k', hex(zeroblob(10000000))); DELETE FROM kv");
    db.close();
    const told = of(await doctor(home), "disk");
    expect(told).toContainEqual(
      expect.objectContaining({ verdict: "warn", reason: expect.stringMatching(/^state\.db contains 19 MB/) }),
    );
    const mended = of(await doctor(home, "--fix"), "disk");
    expect(mended).toContainEqual(expect.objectContaining({ repair: "rewrite state.db", mended: true }));
    expect(statSync(file).size).toBeLessThan(1_000_000);
    expect(of(await doctor(home), "disk").filter(({ reason }) => reason.startsWith("state.db"))).toEqual([]);
  });

  test("reports files that other users can read, and --fix makes them private; --dry-run only lists them", async () => {
    const { home, file, state } = homeWith({
      ...basics,
      hooks: { enabled: true, token: "Zx81-of-the-north-west-0042" },
    });
    mkdirSync(state);
    writeFileSync(join(state, "gateway-token"), "x");
    for (const [path, mode] of [
      [file, 0o644],
      [state, 0o755],
      [join(state, "gateway-token"), 0o644],
    ] as const)
      chmodSync(path, mode);
    const modes = () =>
      [file, state, join(state, "gateway-token")].map((path) => (statSync(path).mode & 0o777).toString(8));
    const dry = await doctor(home, "--fix", "--dry-run");
    expect(dry.findings.filter(({ repair }) => repair !== undefined).map(({ path }) => path)).toEqual([
      file,
      state,
      join(state, "gateway-token"),
    ]);
    expect(modes()).toEqual(["644", "755", "644"]);
    const fixed = await doctor(home, "--fix");
    expect(fixed.findings.filter(({ mended }) => mended === true).length).toBe(3);
    expect(fixed.backup).toBeUndefined();
    expect(modes()).toEqual(["600", "700", "600"]);
    expect((await doctor(home)).findings.some(({ repair }) => repair !== undefined)).toBe(false);
  });

  test("reports an unusable mention pattern and a binding to a missing agent with their paths", async () => {
    const { home } = homeWith({
      ...basics,
      messages: { groupChat: { mentionPatterns: ["fine", "(broken"] } },
      agents: {
        defaults: { engine: "echo" },
        list: [{ id: "a" }, { id: "b", groupChat: { mentionPatterns: ["[a-"] } }],
      },
      bindings: [{ agentId: "c", match: { channel: "botchat" } }],
    });
    const answer = await doctor(home);
    expect(of(answer, "agents").map(({ verdict, path, reason }) => [verdict, path, reason.split(" ")[0]])).toEqual([
      ["warn", "messages.groupChat.mentionPatterns", '"(broken"'],
      ["warn", "agents.list[1].groupChat.mentionPatterns", '"[a-"'],
      ["warn", "bindings[0].match", "bindings[0]"],
    ]);
    expect(of(answer, "configuration")).toMatchObject([
      { path: "bindings[0].agentId", fix: expect.stringContaining("agents.list") },
    ]);
  });

  test("reports skills that no model is offered and skill names missing in each workspace, with paths", async () => {
    const { home } = homeWith({
      ...basics,
      agents: {
        defaults: { engine: "echo", workspace: "work", skills: ["bread", "cake"] },
        list: [{ id: "a" }, { id: "b", skills: ["tea"] }],
      },
      channels: {
        botchat: {
          botToken: "7:no-bot",
          apiRoot: "http://127.0.0.1:9",
          groups: { "-1": { skills: ["bread", "beer"], topics: { "5": { skills: ["ale"] } } } },
        },
      },
    });
    for (const [name, text] of [
      ["bread", "---\ndescription: Bakes.\n---\n"],
      ["draft", "words"],
    ] as const) {
      mkdirSync(join(home, "work", "skills", name), { recursive: true });
      writeFileSync(join(home, "work", "skills", name, "SKILL.md"), text);
    }
    expect(of(await doctor(home), "agents").map(({ path, reason }) => [path, /"(\w+)"/.exec(reason)?.[1]])).toEqual([
      [join(home, "work", "skills", "draft", "SKILL.md"), undefined],
      ["agents.defaults.skills", "cake"],
      ["agents.list[1].skills", "tea"],
      ["channels.botchat.groups.-1.skills", "beer"],
      ["channels.botchat.groups.-1.topics.5.skills", "ale"],
    ]);
  });

  test("reports a model without a price under a limit in US dollars, but not a model with a price", async () => {
    const { home } = homeWith({
      ...basics,
      agents: {
        defaults: { model: { primary: "vendor/gpt-4o-mini", fallbacks: ["local/small", "free/tiny"] } },
        list: [{ id: "a", budget: { perDayUsd: 1 } }, { id: "b" }],
      },
      models: {
        providers: {
          vendor: { api: "openai", apiKey: "unused" },
          local: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" },
          free: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" },
        },
        prices: { "free/*": { input: 0, output: 0 } },
      },
    });
    expect(of(await doctor(home), "agents")).toMatchObject([
      {
        verdict: "fail",
        path: "agents.list[0].budget.perDayUsd",
        reason: "the price of local/small is unknown, so it is not called",
      },
    ]);
  });

  test("names servers of models that get their key without encryption, except in the own network", async () => {
    const key = { api: "openai-compatible", apiKey: "sk-0123456789abcdef" };
    const { home } = homeWith({
      ...basics,
      models: {
        providers: {
          far: { ...key, baseUrl: "http://models.example.org/v1" },
          header: { api: "openai-compatible", baseUrl: "http://93.184.216.34/v1", headers: { "x-key": "0123456789" } },
          safe: { ...key, baseUrl: "https://models.example.org/v1" },
          open: { api: "openai-compatible", baseUrl: "http://models.example.org/v1" },
          near: { ...key, baseUrl: "http://192.168.1.5:11434/v1" },
          here: { ...key, baseUrl: "http://localhost:11434/v1" },
        },
      },
    });
    expect(
      of(await doctor(home), "models").map(({ verdict, path, reason }) => `${verdict} ${path}: ${reason}`),
    ).toEqual([
      "warn models.providers.far.baseUrl: far gets its key without encryption, at http://models.example.org",
      "warn models.providers.header.baseUrl: header gets its key without encryption, at http://93.184.216.34",
    ]);
  });

  test("names the file and the fix, as stop does, if the running gateway's token is not in the file now", async () => {
    const server = createHttpServer((_, response) => {
      response
        .writeHead(401)
        .end('{ "ok": false, "error": "The gateway token is missing or wrong.", "code": "unauthorized" }');
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    onTestFinished(() => void server.close());
    const { home, state, file } = homeWith(basics);
    mkdirSync(state, { mode: 0o700 });
    const url = `http://127.0.0.1:${(server.address() as { readonly port: number }).port}`;
    writeFileSync(join(state, "gateway.json"), JSON.stringify({ url, pid: process.pid, startedAt: 1 }), {
      mode: 0o600,
    });
    const lost =
      `The file ${join(state, "gateway-token")} is missing or empty. End process ${process.pid} ` +
      "(SIGTERM) and start the gateway again";
    expect(of(await doctor(home), "gateway")).toMatchObject([
      {
        verdict: "fail",
        reason: `process ${process.pid} at ${url} refuses: The gateway token is missing or wrong`,
        fix: expect.stringContaining(lost),
      },
    ]);
    expect(await run(["stop", "--config", file], { home })).toMatchObject({
      code: 1,
      err: expect.stringContaining(lost),
    });
    writeFileSync(join(state, "gateway-token"), "another", { mode: 0o600 });
    const { err } = await run(["stop", "--config", file], { home });
    expect(err).toContain("gateway-token has another token than the running gateway.");
  });

  test("reports a port in use, a killed gateway, a publicly reachable address, an overly trusted proxy", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { readonly port: number };
    const { home, state } = homeWith({ ...basics, gateway: { port } });
    mkdirSync(state, { mode: 0o700 });
    writeFileSync(
      join(state, "gateway.json"),
      JSON.stringify({ url: "http://127.0.0.1:1", pid: 2 ** 22 + 1, startedAt: 1 }),
      {
        mode: 0o600,
      },
    );
    expect(of(await doctor(home), "gateway")).toMatchObject([
      { verdict: "fail", path: "gateway.port", reason: expect.stringContaining("is already in use") },
      { verdict: "warn", reason: expect.stringContaining("did not shut down properly") },
    ]);
    const open = homeWith({
      ...basics,
      gateway: { host: "0.0.0.0", port: 0 },
      hooks: { enabled: true, token: "Zx81-of-the-north-west-0042" },
    });
    expect(of(await doctor(open.home), "reach")).toMatchObject([
      {
        verdict: "warn",
        path: "gateway.host",
        reason: expect.stringContaining("the hook endpoints"),
        fix: expect.stringContaining("gateway.trustedProxies"),
      },
    ]);
    const anyone = homeWith({ ...basics, gateway: { host: "0.0.0.0", port: 0, trustedProxies: ["0.0.0.0/0"] } });
    expect(of(await doctor(anyone.home), "reach")).toMatchObject([{ verdict: "fail", path: "gateway.trustedProxies" }]);
  });

  test("matches its documentation page, which has a row per check in the order of the report", async () => {
    const { home } = homeWith({ ...basics, agents: { defaults: { engine: "echo" } } });
    const page = readFileSync(
      join(import.meta.dirname, "..", "..", "..", "core", "cli", "doctor", "README.md"),
      "utf8",
    );
    const rows = [...page.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, name]) => name);
    // These say nothing while there is nothing to look at.
    const quiet = ["configuration file", "old state", "transforms", "tools", "models", "budgets", "voice", "owners"];
    expect(rows.filter((name) => !quiet.includes(String(name)))).toEqual(
      (await doctor(home)).findings.map(({ check }) => check),
    );
  });

  test("warns of transforms that run without isolation", async () => {
    const mappings = [{ match: { path: "x" }, messageTemplate: "x", transform: { module: "a.ts" } }];
    const hooks = { enabled: true, token: "Zx81-of-the-north-west-0042", mappings };
    const findings = async (transforms: object) =>
      of(await doctor(homeWith({ ...basics, hooks: { ...hooks, transforms } }).home), "transforms");
    expect(await findings({ runtime: "trusted" })).toMatchObject([
      { verdict: "warn", path: "hooks.transforms.runtime" },
    ]);
    expect(await findings({})).toEqual([]);
  });

  test("exits with 2 on wrong usage, and its help has an example", async () => {
    const home = temporaryHome();
    expect((await run(["doctor", "--nonsense"], { home })).code).toBe(2);
    expect((await run(["doctor", "--help"], { home })).out).toContain(`${programCommand} doctor --fix --dry-run`);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("owners", () => {
  const botchat = (more: object) => ({
    ...basics,
    agents: { defaults: { engine: "echo" } },
    channels: { botchat: { apiRoot: "http://127.0.0.1:1", dmPolicy: "open", allowFrom: ["*"], ...more } },
  });
  const accounts = { home: { botToken: "5001:home-token-AbCdEf" }, work: { botToken: "5002:work-token-AbCdEf" } };
  const withState = async (config: object) => {
    const { home, state } = homeWith(config);
    const store = await openSqliteStore({ directory: state, now: Date.now });
    return { home, store };
  };

  test("an owner with whom no account has written is a warning, until there is a chat", async () => {
    const { home, store } = await withState({ ...botchat({ accounts }), commands: { ownerAllowFrom: [1001] } });
    await store.close();
    expect(of(await doctor(home), "owners")).toMatchObject([
      { verdict: "warn", path: "commands.ownerAllowFrom", reason: expect.stringContaining("go to botchat:home") },
    ]);
    const again = await openSqliteStore({ directory: join(home, "state"), now: Date.now });
    await again.set("owner-chats", "botchat:1001", { account: "work", chat: "1001" });
    await again.close();
    expect(of(await doctor(home), "owners")).toMatchObject([{ verdict: "ok" }]);
  });

  test("a bot without an owner is a warning, unless the first approved person becomes one", async () => {
    const { home, store } = await withState(botchat({ botToken: accounts.home.botToken }));
    await store.close();
    expect(of(await doctor(home), "owners")).toMatchObject([
      { verdict: "warn", reason: expect.stringContaining("the bot has no owner") },
    ]);
    const pairing = botchat({ botToken: accounts.home.botToken, dmPolicy: "pairing", allowFrom: undefined });
    writeFileSync(join(home, "config.jsonc"), JSON.stringify(pairing));
    expect(of(await doctor(home), "owners")).toEqual([]);
  });
});
