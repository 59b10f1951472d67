/** A person edits a message: before its turn, the edit takes its place; afterwards, the account's setting decides. */
import { expect, onTestFinished, test } from "vitest";
import { EngineError, type EngineTurn, type TurnEvent } from "../../../core/sdk/contract.ts";
import { createTestHost } from "../../../core/testkit/index.ts";

type Answer = (turn: EngineTurn, signal: AbortSignal) => string | AsyncIterable<TurnEvent>;

async function open(section: object = {}, answer: Answer = () => "answer") {
  const turns: EngineTurn[] = [];
  const host = await createTestHost({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", ...section } } },
    answer(turn, signal) {
      turns.push(turn);
      return answer(turn, signal);
    },
  });
  onTestFinished(async () => {
    await host.close();
  });
  return { host, turns, lastAsked: () => turns.at(-1)?.messages.at(-1)?.text ?? "" };
}

test("before its turn, an edit takes the place of the message, and one by another person does not", async () => {
  const go = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<TurnEvent> {
    await go.promise;
    yield { type: "text", delta: "done" };
    yield { type: "done" };
  }
  const { host, turns, lastAsked } = await open({}, ({ inbound }) => (inbound.text === "first" ? slow() : "answer"));
  const first = host.say("first", { id: "1" });
  await expect.poll(() => turns.length).toBe(1);
  const second = host.say("helo", { id: "2" });
  const edit = host.say("hello", { edits: "in-2" });
  const foreign = host.say("I was never here", { edits: "in-2", from: "eve", chat: "owner" });
  await host.say("/help");
  go.resolve();
  await Promise.all([first, second, edit]);
  expect(await second).toMatchObject({ outcome: "answered" });
  expect(await edit).toMatchObject({ outcome: "silent", reason: "edit_taken_up" });
  expect(lastAsked()).toMatch(/UTC\] hello$/);
  expect(turns).toHaveLength(2);
  expect((await foreign).reason).not.toBe("edit_taken_up");
});

test("after its turn, an edit is not answered; the next turn mentions it", async () => {
  const { host, turns, lastAsked } = await open();
  await host.say("Paris is in Germny", { id: "1" });
  const edit = await host.say("Paris is in Germany", { edits: "in-1" });
  expect(edit).toMatchObject({ outcome: "silent", reason: "edit_noted" });
  expect(edit.decisions.at(-1)).toMatchObject({ path: "channels.loopback.editedMessages" });
  expect(turns).toHaveLength(1);
  await host.say("and now?", { id: "2" });
  expect(lastAsked()).toContain("message:in-1 was edited, and reads now: Paris is in Germany");
  await host.say("more", { id: "3" });
  expect(lastAsked()).not.toContain("Germany");
});

test("an edit that asks something new is answered, and one that only corrects the question is not", async () => {
  const { host, turns } = await open();
  await host.say("tell me about Pariss?", { id: "1" });
  expect(await host.say("tell me about Paris?", { edits: "in-1" })).toMatchObject({ reason: "edit_noted" });
  expect(await host.say("tell me about Paris? Who lives there?", { edits: "in-1" })).toMatchObject({
    outcome: "answered",
  });
  expect(turns.map(({ inbound }) => inbound.kind)).toEqual(["message", "edit"]);
});

test("in a group, an edit that adds the mention is answered; one that keeps it is not", async () => {
  const { host, turns } = await open();
  const group = { group: true, from: "ada" } as const;
  await host.say("what is the time", { ...group, id: "1" });
  expect(await host.say("@bot what is the time", { ...group, edits: "in-1", mention: true })).toMatchObject({
    outcome: "answered",
  });
  expect(await host.say("@bot what is the hour", { ...group, edits: "in-1", mention: true })).toMatchObject({
    reason: "edit_noted",
  });
  expect(await host.say("never mind", { ...group, edits: "in-1" })).toMatchObject({ reason: "mention_required" });
  expect(turns).toHaveLength(1);
});

test("an edit after a failed turn is answered", async () => {
  let tries = 0;
  const { host } = await open({}, () => {
    tries += 1;
    if (tries === 1) throw new EngineError("model_refused", { detail: "no" });
    return "answer";
  });
  expect(await host.say("helo", { id: "1" })).toMatchObject({ outcome: "failed" });
  expect(await host.say("hello", { edits: "in-1" })).toMatchObject({ outcome: "answered" });
});

test.each([
  ["answer", { outcome: "answered" }],
  ["ignore", { outcome: "silent", reason: "edit_ignored" }],
])("with editedMessages %s, an edit after the turn ends so", async (editedMessages, end) => {
  const { host } = await open({ editedMessages });
  await host.say("Paris is in Germny", { id: "1" });
  expect(await host.say("Paris is in Germany", { edits: "in-1" })).toMatchObject(end);
});
