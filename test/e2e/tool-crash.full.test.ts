/**
 * Kills while a turn calls tools: nothing runs twice unnoticed, and what a turn has done is known to the next one and
 * to the person.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { type Answer, callTools, hang, refuse, say } from "../openai-server/answers.ts";
import { type ChatRequest, createOpenAiServer, type OpenAiServer } from "../openai-server/index.ts";
import { answers, configure, kill, openChannel, openPlatform, people, type Running, restart, stop } from "./room.ts";

interface Place {
  readonly home: string;
  readonly file: string;
  readonly platform: Platform;
  readonly model: OpenAiServer;
  readonly ada: number;
  /** The calls that the program has had. */
  runs(): readonly { readonly args: { readonly text: string }; readonly meta: object }[];
  /** While it holds, a call of the program does not end. */
  hold(does: boolean): void;
  ask(text: string): void;
  said(): readonly string[];
}

const note = (text: string): Answer => callTools([{ name: "writer__note", args: { text } }]);

async function prepare({
  approve = "never",
  tools = {},
}: {
  readonly approve?: string;
  readonly tools?: object;
} = {}): Promise<Place> {
  const [platform, model] = await Promise.all([openPlatform(), createOpenAiServer()]);
  onTestFinished(() => model.close());
  const home = temporaryHome();
  const [ada = 0] = people(platform);
  const journal = join(home, "ran");
  const writer = {
    command: process.execPath,
    args: [join(import.meta.dirname, "writing-program.ts"), journal],
    approve,
  };
  const file = configure(home, {
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: { defaults: { engine: "ai", model: "local/small", tools, mcpServers: { writer } } },
    commands: { ownerAllowFrom: [ada] },
    channels: { botchat: openChannel(platform, { streamMode: "off" }) },
  });
  const runs = () =>
    existsSync(journal)
      ? readFileSync(journal, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      : [];
  const hold = (does: boolean) =>
    does ? writeFileSync(`${journal}.hold`, "") : rmSync(`${journal}.hold`, { force: true });
  const ask = (text: string) => platform.act.say(ada, ada, text);
  return { home, file, platform, model, ada, runs, hold, ask, said: () => answers(platform, ada) };
}

function attemptsOf({ home }: Place): unknown {
  const db = new DatabaseSync(join(home, "state", "state.db"), { readOnly: true });
  try {
    return db.prepare("SELECT attempts FROM inbox ORDER BY sequence").get()?.attempts;
  } finally {
    db.close();
  }
}

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 30_000, interval: 30 });

const textOf = ({ content }: ChatRequest["body"]["messages"][number]): string =>
  typeof content === "string" ? content : JSON.stringify(content);
const lastRequest = ({ model }: Place): readonly string[] => model.requests.at(-1)?.body.messages.map(textOf) ?? [];

async function why({ home, file }: Place): Promise<string> {
  return (await run(["why", "last", "--config", file], { home })).out;
}

/** Kills the gateway while the program has its first call. */
async function killDuringNote(place: Place): Promise<Running> {
  const first = await restart(place);
  place.hold(true);
  place.model.script(note("milk"));
  place.ask("Note that we need milk.");
  await until(() => expect(place.runs()).toHaveLength(1));
  await kill(first);
  place.hold(false);
  return first;
}

