/** A tool that asks first, over the emulated platform: buttons, the answer in their place, and who may press. */
import { expect, test, vi } from "vitest";
import { definePlugin, Type } from "../../core/sdk/contract.ts";
import { converse, kitchen } from "./conversation.ts";

const until = <Result>(check: () => Result): Promise<Result> => vi.waitFor(check, { timeout: 30_000, interval: 10 });

const runs: string[] = [];

const stove = definePlugin({
  id: "stove",
  version: "1.0.0",
  host: "^0.2.0",
  setup(host) {
    host.tool({
      name: "light_stove",
      description: "Lights the stove.",
      parameters: Type.Object({ plate: Type.String() }),
      needsApproval: true,
      run({ args }) {
        runs.push(args.plate);
        return "It is on.";
      },
    });
  },
});

test("the owner is asked in a direct chat; another's press has no effect; the message shows the decision", async () => {
  const conversation = await converse({
    plugins: [stove],
    config: { commands: { ownerAllowFrom: [1001] } },
    channel: { groups: { "*": { requireMention: false } } },
    async answer({ tools }) {
      const light = tools.find(({ name }) => name === "light_stove");
      return JSON.stringify(await light?.run({ plate: "left *front*" }, new AbortController().signal));
    },
  });
  const { platform, ada, bela } = conversation;
  await conversation.start();
  const say = () => platform.act.say(bela, kitchen, "Light the stove, please.");
  // The platform lets a bot write only to people who have written to it.
  say();
  await until(() =>
    expect(conversation.messages(kitchen).at(-1)?.text).toContain("could not be delivered to an owner"),
  );
  platform.act.say(ada, ada, "/whoami");
  await until(() => expect(conversation.messages(ada)).toHaveLength(1));
  say();
  const question = await until(() => {
    const found = conversation.messages(ada)[1];
    if (found === undefined) throw new Error("not asked yet");
    return found;
  });
  expect(question.text).toMatch(
    /asks to use light_stove \(stove\), for the sender 1002\.\nThe name given there: "Bela Varga[^"\n]*"\n/,
  );
  expect(question.text).toContain('"plate": "left *front*"');
  expect(question.reply_markup?.inline_keyboard.flat().map(({ text }) => text)).toEqual([
    "Allow once",
    "Deny",
    "Allow for Bela Varga until /new",
  ]);
  const allow = question.reply_markup?.inline_keyboard[0]?.[0]?.callback_data ?? "";
  // An agent can make a button with any value, but does not know the code.
  expect(allow).toMatch(/^\/approve [A-Z2-9]{8}$/);
  platform.act.say(bela, kitchen, allow);
  expect(runs).toEqual([]);
  platform.act.press(ada, ada, question.message_id, allow);
  await until(() => expect(runs).toEqual(["left *front*"]));
  await until(() => expect(conversation.messages(ada)[1]?.text).toMatch(/asked to use light_stove.*Allowed by Ada/s));
  expect(conversation.messages(ada)).toHaveLength(2);
  expect(conversation.messages(ada)[1]?.reply_markup).toBeUndefined();
  await until(() => expect(conversation.messages(kitchen).at(-1)?.text).toBe('"It is on."'));
});

test("a question that may have arrived stays open; a press on an unknown copy first updates that copy", async () => {
  runs.length = 0;
  const conversation = await converse({
    plugins: [stove],
    config: { commands: { ownerAllowFrom: [1001] } },
    async answer({ tools }) {
      const light = tools.find(({ name }) => name === "light_stove");
      return JSON.stringify(await light?.run({ plate: "right" }, new AbortController().signal));
    },
  });
  const { platform, ada } = conversation;
  await conversation.start();
  // Both sends arrive, and the gateway learns of none.
  platform.faults.add({ method: "sendMessage", times: 2, kind: "reset-after" });
  platform.act.say(ada, ada, "Light the stove, please.");
  await until(() => expect(conversation.messages(ada)).toHaveLength(2));
  expect(await conversation.ended(1)).toContain("failed send_fate_unknown");
  // The turn looks once a second what has become of its question.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(conversation.messages(ada)).toHaveLength(2);
  const buttonsOf = (index: number) => conversation.messages(ada)[index]?.reply_markup?.inline_keyboard.flat() ?? [];
  const press = (index: number) =>
    platform.act.press(
      ada,
      ada,
      conversation.messages(ada)[index]?.message_id ?? 0,
      buttonsOf(index)[0]?.callback_data ?? "",
    );
  press(1);
  await until(() => expect(conversation.messages(ada)[2]?.text).toContain("It is up to date now: press again."));
  expect(runs).toEqual([]);
  expect(buttonsOf(1)).toHaveLength(3);
  press(1);
  await until(() => expect(runs).toEqual(["right"]));
  await until(() => expect(conversation.messages(ada)[1]?.text).toMatch(/asked to use light_stove.*Allowed by Ada/s));
  expect(buttonsOf(1)).toEqual([]);
  // The other copy learns of the end by a press.
  press(0);
  await until(() => expect(conversation.messages(ada)[0]?.text).toMatch(/asked to use light_stove.*Allowed by Ada/s));
  expect(buttonsOf(0)).toEqual([]);
  expect(runs).toEqual(["right"]);
});

test("in a group, a press by another sender gets a private notice that the group does not see", async () => {
  runs.length = 0;
  const conversation = await converse({
    plugins: [stove],
    config: { commands: { ownerAllowFrom: [1001] } },
    channel: { groups: { "*": { requireMention: false } }, capabilities: { inlineButtons: "all" } },
    async answer({ tools }) {
      const light = tools.find(({ name }) => name === "light_stove");
      return JSON.stringify(await light?.run({ plate: "left" }, new AbortController().signal));
    },
  });
  const { platform, ada, bela } = conversation;
  await conversation.start();
  platform.act.say(ada, kitchen, "Light the stove, please.");
  const question = await until(() => conversation.messages(kitchen)[0] ?? expect.fail("not asked yet"));
  const [allow, , lasting] =
    question.reply_markup?.inline_keyboard.flat().map((button) => button.callback_data ?? "") ?? [];
  for (const pressed of [allow, lasting]) platform.act.press(bela, kitchen, question.message_id, pressed ?? "");
  await until(() => expect(conversation.notices()).toHaveLength(2));
  expect(conversation.notices().map(({ text }) => text)).toEqual(
    Array(2).fill("Only an owner of this bot can answer this."),
  );
  expect((await conversation.ended(2)).filter((line) => line.includes("refused owner_required"))).toHaveLength(2);
  expect(conversation.messages(kitchen)).toHaveLength(1);
  platform.act.press(ada, kitchen, question.message_id, allow ?? "");
  await until(() => expect(runs).toEqual(["left"]));
  await until(() => expect(conversation.notices()).toHaveLength(3));
  expect(conversation.notices()[2]?.text).toBeUndefined();
});
