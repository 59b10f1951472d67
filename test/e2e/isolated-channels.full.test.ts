/**
 * The program with the channels botchat and irc in threads of their own: people, groups, files, previews, edits of the
 * file, and deaths.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { aroundEach, test } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { bundled, ownFlags, type Started, start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type GatewayProcess, startGateway } from "../core/cli/gateway-runner.ts";
import { root } from "../house/sources.ts";
import { type ScriptedServer, startScripted } from "../support/irc/scripted-server.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import { kitchen } from "./conversation.ts";
import {
  answered,
  answers,
  configure,
  kill,
  openChannel,
  openPlatform,
  people,
  stop,
  takenOver,
  writeConfig,
} from "./room.ts";

aroundEach(inOwnTest);

/** Ends the thread of a plugin from outside, once its name is in the file, as a crash would. */
const crashes = (file: string) =>
  `data:text/javascript,${encodeURIComponent(`
  import { existsSync, readFileSync, unlinkSync } from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  import threads from "node:worker_threads";
  const all = [];
  threads.Worker = class extends threads.Worker {
    constructor(file, options) { super(file, options); all.push({ name: options?.name, worker: this }); }
  };
  syncBuiltinESMExports();
  // Other threads of the gateway load this too.
  if (threads.isMainThread) setInterval(() => {
    if (!existsSync(${JSON.stringify(file)})) return;
    const wanted = readFileSync(${JSON.stringify(file)}, "utf8");
    unlinkSync(${JSON.stringify(file)});
    for (const { name, worker } of all) if (name?.endsWith(wanted)) void worker.terminate();
  }, 10).unref();
`)}`;

const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(500, 1)]);

interface Scene {
  readonly platform: Platform;
  readonly server: ScriptedServer;
  readonly ada: number;
  readonly file: string;
  config(channels: { readonly botchat?: object; readonly irc?: object }): object;
  gateway(): Started<GatewayProcess>;
  /** A gateway whose threads `crash` can end. */
  gatewayThatCrashes(): Started<GatewayProcess>;
  crash(plugin: string): void;
  service(...args: readonly string[]): ReturnType<typeof run>;
  /** A line of somebody on IRC. */
  say(nick: string, target: string, text: string): void;
  /** What the bot said on IRC. */
  said(target: string): string;
}

async function openScene(channels: Parameters<Scene["config"]>[0]): Promise<Scene> {
  const platform = await openPlatform({ privacy: false });
  const server = await startScripted();
  onTestFinished(() => server.close());
  const home = temporaryHome();
  const crashFile = join(home, "crash");
  const config: Scene["config"] = ({ botchat = {}, irc = {} }) => ({
    session: { dmScope: "per-channel-peer" },
    plugins: {
      load: [join(root, "plugins", "irc")],
      entries: {
        ...{ botchat: { isolation: "worker" }, irc: { isolation: "worker" } },
        echo: { options: { delayMs: 30 } },
      },
    },
    channels: {
      botchat: openChannel(platform, botchat),
      irc: {
        ...{
          server: "127.0.0.1",
          port: server.port,
          tls: false,
          nick: "bot",
          channels: ["#Room"],
          everyMs: 1,
          burst: 500,
        },
        ...irc,
      },
    },
  });
  const file = configure(home, config(channels));
  return {
    ...{ platform, server, file, config },
    ada: people(platform)[0] ?? 0,
    gateway: () => startGateway(["gateway", "--config", file], { home }),
    gatewayThatCrashes: () =>
      start(["gateway", "--config", file], {
        home,
        main: bundled,
        nodeArgs: ["--import", crashes(crashFile), ...ownFlags],
      }),
    crash: (plugin) => writeConfig(crashFile, plugin),
    service: (...args) => run([...args, "--config", file], { home }),
    say: (nick, target, text) => server.send(`:${nick}!${nick}@127.0.0.1 PRIVMSG ${target} :${text}`),
    said: (target) =>
      server.messages
        .filter((one) => one.target.toLowerCase() === target.toLowerCase())
        .map(({ text }) => text)
        .join("\n"),
  };
}

interface Listed {
  readonly events: readonly { readonly outcome?: string }[];
}

const isUp = async (gateway: Started<GatewayProcess>, server: ScriptedServer) => {
  await gateway.until(/ready at/);
  await expect.poll(() => server.lines).toContain("JOIN #Room");
};

