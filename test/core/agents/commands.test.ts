import { describe, expect, test } from "vitest";
import { createCommands, parseCommand } from "../../../core/agents/commands/commands.ts";
import { nativeCommands } from "../../../core/agents/commands/native-commands.ts";
import { createModelStandings } from "../../../core/agents/turn/model-standing.ts";
import type { RunningTurn } from "../../../core/agents/turn/preparing-turns.ts";
import { createRunningOnNodes } from "../../../core/agents/turn/running-on-nodes.ts";
import type { AgentsView } from "../../../core/config/agents.ts";
import { PluginError } from "../../../core/contract/errors.ts";
import type { Address, Inbound, Json, SkippedModel } from "../../../core/contract/types.ts";
import type { CommandDefinition, EngineDefinition } from "../../../core/sdk/contract.ts";
import type { SessionRecord } from "../../../core/state/session.ts";
import { message, route } from "./inbound.ts";

const owner = message("", { sender: { id: "1", name: "Owner" } });

function setup(
  config: AgentsView = {},
  options: {
    readonly more?: readonly CommandDefinition[];
    readonly nativeEnabled?: () => boolean;
    readonly skipped?: readonly SkippedModel[];
    readonly unusable?: ReadonlyMap<string, unknown>;
  } = {},
) {
  const settings: Record<string, Json> = {};
  const state = {
    generation: 1,
    stops: [] as Json[],
    stopped: [] as (Address | null)[],
    running: [] as RunningTurn[],
    runs: 1,
    waits: false,
    elsewhere: false,
    forgotten: [] as string[],
  };
  const engines: EngineDefinition[] = [
    { id: "plain", run: async function* () {} },
    { id: "big", needsModel: true, run: async function* () {}, skipped: () => options.skipped ?? [] },
  ];
  const commands = createCommands({
    native: nativeCommands({
      config: () => config,
      store: {
        session: async (key): Promise<SessionRecord> => ({
          key,
          agentId: "main",
          generation: state.generation,
          settings,
          updatedAt: 0,
        }),
        updateSession: async (_key, change) => {
          if (change.newGeneration === true) state.generation += 1;
          for (const [key, value] of Object.entries(change.settings ?? {})) {
            if (value === null) delete settings[key];
            else settings[key] = value;
          }
        },
        get: async () => null,
        set: async (namespace, key, value) => void state.stops.push([namespace, key, value]),
        findSent: async () => null,
      },
      standings: createModelStandings({
        engines: {
          get: (id) => engines.find((engine) => engine.id === id),
          ids: () => engines.map((engine) => engine.id),
        },
        providers: () => ({ usable: {}, unusable: options.unusable ?? new Map() }),
        log: { warn() {} },
      }),
      contexts: { of: () => Promise.reject(new Error("no context")) },
      compactions: { now: async () => "nothing" as const },
      turns: {
        stop({ to }) {
          state.stopped.push(to);
          return state.runs;
        },
        tools: async () => ({ list: async () => [], notes: [] }),
      },
      isOwner: async (inbound) => inbound.sender.id === "1",
      stopElsewhere: async () => state.elsewhere,
      runningNow: createRunningOnNodes({
        store: {},
        turns: { running: () => state.running },
        now: () => 60_000,
        onError() {},
      }).now,
      forget: async ({ inbound }) => state.forgotten.push(inbound.text),
      waits: async () => state.waits,
      more: options.more ?? [],
      now: () => 60_000,
    }),
    ...(options.nativeEnabled === undefined ? {} : { nativeEnabled: options.nativeEnabled }),
  });
  const say = async (text: string, inbound: Inbound = message(text)) => {
    const match = commands.match(text);
    if (match === undefined) throw new Error(`${text} is no command`);
    return (await commands.run({ name: match.name, args: match.args, inbound, route: route() })).text;
  };
  return { commands, say, settings, state };
}

const hello: CommandDefinition = {
  name: "hello",
  summary: "Greets.",
  role: "allowed",
  run: (call) => `Hello ${call.args}`,
};

