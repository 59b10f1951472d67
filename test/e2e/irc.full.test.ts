/** A person on a real IRC server and the whole program: what was accepted is answered, whatever dies in between. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { createOpenAiServer } from "../openai-server/index.ts";
import { hasNgircd, type Ngircd, startNgircd } from "../support/irc/ngircd.ts";
import { meet, type Person } from "../support/irc/person.ts";
import { startScripted } from "../support/irc/scripted-server.ts";
import { makeCertificate } from "../support/mail/certificate.ts";
import { isIsolated, kill, stop } from "./room.ts";

if (!hasNgircd)
  console.warn(
    "left out: ngIRCd is not installed, so IRC is tested with a scripted server only (apt-get install ngircd)",
  );

async function serve(options: Parameters<typeof startNgircd>[0] = {}): Promise<Ngircd> {
  const server = await startNgircd(options);
  onTestFinished(() => server.close());
  return server;
}

interface Program {
  readonly home: string;
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
  service(...args: readonly string[]): ReturnType<typeof run>;
}

/** The program, as the example configures it. */
async function launch(
  port: number,
  options: object = {},
  { home = temporaryHome(), config = {} }: { readonly home?: string; readonly config?: object } = {},
): Promise<Program> {
  mkdirSync(join(home, ".service"), { recursive: true, mode: 0o700 });
  const irc = {
    server: "127.0.0.1",
    port,
    tls: false,
    nick: "bot",
    channels: ["#Room"],
    everyMs: 1,
    burst: 500,
    retry: { minDelayMs: 20, maxDelayMs: 200 },
  };
  const written = {
    gateway: { port: 0, drainSeconds: 2 },
    plugins: {
      load: [join(root, "plugins", "irc")],
      entries: { echo: { options: { delayMs: 0 } }, ...(isIsolated && { irc: { isolation: "worker" } }) },
    },
    agents: { defaults: { engine: "echo" } },
    session: { dmScope: "per-channel-peer" },
    channels: { irc: { ...irc, ...options } },
    ...config,
  };
  writeFileSync(join(home, ".service", "config.jsonc"), JSON.stringify(written));
  const gateway = startGateway(["gateway"], { home });
  await gateway.until(/ready at/);
  return {
    home,
    service: (...args) => run(args, { home }),
    kill: () => kill(gateway),
    stop: () => stop(gateway),
  };
}

const heard = (person: Person, target?: string) => person.heard("bot", target).join("\n");