test.concurrent("botchat in a worker supports pairing, mentions, growing answers, files and a bad edit", async () => {
  const {
    platform,
    server,
    ada,
    file,
    config,
    gateway: launch,
    service,
  } = await openScene({ botchat: { dmPolicy: "pairing", allowFrom: [] } });
  const gateway = launch();
  await isUp(gateway, server);
  platform.act.say(ada, ada, "hello");
  await answered(platform, ada, /Pairing code: `?[A-Z2-9]{8}/);
  const code = /Pairing code: `?(\w+)/.exec(answers(platform, ada).join("\n"))?.[1] ?? "";
  expect((await service("pairing", "approve", "botchat", code)).out).toContain("is an owner now");
  await answered(platform, ada, "You are approved");

  const edits = () => platform.calls.list({ method: "editMessageText" }).length;
  const long = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
  platform.act.say(ada, ada, long);
  await answered(platform, ada, long);
  expect(edits()).toBeGreaterThan(0);

  platform.act.say(ada, ada, "look here", {
    media: { kind: "photo", bytes: png, fileName: "a.png", mimeType: "image/png" },
  });
  await answered(platform, ada, /look here[\s\S]*image\/png/);
  expect(platform.calls.list({ method: "getFile" })).toHaveLength(1);

  const group = config({
    botchat: { dmPolicy: "pairing", allowFrom: [], groups: { [kitchen]: { allowFrom: [ada] } } },
  });
  writeConfig(file, { ...group, gateway: { port: 0, drainSeconds: 5 }, state: { dir: "state" } });
  await gateway.until(takenOver(1));
  platform.act.say(ada, kitchen, "nobody in particular");
  platform.act.say(ada, kitchen, "@e2e_bot what is bread?");
  await answered(platform, kitchen, "what is bread?");
  expect(answers(platform, kitchen).join("\n")).not.toContain("nobody");

  writeConfig(file, readFileSync(file, "utf8").replace(/"botToken": "[^"]*"/, '"botToken": "no token"'));
  await gateway.until(/does not look like a bot token/);
  await gateway.until(takenOver(2));
  platform.act.say(ada, ada, "still there?");
  await answered(platform, ada, "still there?");
  expect((await service("config", "validate")).out).toContain("does not look like a bot token");
  await stop(gateway);
});

test.concurrent("irc in a worker compares normalized ids, also after an edit, and none is an owner", async () => {
  const scene = await openScene({ irc: { groups: { "#ROOM": { allowFrom: ["~ADA"] } } } });
  const { server, file, config, gateway: launch, service, say, said } = scene;
  const gateway = launch();
  await isUp(gateway, server);
  say("Ada", "bot", "hello");
  await expect.poll(() => said("Ada")).toMatch(/Pairing code: [A-Z2-9]{8}/);
  expect(said("Ada")).toContain("Your id: ~ada");
  const code = /Pairing code: (\w+)/.exec(said("Ada"))?.[1] ?? "";
  expect((await service("pairing", "approve", "irc", code)).out).toContain(
    "The approval expires after 24 hours and makes no owner",
  );
  await expect.poll(() => said("Ada")).toContain("You are approved");
  say("ADA", "bot", "hello again");
  await expect.poll(() => said("ADA")).toContain("hello again");
  say("ada", "bot", "/config show");
  await expect.poll(() => said("ada")).toContain("your id, ~ada, cannot be one");

  say("eve", "#room", "bot: let me in");
  say("ada", "#rOOm", "nobody in particular");
  say("ada", "#rOOm", "Bot, what is bread?");
  await expect.poll(() => said("#room")).toBe("ada: what is bread?");
  expect((await service("doctor")).out).toContain(
    'another person can take over "~ada" in channels.irc.groups.#ROOM.allowFrom',
  );

  const edited = config({ irc: { groups: { "#ROOM": { allowFrom: ["~EVE"] } } } });
  writeConfig(file, { ...edited, gateway: { port: 0, drainSeconds: 5 }, state: { dir: "state" } });
  await gateway.until(takenOver(1));
  say("ada", "#room", "bot: and now?");
  say("Eve", "#room", "bot: and I?");
  await expect.poll(() => said("#room")).toContain("Eve: and I?");
  expect(said("#room")).not.toContain("and now?");
  await stop(gateway);
});

test.concurrent("accepted messages are answered after a thread dies, an edit, or a kill of the process", async () => {
  const open = { dmPolicy: "open", allowFrom: ["*"] };
  const {
    platform,
    server,
    ada,
    file,
    config,
    gatewayThatCrashes: launch,
    crash,
    service,
    say,
    said,
  } = await openScene({ irc: open });
  let gateway = launch();
  await isUp(gateway, server);
  const texts = Array.from({ length: 30 }, (_, index) => `number ${index}.`);
  const isAnswered = (some: readonly string[]) =>
    expect
      .poll(
        () => some.filter((text) => !answers(platform, ada).join("\n").includes(text) || !said("ada").includes(text)),
        {
          timeout: 60_000,
        },
      )
      .toEqual([]);
  const write = (some: readonly string[]) => {
    for (const text of some) platform.act.say(ada, ada, text);
    for (const text of some) say("ada", "bot", text);
  };

  write(texts.slice(0, 10));
  crash("botchat");
  await gateway.until(/"plugin":"botchat"[^\n]*the worker of the plugin has ended/);
  // The accounts are as before, so the edit waits for no worker.
  writeConfig(file, {
    ...config({ irc: open }),
    gateway: { port: 0, drainSeconds: 5 },
    state: { dir: "state" },
    commands: { config: true },
  });
  await gateway.until(takenOver(1));
  await isAnswered(texts.slice(0, 10));
  await gateway.until(/"plugin":"botchat"[^\n]*is up again/);
  const { worker } = JSON.parse((await service("plugins", "list", "--json")).out).plugins.find(
    ({ id }: { readonly id: string }) => id === "botchat",
  );
  expect(worker).toMatchObject({ state: "up", restarts: 1 });

  crash("irc");
  await gateway.until(/"plugin":"irc"[^\n]*is up again/);
  await expect.poll(() => server.lines.filter((line) => line === "JOIN #Room").length).toBe(2);
  write(texts.slice(10, 20));
  await isAnswered(texts.slice(10, 20));

  write(texts.slice(20));
  await expect.poll(() => said("ada")).toContain(texts[20]);
  await kill(gateway);
  gateway = launch();
  await gateway.until(/ready at/);
  // What IRC had not handed over is lost with the connection; botchat delivers it again.
  await expect.poll(() => texts.filter((text) => !answers(platform, ada).join("\n").includes(text))).toEqual([]);
  const outcomes = async () => {
    const { events } = JSON.parse((await service("events", "list", "--limit", "200", "--json")).out) as Listed;
    return new Set(events.map(({ outcome }) => outcome));
  };
  await expect.poll(outcomes, { interval: 500 }).toEqual(new Set(["answered"]));
  await stop(gateway);
});