test("a call interrupted by a kill is not repeated in other words until the model has read that it was sent", {
  timeout: 60_000,
}, async () => {
  const place = await prepare();
  await killDuringNote(place);
  place.model.script(note("buy milk"), say("I am not sure whether it is noted."));
  const second = await restart(place);
  await until(() => expect(place.said()).toEqual(["I am not sure whether it is noted."]));
  expect(place.runs()).toHaveLength(1);
  const [, begun, told] = place.model.requests.map(({ body }) => body.messages.map(textOf));
  expect(begun?.at(-1)).toMatch(
    /interrupted and runs again[\s\S]*writer__note \{"text":"milk"\}: OUTCOME UNKNOWN[\s\S]*Note that we need milk/,
  );
  expect(told?.at(-1)).toMatch(
    /"ok":false[\s\S]*milk[\s\S]*was sent before an interruption: look before you repeat it[\s\S]*"outcome_unknown"/,
  );
  expect(await why(place)).toMatch(/outcome_unknown[\s\S]*writer__note, called at .*before an interruption/);

  // Having read that, the model may decide to call it again.
  place.hold(true);
  place.model.script(note("bread"));
  place.ask("Note that we need bread.");
  await until(() => expect(place.runs()).toHaveLength(2));
  await kill(second);
  place.hold(false);
  place.model.script(note("bread"), note("bread"), say("Noted."));
  const third = await restart(place);
  await until(() => expect(place.said().at(-1)).toBe("Noted."));
  const runs = place.runs();
  expect(runs.map(({ args }) => args.text)).toEqual(["milk", "bread", "bread"]);
  const keys = runs.map(({ meta }) => Object.values(meta)[0]);
  expect(new Set(keys).size).toBe(3);
  expect(keys.every((key) => typeof key === "string" && key.length > 20)).toBe(true);
  await stop(third);
});