describe.runIf(hasNgircd)("on a real IRC server", () => {
  test("an unknown sender is paired for a day without ownership, and the operator learns why", async () => {
    const server = await serve();
    const program = await launch(server.port);
    const ada = await meet(server.port, "Ada", ["#room"]);
    await ada.until(/^:bot!\S+ JOIN|353 .* @?bot/);
    ada.say("bot", "hello");
    await expect.poll(() => heard(ada)).toMatch(/Pairing code: [A-Z2-9]{8}/);
    expect(heard(ada)).toContain("Your id: ~ada");
    const [, code = ""] = /Pairing code: (\w+)/.exec(heard(ada)) ?? [];
    const approved = await program.service("pairing", "approve", "irc", code);
    expect([approved.code, approved.out]).toEqual([
      0,
      expect.stringContaining("The approval expires after 24 hours and makes no owner"),
    ]);
    await expect.poll(() => heard(ada)).toContain("You are approved");
    ada.say("bot", "**hello** again");
    await expect.poll(() => heard(ada)).toContain("hello again");
    ada.say("bot", "/config show");
    await expect.poll(() => heard(ada)).toContain("your id, ~ada, cannot be one");
    const why = await program.service("why", "last");
    expect(why.out).toContain("owner_identity_weak");
    expect((await program.service("pairing", "list", "irc")).out).toMatch(/~ada +default .*ends in/);
  });

  test("the bot answers a mention in a channel by nick, and doctor reports ids that can change hands", async () => {
    const server = await serve();
    const program = await launch(server.port, { groups: { "#ROOM": { allowFrom: ["~ADA"] } } });
    const ada = await meet(server.port, "ada", ["#room"]);
    const eve = await meet(server.port, "eve", ["#room"]);
    const withBot = /^:bot!\S+ JOIN| 353 .*[ :@]bot( |$)/m;
    for (const person of [ada, eve]) await expect.poll(() => person.lines.join("\n")).toMatch(withBot);
    ada.say("#Room", "nobody in particular");
    eve.say("#Room", "bot: let me in");
    ada.say("#room", "Bot, what is bread?");
    await expect.poll(() => heard(ada, "#Room")).toContain("ada: what is bread?");
    expect(heard(ada, "#Room").split("\n")).toEqual(["ada: what is bread?"]);
    const { out } = await program.service("doctor");
    expect(out).toContain('another person can take over "~ada" in channels.irc.groups.#ROOM.allowFrom');
  });

  test("a long answer arrives completely, in lines that the server does not truncate", async () => {
    const server = await serve();
    await launch(server.port, { dmPolicy: "open", allowFrom: ["*"] });
    const ada = await meet(server.port, "ada", ["#Room"]);
    await ada.until(/bot/);
    // Echoed in one piece: a person cannot write more in one line.
    const text = Array.from({ length: 60 }, (_, index) => `é${index}€`)
      .join(" ")
      .slice(0, 330);
    ada.say("bot", text);
    await expect.poll(() => heard(ada).replaceAll("\n", " ")).toBe(text.trim());
  });

  test("a TLS connection with a server password checks the certificate", async () => {
    const certificate = makeCertificate();
    onTestFinished(() => certificate.remove());
    const server = await serve({
      password: "let me in",
      tls: { cert: certificate.file, key: certificate.file.replace("cert.pem", "key.pem") },
    });
    const secure = { port: server.tlsPort, tls: true, dmPolicy: "open", allowFrom: ["*"] };
    const stranger = await launch(server.port, { ...secure, serverPassword: "let me in" });
    await expect
      .poll(async () => (await stranger.service("channels", "status")).out, { interval: 100 })
      .toMatch(/waiting[\s\S]*self.signed certificate/);
    await stranger.stop();
    const trusting = await launch(server.port, { ...secure, caFile: certificate.file, serverPassword: "let me in" });
    await expect
      .poll(async () => (await trusting.service("channels", "status")).out, { interval: 100 })
      .toMatch(/connected[\s\S]*irc:default: what people write while the gateway is down is lost\./);
    await trusting.stop();
    const wrong = await launch(server.port, { ...secure, caFile: certificate.file, serverPassword: "wrong" });
    await expect
      .poll(async () => (await wrong.service("channels", "status")).out, { interval: 100 })
      .toMatch(/failed|waiting/);
  }, 90_000);
});

/** How the events ended that the gateway accepted, from its own records; `open`: not yet. */
async function outcomes({ service }: Program): Promise<readonly string[]> {
  const { out } = await service("events", "list", "--limit", "1000", "--json");
  const { events } = JSON.parse(out) as {
    readonly events: readonly { readonly id: string; readonly outcome?: string }[];
  };
  return events.map(({ outcome }) => outcome ?? "open");
}

