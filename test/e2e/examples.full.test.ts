/**
 * The folders of `examples/`: each is started as it is written, against the emulated platform and a stand-in for the
 * model.
 */
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { applyEdits, modify, parse } from "jsonc-parser";
import { afterAll, aroundEach, beforeAll, describe, test } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { root, sources } from "../house/sources.ts";
import { createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { startImapServer } from "../support/mail/imap-server.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { freePort } from "../support/ports.ts";
import { answered, answers, botToken, openPlatform, people, type Running, restart, writeConfig } from "./room.ts";

aroundEach(inOwnTest);

const hasCaddy = existsSync("/usr/bin/caddy");
if (!hasCaddy) console.warn("Caddy is not installed: the reverse proxy of examples/production is not tested");

const folders = sources("examples/*/config.jsonc").map((path) => path.split("/")[1] ?? "");
const own = ["dev", "discord", "irc", "matrix", "mattermost", "slack"];
/** Tested with a database, in `nodes.test.ts`. */
const withDatabase = ["several-nodes"];
const environment = {
  HOOK_TOKEN: "hook-token-of-the-examples",
  BOT_TOKEN: botToken,
};
/** The files that readers write beside the configuration. */
const secrets = {
  "bot-token": botToken,
  "hook-token": environment.HOOK_TOKEN,
  "github-secret": "github-secret-of-the-examples",
  "stripe-secret": "whsec_stripe-secret-of-the-examples",
  "mail-password": "secret-of-ada",
};
const kitchen = -1_001_000_000_001;
const workshop = -1_001_000_000_002;

beforeAll(() => void Object.assign(process.env, environment));

afterAll(() => {
  for (const key of Object.keys(environment)) delete process.env[key];
});

interface Example {
  readonly platform: Platform;
  readonly model: OpenAiServer;
  readonly gateway: Running;
  readonly ada: number;
  readonly bela: number;
  /** As a sender outside of the gateway. */
  post(name: string, body: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** The folder in a home of its own. Only addresses, ids and the reader's own steps differ from what is written. */
async function startExample(
  name: string,
  {
    ready = [],
    greet = false,
    settings = {},
  }: {
    readonly ready?: readonly string[];
    /** The reader writes `/whoami` first, and puts the id of the answer into the file. */
    readonly greet?: boolean;
    /** Addresses of stand-ins, by the path of their setting. */
    readonly settings?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<Example> {
  const home = temporaryHome();
  cpSync(join(root, "examples", name), home, { recursive: true });
  const platform = await openPlatform({ privacy: false });
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const [ada = 0, bela = 0] = people(platform);
  for (const [file, secret] of Object.entries(secrets)) writeFileSync(join(home, file), secret, { mode: 0o600 });
  mkdirSync(join(home, "transforms"), { recursive: true });
  for (const file of ready) copyFileSync(join(root, "transforms", file), join(home, "transforms", file));
  const file = join(home, "config.jsonc");
  let text = readFileSync(file, "utf8")
    .replaceAll("-1001234567890", String(kitchen))
    .replaceAll("-1009876543210", String(workshop))
    .replaceAll("987654321", String(bela));
  if (!greet) text = text.replaceAll("123456789", String(ada));
  const set = (path: readonly string[], value: unknown) => {
    text = applyEdits(text, modify(text, [...path], value, {}));
  };
  for (const [path, value] of Object.entries(settings)) set(path.split("."), value);
  set(["gateway", "port"], 0);
  set(["state", "dir"], "state");
  set(["channels", "botchat", "apiRoot"], platform.url);
  set(["channels", "botchat", "polling"], { timeoutSeconds: 1 });
  // The example of a first bot names a provider that is known.
  const provider = text.includes('"ollama/') ? "ollama" : "local";
  if (provider === "ollama" || (parse(text) as { models?: unknown }).models !== undefined)
    set(["models", "providers", provider, "baseUrl"], model.url);
  writeFileSync(file, text);
  const gateway = await restart({ home, file, env: environment });
  if (greet) {
    platform.act.say(ada, ada, "/whoami");
    await answered(platform, ada, "Your id:");
    writeConfig(file, text.replaceAll("123456789", /Your id: (\d+)/.exec(spoken(platform, ada))?.[1] ?? ""));
    await gateway.until(/the configuration was reloaded/);
  }
  return {
    platform,
    model,
    gateway,
    ada,
    bela,
    post: (hook, body, headers = { authorization: `Bearer ${environment.HOOK_TOKEN}` }) =>
      fetch(`${gateway.url}/hooks/${hook}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
      }),
  };
}

const spoken = (platform: Platform, chat: number) => answers(platform, chat).join("\n---\n");

describe.concurrent("the manual", () => {
  test("each page starts with the file beside it, and the index lists the folders", () => {
    const index = readFileSync(join(root, "README.md"), "utf8");
    for (const folder of folders.filter((name) => !own.includes(name))) {
      const page = readFileSync(join(root, "examples", folder, "README.md"), "utf8");
      for (const [, file = "", text] of page.matchAll(/^`([\w./-]+)`:\n\n```\w+\n([\s\S]*?)```/gm)) {
        expect([folder, file, text]).toEqual([
          folder,
          file,
          readFileSync(join(root, "examples", folder, file), "utf8"),
        ]);
      }
      expect(page).toMatch(/^# .+\n\n`config\.jsonc`:/);
      expect(index).toContain(`examples/${folder}/README.md`);
    }
  });

  test("first-bot: an unknown sender gets a code, and the model answers after the approval", async () => {
    const { platform, gateway, ada } = await startExample("first-bot");
    platform.act.say(ada, ada, "hello");
    await answered(platform, ada, /pairing approve botchat \w+/);
    const code = /pairing approve botchat (\w+)/.exec(spoken(platform, ada))?.[1] ?? "";
    const approved = await run(["pairing", "approve", "botchat", code, "--config", gateway.file], {
      home: gateway.home,
    });
    expect(approved.code).toBe(0);
    platform.act.say(ada, ada, "what is new?");
    await answered(platform, ada, "what is new?");
  });

  test("webhooks-github: a signed event runs and replies in the chat; an unsigned one is refused", async () => {
    const { platform, model, ada, post } = await startExample("webhooks-github", {
      ready: ["github.ts", "message.ts"],
      greet: true,
    });
    const body = JSON.stringify({
      action: "opened",
      issue: {
        number: 7,
        title: "The door jams",
        html_url: "https://github.com/acme/house/issues/7",
        user: { login: "ada" },
      },
      repository: { full_name: "acme/house", html_url: "https://github.com/acme/house" },
      sender: { login: "ada" },
    });
    const github = {
      "x-github-event": "issues",
      "x-github-delivery": "72d3162e",
      "x-hub-signature-256": `sha256=${createHmac("sha256", secrets["github-secret"]).update(body).digest("hex")}`,
    };
    expect((await post("github", body, github)).status).toBe(202);
    await answered(platform, ada, "The door jams");
    expect(JSON.stringify(model.requests.map(({ body }) => body.messages))).toContain(
      "Summarize the event in two sentences.",
    );
    expect((await post("github", body, { "x-github-event": "issues" })).status).toBe(401);
  });

  test("webhooks-stripe: a signed event is sent unchanged without calling a model", async () => {
    const { platform, model, ada, post } = await startExample("webhooks-stripe", {
      ready: ["stripe.ts", "message.ts"],
      greet: true,
    });
    const body = JSON.stringify({
      id: "evt_1",
      type: "invoice.payment_failed",
      data: {
        object: { object: "invoice", id: "in_1", number: "A-7", amount_due: 1_250, currency: "eur", customer: "cus_1" },
      },
    });
    const at = Math.floor(Date.now() / 1_000);
    const signature = createHmac("sha256", secrets["stripe-secret"]).update(`${at}.${body}`).digest("hex");
    expect((await post("stripe", body, { "stripe-signature": `t=${at},v1=${signature}` })).status).toBe(202);
    await answered(platform, ada, "A-7");
    expect(model.requests).toEqual([]);
  });

  test("webhooks-own: the alert is sent unchanged, the report comes from the agent, and the note waits", async () => {
    const { platform, model, ada, post } = await startExample("webhooks-own", { greet: true });
    expect((await post("alert", '{ "title": "Disk of db-3", "state": "alerting" }')).status).toBe(202);
    await answered(platform, ada, "Disk of db-3 is alerting");
    expect(model.requests).toEqual([]);
    expect((await post("report", '{ "host": "db-3", "text": "3 jobs done, 1 skipped" }')).status).toBe(202);
    await answered(platform, ada, "1 skipped");
    expect((await post("note", '{ "text": "The backup has finished." }')).status).toBe(200);
    platform.act.say(ada, ada, "anything else?");
    await answered(platform, ada, "anything else?");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("The backup has finished.");
  });

  test("mail: a mail from a listed sender is answered with the instructions; another one does not run", async () => {
    const server = await startImapServer();
    onTestFinished(() => server.close());
    const place = { host: "127.0.0.1", port: server.port, tls: false, user: server.user };
    const settings = Object.fromEntries(
      Object.entries(place).map(([key, value]) => [`hooks.imap.accounts.work.${key}`, value]),
    );
    const { platform, model, gateway, ada } = await startExample("mail", { greet: true, settings });
    const watched = async () =>
      (await run(["webhooks", "imap", "status", "--config", gateway.file], { home: gateway.home })).out;
    await expect.poll(watched, { interval: 100 }).toMatch(/work .* ok/);
    platform.act.say(ada, ada, "hello");
    await answered(platform, ada, "hello");
    const mail = (from: string, text: string) =>
      `From: ${from}\r\nTo: ada@example.org\r\nSubject: Lamps\r\n\r\n${text}\r\n`;
    await server.deliver(mail("eve@elsewhere.example", "Buy our lamps!"));
    await server.deliver(mail("Bela <bela@example.org>", "The lamps are here."));
    await answered(platform, ada, "The lamps are here.");
    expect(JSON.stringify(model.requests.map(({ body }) => body.messages))).toContain(
      "Summarise the mail in two sentences.",
    );
    expect(spoken(platform, ada)).not.toContain("Buy our lamps!");
  });

  test("transform: a large order is reported and a small one is not", async () => {
    const { platform, ada, post } = await startExample("transform", { greet: true });
    expect((await post("orders", '{ "number": 6, "items": [{ "name": "bulb", "price": 3 }] }')).status).toBe(204);
    expect((await post("orders", '{ "number": 7, "items": [{ "name": "lamp", "price": 120 }] }')).status).toBe(202);
    await answered(platform, ada, "Order 7: lamp. Total: 120.00");
    expect(spoken(platform, ada)).not.toContain("Order 6");
  });

  test("several-agents: the group uses another agent and another model", async () => {
    const { platform, model, ada } = await startExample("several-agents");
    platform.act.say(ada, ada, "good morning");
    await answered(platform, ada, "good morning");
    platform.act.say(ada, kitchen, "a draft of mine");
    await answered(platform, kitchen, "a draft of mine");
    expect(model.requests.map(({ body }) => body.model)).toEqual(["llama3.2", "mistral"]);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("You edit texts.");
  });

  test("groups-and-topics: requires a mention in the group, none in one topic, and ignores another topic", async () => {
    const { platform, ada, bela } = await startExample("groups-and-topics");
    const mention = { entities: [{ type: "mention" as const, offset: 0, length: 8 }] };
    platform.act.say(bela, kitchen, "between us");
    platform.act.say(bela, kitchen, "@e2e_bot when do we train?", mention);
    await answered(platform, kitchen, "when do we train?");
    expect(spoken(platform, kitchen)).not.toContain("between us\n---");
    platform.act.say(ada, workshop, "@e2e_bot in the forum", mention);
    await answered(platform, workshop, "in the forum");
  });

  test("team: an approved member has a separate conversation; pairing makes no member an owner", async () => {
    const { platform, model, gateway, ada } = await startExample("team");
    const cleo = people(platform)[2] ?? 0;
    platform.act.say(ada, ada, "the secret of ada");
    await answered(platform, ada, "the secret of ada");
    platform.act.say(cleo, cleo, "let me in");
    await answered(platform, cleo, /pairing approve botchat \w+/);
    const code = /pairing approve botchat (\w+)/.exec(spoken(platform, cleo))?.[1] ?? "";
    expect(
      (await run(["pairing", "approve", "botchat", code, "--config", gateway.file], { home: gateway.home })).code,
    ).toBe(0);
    platform.act.say(cleo, cleo, "good morning");
    await answered(platform, cleo, "good morning");
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain("the secret of ada");
    platform.act.say(cleo, cleo, "/config get log.level");
    await answered(platform, cleo, /owner/);
  });

  test("production: it is ready only under its own host name, and its backup starts elsewhere", async () => {
    const { gateway } = await startExample("production");
    const port = new URL(gateway.url).port;
    const status = async (host: string) =>
      Number(
        (
          await promisify(execFile)("curl", [
            "-s",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "-H",
            `Host: ${host}`,
            `http://127.0.0.1:${port}/metrics`,
          ])
        ).stdout,
      );
    expect(await status("gateway.example.org")).toBe(401);
    expect(await status("evil.example.net")).toBe(421);
    const target = join(gateway.home, "backup.tar.gz");
    const commandOf = (...args: readonly string[]) => run(args, { home: gateway.home, env: environment });
    expect((await commandOf("backup", target, "--config", gateway.file)).code).toBe(0);
    gateway.child.kill("SIGTERM");
    await gateway.finished;
    const other = join(gateway.home, "state");
    rmSync(other, { recursive: true, force: true });
    expect((await commandOf("restore", target, "--to", other)).code).toBe(0);
    expect(existsSync(join(other, "state.db"))).toBe(true);
    await restart({ home: gateway.home, file: gateway.file, env: environment });
  });

  // The distribution's Caddy; the address of the example gets a certificate of Caddy's own authority.
  test.skipIf(!hasCaddy)("production: the proxy exposes only webhooks and health", async () => {
    const { gateway } = await startExample("production");
    const directory = temporaryHome();
    const [port, plainPort] = [await freePort(), await freePort()];
    const local = `{\n\tadmin off\n\tskip_install_trust\n\thttps_port ${port}\n\thttp_port ${plainPort}\n}\n`;
    const file = join(directory, "Caddyfile");
    const text = readFileSync(join(root, "examples", "production", "Caddyfile"), "utf8");
    const there = text
      .replace("127.0.0.1:18789", new URL(gateway.url).host)
      .replace(".example.org {", ".example.org {\n\ttls internal");
    writeFileSync(file, `${local}${there}`);
    const caddy = spawn("caddy", ["run", "--adapter", "caddyfile", "--config", file], {
      env: { PATH: process.env.PATH, HOME: directory, XDG_DATA_HOME: directory },
      stdio: "ignore",
    });
    onTestFinished(() => void caddy.kill("SIGKILL"));
    const name = "gateway.example.org";
    const asked = async (path: string, ...more: readonly string[]) => {
      const resolve = ["--resolve", `${name}:${port}:127.0.0.1`];
      const say = ["-sk", "-o", "/dev/null", "-w", "%{http_code}"];
      const answer = await promisify(execFile)("curl", [
        ...say,
        ...resolve,
        ...more,
        `https://${name}:${port}${path}`,
      ]).catch(() => undefined);
      return answer?.stdout;
    };
    await expect.poll(() => asked("/healthz")).toBe("200");
    const authorized = [
      "-H",
      `Authorization: Bearer ${environment.HOOK_TOKEN}`,
      "-H",
      "Content-Type: application/json",
    ];
    expect(await asked("/readyz")).toBe("200");
    expect(
      await asked("/hooks/wake", ...authorized, "-d", '{"text":"through the proxy","mode":"next-heartbeat"}'),
    ).toBe("200");
    expect(await asked("/hooks/wake", "-d", "{}")).toBe("401");
    for (const path of ["/metrics", "/gateway/status", "/"]) expect(await asked(path)).toBe("404");
  });

  test("plugin: the command works and counts", async () => {
    const { platform, ada } = await startExample("plugin");
    platform.act.say(ada, ada, "/dice");
    await answered(platform, ada, /You threw [1-6]\. Throws in this chat: 1/);
    platform.act.say(ada, ada, "/dice");
    await answered(platform, ada, "Throws in this chat: 2");
  });

  test("every folder has its own test", () => {
    const text = readFileSync(import.meta.filename, "utf8");
    expect(
      folders.filter((name) => ![...own, ...withDatabase].includes(name) && !text.includes(`startExample("${name}"`)),
    ).toEqual([]);
  });
});