test("a call answered before the kill is not repeated; the turn gets its result", { timeout: 60_000 }, async () => {
  const place = await prepare();
  const first = await restart(place);
  place.model.script(note("milk"), hang());
  place.ask("Note that we need milk.");
  await until(() => expect(place.model.requests).toHaveLength(2));
  await kill(first);
  place.model.script(note("milk"), say("It is noted."));
  const second = await restart(place);
  await until(() => expect(place.said()).toEqual(["It is noted."]));
  expect(place.runs()).toHaveLength(1);
  expect(lastRequest(place).at(-1)).toContain("it is noted");
  await until(async () => expect(await why(place)).toMatch(/tool_recorded/));
  // In other words it is made only once the model has read that it was called before.
  place.model.script(note("eggs"), hang());
  place.ask("Note that we need eggs.");
  await until(() => expect(place.runs()).toHaveLength(2));
  await until(() => expect(place.model.requests).toHaveLength(6));
  await kill(second);
  place.model.script(note("ten eggs"), say("Eggs are noted."));
  const third = await restart(place);
  await until(() => expect(place.said().at(-1)).toBe("Eggs are noted."));
  expect(lastRequest(place).at(-1)).toMatch(/"called_before"/);
  expect(place.runs()).toHaveLength(2);
  // The next turn knows what both have done.
  place.ask("Thanks.");
  await until(() => expect(place.said().at(-1)).toContain("Thanks."));
  expect(lastRequest(place).join("\n")).toMatch(/\[used writer__note .*milk[\s\S]*\[used writer__note .*eggs/);
  await stop(third);
});

test("an approval survives more kills than a message has attempts and is used up by the approved call", {
  timeout: 120_000,
}, async () => {
  const place = await prepare({ approve: "always" });
  const { platform, ada } = place;
  const question = () => {
    const room = [...platform.world.rooms.values()].find(({ chat }) => chat.id === ada);
    return [...(room?.messages.values() ?? [])].findLast((message) => message.reply_markup?.inline_keyboard.length);
  };
  /** The first press of a copy whose send a kill interrupted only brings it up to date. */
  const press = async (button: number, isDone: () => boolean) => {
    for (let attempt = 0; attempt < 5 && !isDone(); attempt += 1) {
      const { message_id = 0, reply_markup } = question() ?? {};
      platform.act.press(ada, ada, message_id, reply_markup?.inline_keyboard[0]?.[button]?.callback_data ?? "");
      await expect
        .poll(isDone, { timeout: 5_000 })
        .toBe(true)
        .catch(() => {});
    }
  };
  for (let time = 0; time < 4; time += 1) {
    place.model.script(note("milk"));
    const gateway = await restart(place);
    if (time === 0) place.ask("Note that we need milk.");
    await until(() => expect(question()?.text).toContain('"text": "milk"'));
    await until(() => expect(place.model.requests).toHaveLength(time + 1));
    // From the moment at which it waits, the attempt does not count.
    await until(() => expect(attemptsOf(place)).toBe(0));
    await kill(gateway);
  }
  place.model.script(note("milk"));
  place.hold(true);
  const fifth = await restart(place);
  await until(() => expect(place.model.requests).toHaveLength(5));
  const asked = question()?.message_id ?? 0;
  await press(0, () => place.runs().length > 0);
  expect(place.runs()).toHaveLength(1);
  await until(() => expect(place.said().join("\n")).toContain("Allowed by Ada"));
  await kill(fifth);
  place.hold(false);
  place.model.script(note("milk"), note("milk"));
  const sixth = await restart(place);
  // The second question: what was allowed was one call.
  await until(() => expect(question()?.message_id).toBeGreaterThan(asked));
  expect(place.runs()).toHaveLength(1);
  expect(lastRequest(place).at(-1)).toContain("outcome_unknown");
  await press(1, () => place.said().at(-1)?.includes("Denied by Ada") === true);
  await until(() => expect(place.said().at(-1)).toContain("Denied by Ada"));
  await stop(sixth);
});

test("a turn that fails after a tool reports what was done without asking to reword, and the next turn knows it", {
  timeout: 60_000,
}, async () => {
  const place = await prepare();
  const gateway = await restart(place);
  place.model.script(note("milk"), refuse(400, "I will not.", { code: "content_filter" }));
  place.ask("Note that we need milk.");
  await until(() => expect(place.said()).toHaveLength(1));
  expect(place.said()[0]).toMatch(/refused to go on.* I had already done: writer__note\./);
  expect(place.said()[0]).not.toMatch(/in other words|send your message again/i);
  place.ask("And?");
  await until(() => expect(place.said()).toHaveLength(2));
  expect(lastRequest(place).join("\n")).toMatch(/Note that we need milk\.[\s\S]*\[used writer__note [\s\S]*And\?/);
  expect(lastRequest(place).join("\n")).toContain("(the answer failed)");
  expect(lastRequest(place).join("\n")).not.toContain("(interrupted)");
  await stop(gateway);
});

test("the apology says that a tool with an error may have done part of its work", { timeout: 60_000 }, async () => {
  const place = await prepare();
  const gateway = await restart(place);
  place.model.script(note("spoilt milk"), refuse(400, "I will not."));
  place.ask("Note that the milk is spoilt.");
  await until(() => expect(place.said()).toHaveLength(1));
  expect(place.said()[0]).toContain("I had begun writer__note, and it is not known whether that took effect.");
  expect(place.said()[0]).not.toMatch(/in other words|send your message again/i);
  // The model reads the server's own words, without a sentence of the gateway about them.
  expect(lastRequest(place).join("\n")).toContain("the file was written, its index was not");
  expect(lastRequest(place).at(-1)).not.toContain('"outcome"');
  expect(await why(place)).toContain("mcp_tool_error");
  await stop(gateway);
});

test("a reminder is set once even if the model rewords it after a kill, and the ledger has the call in flight", {
  timeout: 60_000,
}, async () => {
  const place = await prepare();
  const remind = (text: string, at: string) => callTools([{ name: "remind", args: { text, at } }]);
  const first = await restart(place);
  place.model.script(remind("Tea is ready", "2099-01-01T09:00"), hang());
  place.ask("Remind me of the tea.");
  await until(() => expect(place.model.requests).toHaveLength(2));
  await kill(first);
  const db = new DatabaseSync(join(place.home, "state", "state.db"), { readOnly: true });
  expect(db.prepare("SELECT estimated FROM model_calls ORDER BY at").all()).toEqual([
    { estimated: 0 },
    { estimated: 1 },
  ]);
  db.close();
  place.model.script(remind("The tea!", "2099-01-01T09:01"), say("I have set it."));
  const second = await restart(place);
  await until(() => expect(place.said()).toEqual(["I have set it."]));
  const listed = await run(["schedules", "list", "--json", "--config", place.file], { home: place.home });
  expect(listed.out.match(/tea/gi)).toHaveLength(1);
  await stop(second);
});
