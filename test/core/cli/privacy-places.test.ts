/** Words of a person, and for them, in events of others: webhooks, schedules, reminders, questions to owners. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { definePlugin, type Json, Type } from "../../../core/sdk/contract.ts";
import schedule from "../../../plugins/schedule/index.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const lab = definePlugin({
  id: "lab",
  version: "1.0.0",
  host: "^0.2.0",
  setup(plugin) {
    plugin.tool({
      name: "note",
      description: "Notes a text.",
      parameters: Type.Object({ text: Type.String() }),
      needsApproval: true,
      run: ({ args }) => ({ noted: `${args.text} in the book` }),
    });
  },
});

/** The tables in which a word lies. */
function tablesWith(directory: string, word: RegExp): readonly string[] {
  const db = new DatabaseSync(join(directory, "state", "state.db"), { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    return tables
      .map(({ name }) => name)
      .filter((name) =>
        db
          .prepare(`SELECT * FROM ${name}`)
          .all()
          .some((row) => word.test(JSON.stringify(row))),
      );
  } finally {
    db.close();
  }
}

async function open(ada: string) {
  const mapping = (path: string, more: object) => ({
    ...{ id: path, match: { path }, messageTemplate: "{{ text }}", wakeMode: "next-heartbeat" },
    ...more,
  });
  const to = { deliver: true, channel: "loopback", to: ada };
  const host = await createTestHost({
    plugins: [lab, schedule],
    config: {
      agents: { defaults: { timezone: "UTC" } },
      schedules: { tea: { every: "1d", kind: "say", message: "tea and hawberries", to: `loopback:${ada}` } },
      hooks: {
        mappings: [
          mapping("alert", to),
          mapping("last", { deliver: true, channel: "last" }),
          mapping("plain", { ...to, deliverOnly: true }),
        ],
      },
    },
    async answer({ inbound, tools }, signal) {
      const [word = "", text = ""] = inbound.text.split(" ");
      const call = async (name: string, args: Json) => await tools.find((one) => one.name === name)?.run(args, signal);
      if (word === "say" || word === "ask") await call("remind", { text, in: "1m", kind: word });
      if (word === "note") await call("note", { text });
      return `heard ${inbound.text}`;
    },
  });
  onTestFinished(() => host.close());
  return host;
}

test.each(["ada", "@ada:example.org"])("all words of the person %s are erased, wherever they lie", async (ada) => {
  const host = await open(ada);
  const ask = async (text: string, group: boolean) => {
    const asked = host.say(text, { from: ada, group, mention: true });
    await expect
      .poll(() => host.outbox().some((sent) => sent.chat === "owner" && sent.text.includes(text.slice(5))))
      .toBe(true);
    await host.press("Allow once");
    await asked;
  };
  await host.say("hello from bela, with apples", { from: "bela" });
  await host.deliver("alert", { text: "cranberries" });
  await host.say("say blueberries", { from: ada });
  await host.say("ask loganberries", { from: ada, group: true, mention: true });
  await host.deliver("last", { text: "elderberries" });
  await host.deliver("plain", { text: "gooseberries" });
  await ask("note raspberries", false);
  await ask("note blackberries", true);
  await host.advance(61_000);
  await host.fetch("/plugins/schedule/run", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"tea"}',
  });
  await host.advance(1_000);
  // The newest event keeps its row, without its words.
  await host.say("hello again", { from: "bela" });
  const berries = /berries/;
  expect(tablesWith(host.directory, berries)).toEqual(expect.arrayContaining(["inbox", "outbox", "kv", "messages"]));
  const command = async (...args: readonly string[]) =>
    await run(["privacy", ...args, `loopback:${ada}`, "--config", host.configFile], { home: temporaryHome() });
  const { out } = await command("export");
  for (const word of ["cran", "blue", "logan", "elder", "goose", "rasp", "black", "haw"])
    expect(out).toContain(`${word}berries`);
  expect(out).not.toContain("apples");

  expect(await command("erase")).toMatchObject({ code: 0, err: "" });
  expect(tablesWith(host.directory, berries)).toEqual([]);
  const mistyped = await run(["privacy", "erase", "loopbakc:ada", "--config", host.configFile], {
    home: temporaryHome(),
  });
  expect(mistyped.err).toContain("Nothing is stored about loopbakc:ada. Check the channel and the id");
  expect(tablesWith(host.directory, /apples/)).toEqual(expect.arrayContaining(["inbox", "messages"]));
});