describe("recognizing a command", () => {
  const cases: readonly [string, ReturnType<typeof parseCommand>][] = [
    ["/status", { name: "status", args: "" }],
    ["  /status  ", { name: "status", args: "" }],
    ["/STATUS", { name: "status", args: "" }],
    ["/model a/b", { name: "model", args: "a/b" }],
    ["/model: a/b", { name: "model", args: "a/b" }],
    ["/model:a/b", { name: "model", args: "a/b" }],
    ["/model@MyBot a/b", { name: "model", args: "a/b", bot: "MyBot" }],
    ["/model@MyBot: a/b", { name: "model", args: "a/b", bot: "MyBot" }],
    ["/model   a   b ", { name: "model", args: "a   b" }],
    ["/model a\nsecond line", { name: "model", args: "a" }],
    ["/my\\_cmd x", { name: "my_cmd", args: "x" }],
    ["/a1_b", { name: "a1_b", args: "" }],
    ["status", undefined],
    ["hi /status", undefined],
    ["hi\n/status", undefined],
    ["/", undefined],
    ["//status", undefined],
    ["/usr/bin/env", undefined],
    ["/status!", undefined],
    ["/größe", undefined],
    [`/${"x".repeat(33)}`, undefined],
    ["", undefined],
  ];
  test.each(cases)("%j", (text, expected) => {
    expect(parseCommand(text)).toEqual(expected);
  });

  test("only registered commands are recognized, and none addressed to another bot", () => {
    const { commands } = setup();
    expect(commands.match("/hello you")).toBeUndefined();
    commands.add("greeter", hello);
    expect(commands.match("/hello you")).toEqual({ name: "hello", args: "you", role: "allowed", control: false });
    expect(commands.match("/hello@mybot you", "MyBot")).toMatchObject({ name: "hello" });
    expect(commands.match("/hello@mybot you", "@MyBot")).toMatchObject({ name: "hello" });
    expect(commands.match("/hello@other you", "mybot")).toBeUndefined();
    expect(commands.match("/hello@other you")).toMatchObject({ name: "hello" });
    for (const text of [" @MyBot /hello you", "@mybot, /hello you", "@my\\_bot:\n/hello you"])
      expect(commands.match(text, text.includes("_") ? "My_Bot" : "MyBot"), text).toMatchObject({
        name: "hello",
        args: "you",
      });
    for (const text of ["@other /hello you", "@MyBot/hello you", "@MyBot see /hello you", "@MyBot /hello@other you"])
      expect(commands.match(text, "MyBot"), text).toBeUndefined();
  });

  test("a control command has its own lane; other commands wait in the chat's lane", () => {
    const { commands } = setup();
    commands.add("greeter", { ...hello, name: "quick", control: true });
    commands.add("greeter", hello);
    const control = commands.list().filter(({ definition }) => commands.match(`/${definition.name}`)?.control === true);
    expect(control.map(({ definition }) => definition.name)).toEqual([
      "help",
      "commands",
      "status",
      "whoami",
      "stop",
      "tools",
      "quick",
    ]);
  });

  test("with the built-in commands off, only plugin commands appear in the menu and lists and can be run", () => {
    const state = { native: true };
    const { commands } = setup({}, { nativeEnabled: () => state.native });
    commands.add("greeter", hello);
    state.native = false;
    expect(commands.menu()).toEqual([{ name: "hello", summary: "Greets." }]);
    expect(commands.match("/status")).toBeUndefined();
    expect(commands.match("/hello")).toMatchObject({ name: "hello" });
    state.native = true;
    expect(commands.match("/status")).toMatchObject({ name: "status" });
  });
});

describe("commands of plugins", () => {
  test("follow the native ones in lists, the menu and /commands", async () => {
    const { commands, say } = setup();
    commands.add("greeter", { ...hello, args: "[NAME]" });
    expect(commands.menu().map(({ name }) => name)).toEqual([
      "help",
      "commands",
      "status",
      "whoami",
      "new",
      "reset",
      "compact",
      "stop",
      "model",
      "think",
      "reasoning",
      "tools",
      "hello",
    ]);
    expect(commands.list().at(-1)?.plugin).toBe("greeter");
    expect((await say("/commands")).split("\n").at(-1)).toBe("- /hello `[NAME]`: Greets.");
  });

  test("cannot take a native name, another plugin's name, or an invalid name", () => {
    const { commands } = setup();
    commands.add("greeter", hello);
    for (const name of ["help", "hello", "Hello", "a b", "", "x".repeat(33)]) {
      expect(() => commands.add("other", { ...hello, name })).toThrow(PluginError);
    }
    expect(() => commands.add("other", hello)).toThrow(/other.*\/hello is already provided by greeter/);
  });

  test("fail with an error that names the plugin and the command", async () => {
    const { commands, say } = setup();
    commands.add("greeter", { ...hello, run: () => Promise.reject(new Error("no voice")) });
    await expect(say("/hello")).rejects.toMatchObject({
      plugin: "greeter",
      hook: "/hello",
      message: expect.stringContaining("no voice"),
    });
  });
});

