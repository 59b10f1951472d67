/**
 * What people type: the platform's own /start, a skill by its name, a text behind /new, a single word that means /stop.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/directory.ts";
import { converse, kitchen } from "./conversation.ts";

const owner = { commands: { ownerAllowFrom: ["1001"] } };

test("/start answers like /help, and the menu does not list it", async () => {
  const place = await converse();
  await place.start();
  for (const text of ["/start", "/help", "/START@e2e_bot deep-link"])
    place.platform.act.say(place.ada, place.ada, text);
  await place.ended(3);
  const texts = place.messages(place.ada).map(({ text }) => text);
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toContain("/stop");
  expect(place.turns).toHaveLength(0);
});

test("text after /new is the first message of the new conversation; /new alone starts one", async () => {
  const place = await converse();
  await place.start();
  const say = async (text: string, count: number) => {
    place.platform.act.say(place.ada, place.ada, text);
    await place.ended(count);
  };
  await say("an old question", 1);
  await say("/new what is bread?", 2);
  expect(place.lastAsked()).toContain("what is bread?");
  expect(place.lastAsked()).not.toContain("/new");
  expect(place.turns[1]?.messages).toHaveLength(1);
  await say("and butter?", 3);
  expect(
    place.turns[2]?.messages.map(({ text }) => /old question|what is bread|answer \d|butter/.exec(text)?.[0]),
  ).toEqual(["what is bread", "answer 2", "butter"]);
  await say("@e2e_bot /reset\nwhat is\njam?", 4);
  expect(place.turns[3]?.messages).toHaveLength(1);
  expect(place.lastAsked()).toContain("what is\njam?");
  await say("/new", 5);
  expect(place.messages(place.ada).at(-1)?.text).toContain("A new conversation begins");
  expect(place.turns).toHaveLength(4);
});

test("an abort word ends the running answer; in a group it works only with the bot's name", async () => {
  let release: () => void = () => {};
  const place = await converse({
    config: { ...owner, commands: { abortWords: ["stop", "enough already"] } },
    answer: () =>
      new Promise<string>((resolve) => {
        release = () => resolve("too late");
      }),
  });
  onTestFinished(() => release());
  await place.start();
  const answersOf = (chat: number) => place.messages(chat).map(({ text }) => text);
  const { act } = place.platform;
  act.say(place.ada, place.ada, "think long");
  await place.asked(1);
  act.say(place.ada, place.ada, "Stop!");
  await expect.poll(() => answersOf(place.ada)).toEqual(["Stopped."]);
  act.say(place.ada, place.ada, "ENOUGH already");
  await expect.poll(() => answersOf(place.ada)).toEqual(["Stopped.", "Nothing is running here."]);

  act.say(place.ada, kitchen, "stop");
  expect((await place.ended(4)).at(-1)).toBe("silent mention_required");
  act.say(place.ada, kitchen, "@e2e_bot stop");
  await expect.poll(() => answersOf(kitchen)).toEqual(["Nothing is running here."]);
  act.say(place.ada, kitchen, "@e2e_bot /stop");
  await expect.poll(() => answersOf(kitchen)).toHaveLength(2);
  // More than the word is a message like any other.
  act.say(place.ada, place.ada, "stop the music");
  await place.asked(2);
  expect(place.lastAsked()).toContain("stop the music");
});

test("/<skill> names that skill to the model; any other slash word is plain text", async () => {
  const workspace = temporaryDirectory();
  onTestFinished(() => removeDirectory(workspace));
  mkdirSync(join(workspace, "skills", "tax-return"), { recursive: true });
  writeFileSync(
    join(workspace, "skills", "tax-return", "SKILL.md"),
    "---\nname: tax-return\ndescription: Fills in the form.\n---\nAsk for the year first.\n",
  );
  const place = await converse({ config: { agents: { defaults: { workspace } } } });
  await place.start();
  const hint = /asks for your skill tax-return\. Read it first with the tool read_skill/;
  for (const [index, text] of [
    "/tax_return for 2025",
    "/Tax-Return",
    "@e2e_bot /tax-return",
    "/taxes",
    "see /tax-return",
  ].entries()) {
    place.platform.act.say(place.ada, place.ada, text);
    await place.ended(index + 1);
    expect(hint.test(place.turns[index]?.instructions ?? ""), text).toBe(index < 3);
  }
});

test("a message after /stop is answered, even if both arrive at the same moment", async () => {
  const place = await converse({ config: owner });
  const rounds = [1, 2, 3, 4, 5];
  for (const round of rounds) {
    for (const chat of [place.ada, place.bela]) {
      place.platform.act.say(chat, chat, "/stop");
      place.platform.act.say(chat, chat, `and now ${round}`);
    }
    const gateway = await place.start();
    await place.ended(4 * round);
    await gateway.close();
  }
  expect(place.turns.map((turn) => turn.messages.at(-1)?.text?.match(/and now \d/)?.[0]).toSorted()).toEqual(
    rounds.flatMap((round) => [`and now ${round}`, `and now ${round}`]),
  );
});