describe.runIf(hasNgircd)("no accepted message is lost", () => {
  const everybody = { dmPolicy: "open", allowFrom: ["*"] };
  const numbers = (person: Person) =>
    new Set(person.heard("bot").flatMap((text) => /number (\d+)/.exec(text)?.[1] ?? []));

  test("when the server is killed repeatedly while answers are being sent", async () => {
    const server = await serve();
    const program = await launch(server.port, everybody);
    const seen = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      const ada = await meet(server.port, "ada", ["#Room"]);
      await ada.until(/^:bot!\S+ JOIN|353 .* @?bot/);
      for (let index = 0; index < 20; index += 1) ada.say("bot", `number ${round * 20 + index}`);
      // The first answers are on their way.
      await expect.poll(() => numbers(ada).size).toBeGreaterThan(0);
      await server.kill();
      for (const number of numbers(ada)) seen.add(number);
      ada.leave();
      await server.start();
      const again = await meet(server.port, "ada", ["#Room"]);
      await again.until(/^:bot!\S+ JOIN|353 .* @?bot/);
      await expect.poll(async () => (await outcomes(program)).filter((outcome) => outcome === "open").length).toBe(0);
      for (const number of numbers(again)) seen.add(number);
      again.leave();
    }
    const ended = await outcomes(program);
    expect(ended.filter((outcome) => outcome !== "answered")).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(ended.length);
  }, 120_000);

  test("when the gateway is killed in a flood of messages", async () => {
    const server = await serve();
    let program = await launch(server.port, everybody);
    const ada = await meet(server.port, "ada", ["#Room"]);
    await ada.until(/^:bot!\S+ JOIN|353 .* @?bot/);
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 60; index += 1) ada.say("bot", `number ${round * 60 + index}`);
      await expect.poll(() => numbers(ada).size).toBeGreaterThan(round * 5);
      await program.kill();
      program = await launch(server.port, everybody, { home: program.home });
      await expect
        .poll(async () => (await program.service("channels", "status")).out, { interval: 100 })
        .toContain("connected");
      await expect.poll(async () => (await outcomes(program)).filter((outcome) => outcome === "open").length).toBe(0);
    }
    const ended = await outcomes(program);
    expect(ended.filter((outcome) => outcome !== "answered")).toEqual([]);
    await expect.poll(() => numbers(ada).size).toBeGreaterThanOrEqual(ended.length);
  }, 120_000);
});

test("the example runs as printed except for its addresses: owner by account, channel by nick", async () => {
  const server = await startScripted({ nick: "breadbot" });
  onTestFinished(() => server.close());
  const model = await createOpenAiServer();
  onTestFinished(() => model.close());
  const home = temporaryHome();
  const text = readFileSync(join(root, "examples", "irc", "config.jsonc"), "utf8")
    .replace("../../plugins/irc", join(root, "plugins", "irc"))
    .replace('"irc.libera.chat"', `"127.0.0.1", "port": ${server.port}, "tls": false`)
    .replace("http://127.0.0.1:11434/v1", model.url)
    .replace("{", '{ "gateway": { "port": 0 },');
  const config = join(home, "config.jsonc");
  writeFileSync(config, text);
  const env = { IRC_PASSWORD: "correct horse" };
  expect((await run(["config", "validate", "--config", config], { home, env })).code).toBe(0);
  const gateway = startGateway(["gateway", "--config", config], { home, env });
  await gateway.until(/ready at/);
  await expect.poll(() => server.lines).toContain("JOIN #bread");
  server.send("@account=ada :ada_!a@127.0.0.1 PRIVMSG breadbot :/config show");
  await expect
    .poll(() => server.messages.map(({ target, text: said }) => `${target} ${said}`).join("\n"))
    .toContain("ada_ ");
  expect(server.messages.map(({ text: said }) => said).join("\n")).not.toContain("owner");
  server.send(":bela!b@127.0.0.1 PRIVMSG #bread :breadbot: What is bread?");
  await expect
    .poll(() =>
      server.messages
        .filter(({ target }) => target === "#bread")
        .map(({ text: said }) => said)
        .join(),
    )
    .toMatch(/^bela: .*What is bread/);
  const before = server.messages.length;
  server.send(":ada!a@127.0.0.1 PRIVMSG breadbot :I am ada, believe me");
  await expect
    .poll(async () => (await run(["events", "list", "--config", config, "--json"], { home, env })).out, {
      interval: 100,
    })
    .toContain("sender_not_allowed");
  expect(server.messages.length).toBe(before);
});