describe("the native commands", () => {
  test("/help lists each command with its purpose", async () => {
    const help = await setup().say("/help");
    for (const name of ["status", "whoami", "new", "stop", "model", "think", "reasoning"])
      expect(help).toContain(`- /${name}`);
  });

  test("/whoami shows the id to use in the configuration; a name cannot become markup", async () => {
    const inbound = message("", { sender: { id: "42", name: "*Ada*_[x](http://y)", username: "ada_l" } });
    const answer = await setup().say("/whoami", inbound);
    expect(answer).toContain("`42`");
    expect(answer).toContain("\\*Ada\\*\\_");
    expect(answer).not.toContain("[x]");
    expect(answer).toContain("Owner: no");
    expect(await setup().say("/whoami", owner)).toContain("Owner: yes");
  });

  test("/status shows the agent, the session, the model and what is running", async () => {
    const { say, state } = setup({ agents: { defaults: { model: "local/small", thinking: "low" } } });
    state.running.push({ sessionKey: "agent:main:main", doing: "answering", startedAt: 48_000 });
    const status = await say("/status");
    for (const piece of ["`main`", "`agent:main:main`", "`local/small`", "Thinking: low", "answering for 12 s"])
      expect(status).toContain(piece);
    state.running.unshift({ sessionKey: "agent:main:main", doing: "fetching", startedAt: 40_000 });
    expect(await say("/status")).toContain("Now: fetching files for 20 s, 2 running in total");
    const idle = setup();
    expect(await idle.say("/status")).toMatch(/no model, the engine `plain`[\s\S]*idle/);
    idle.state.waits = true;
    expect(await idle.say("/status")).toContain("Now: a message waits for its turn, 0 running in total");
  });

  test("/stop ends what is running in this chat, or says that nothing is running", async () => {
    const { say, state } = setup();
    expect(await say("/stop")).toBe("Stopped.");
    expect(state.stopped).toEqual([route().to]);
    expect(state.stops).toEqual([["stops", '["irc","default","42",null]', { event: "event-1", at: 60_000 }]]);
    state.runs = 0;
    expect(await say("/stop")).toBe("Nothing is running here.");
    state.waits = true;
    expect(await say("/stop")).toBe("Stopped.");
  });

  test("/new and /reset begin a new generation and drop the events that waited for the old one", async () => {
    const { say, state } = setup();
    await say("/new");
    await say("/reset");
    expect(state.generation).toBe(3);
    expect(state.forgotten).toEqual(["/new", "/reset"]);
    expect(await say("/new")).not.toContain("not read");
  });

  test("/model shows the model, sets one by name or alias, refuses others, and returns to the default", async () => {
    const { say, settings } = setup({
      agents: { defaults: { model: "local/small", models: { "local/small": {}, "cloud/large": { alias: "big" } } } },
    });
    expect(await say("/model")).toMatch(/`local\/small`[\s\S]*- `cloud\/large` \(`big`\)/);
    expect(await say("/model BIG")).toContain("`cloud/large`");
    expect(settings.model).toBe("cloud/large");
    expect(await say("/model evil/other")).toContain("The model is unknown");
    expect(settings.model).toBe("cloud/large");
    expect(await say("/model default")).toContain("`local/small`");
    expect(settings.model).toBeUndefined();
  });

  test("/model warns of an unknown provider: without a list of models, it accepts any well-formed name", async () => {
    const { say } = setup({ models: { providers: { local: {} } } });
    expect(await say("/model local/small")).toBe("This conversation now uses `local/small`.");
    expect(await say("/model elsewhere/small")).toMatch(
      /now uses `elsewhere\/small`\. `models\.providers` has no `elsewhere`.*`\/model default`/,
    );
  });

  test("/think and /reasoning show and set their value and list the allowed ones", async () => {
    const { say, settings } = setup();
    expect(await say("/think")).toContain("Thinking: off");
    expect(await say("/think HIGH")).toBe("Thinking: high.");
    expect(await say("/think hard")).toContain("/think off|minimal|low|medium|high|max");
    expect(await say("/reasoning stream")).toBe("Reasoning shown: stream.");
    expect(settings).toEqual({ thinking: "high", reasoning: "stream" });
  });
});
