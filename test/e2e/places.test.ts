/** What a group or a topic adds to the turn, and an account to its answers, over the emulated platform. */
import { expect, test } from "vitest";
import type { TurnEvent } from "../../core/sdk/contract.ts";
import { type Conversation, type ConversationOptions, converse, kitchen, workshop } from "./conversation.ts";

async function asked(
  options: ConversationOptions,
  chat: number,
  thread?: (place: Conversation) => number,
): Promise<Conversation> {
  const place = await converse(options);
  await place.start();
  const topic = thread?.(place);
  place.platform.act.say(place.ada, chat, "@e2e_bot hello", topic === undefined ? {} : { thread: topic });
  await place.asked(1);
  return place;
}

const ideas = ({ platform }: Conversation) =>
  [...(platform.world.group(workshop)?.topics.keys() ?? [])].find((id) => id !== 1) ?? 0;

test("the prompts of a group and its topic are in the instructions only, in this order", async () => {
  const groups = {
    "*": { systemPrompt: "Everywhere: be brief in {{ChatTitle}}." },
    [workshop]: {
      systemPrompt: "Here we build. {{SenderName}} asks.",
      skills: ["saw", "paint"],
    },
  };
  const place = await asked({ channel: { groups } }, workshop);
  const [turn] = place.turns;
  expect(turn?.instructions).toContain('Here we build. "Ada');
  expect(turn?.instructions).not.toContain("Everywhere");
  expect(turn?.skills).toEqual(["saw", "paint"]);
  place.platform.act.say(place.ada, kitchen, "@e2e_bot hello");
  await place.asked(2);
  expect(place.turns[1]?.instructions).toContain('Everywhere: be brief in "Kitchen table".');
  expect(place.turns[1]).not.toHaveProperty("skills");
  place.platform.act.say(place.ada, place.ada, "hello");
  await place.asked(3);
  expect(place.turns[2]?.instructions).not.toMatch(/Everywhere|Here we build/);
});

test("a topic adds its prompt to that of its group and inherits the group's skills if it sets none", async () => {
  const topic = ideas(await converse());
  expect(topic).toBeGreaterThan(1);
  const groups = {
    [workshop]: {
      systemPrompt: "Group.",
      skills: ["saw"],
      topics: { [topic]: { systemPrompt: "Topic {{MessageThreadId}} {{IsForum}}." } },
    },
  };
  const within = await asked({ channel: { groups } }, workshop, ideas);
  expect(within.turns[0]?.instructions.endsWith(`Group.\n\nTopic ${topic} true.`)).toBe(true);
  expect(within.turns[0]?.skills).toEqual(["saw"]);
});

test("responsePrefix precedes every answer on the platform but is not stored in the conversation", async () => {
  const place = await asked({ channel: { responsePrefix: "[{{AgentId}} for {{SenderName}}]" } }, kitchen);
  await expect.poll(() => place.messages(kitchen).map(({ text }) => text)).toEqual(["[main for Ada Lind] answer 1"]);
  place.platform.act.say(place.ada, kitchen, "@e2e_bot again");
  await place.asked(2);
  expect(place.turns[1]?.messages.map(({ role, text }) => (role === "assistant" ? text : role))).toEqual([
    "user",
    "answer 1",
    "user",
  ]);
});

test("responsePrefix also precedes a growing answer and a list", async () => {
  const place = await converse({ channel: { responsePrefix: "[bot]", streamMode: "partial" }, answer: () => grows() });
  const shown = () => place.platform.calls.list({ method: "sendMessage" }).map(({ params }) => params.text);
  async function* grows(): AsyncGenerator<TurnEvent> {
    for (const delta of ["-", " one\n- two\n", "- three, which is long enough to be shown"])
      yield { type: "text", delta };
    await expect.poll(shown).toHaveLength(1);
    yield { type: "text", delta: "\n- four" };
    yield { type: "done" };
  }
  await place.start();
  place.platform.act.say(place.ada, place.ada, "hello");
  expect(await place.ended(1)).toEqual(["answered answered"]);
  expect(shown()).toEqual([expect.stringMatching(/^\[bot\]\n\n• one[\s\S]*shown$/)]);
  expect(place.messages(place.ada).map(({ text }) => text)).toEqual([
    expect.stringMatching(/^\[bot\]\n\n• one[\s\S]*four$/),
  ]);
});

test("a silent reply stays silent with a prefix", async () => {
  const place = await asked({ channel: { responsePrefix: "[bot]" }, answer: () => "NO_REPLY" }, kitchen);
  expect(await place.ended(1)).toEqual(["silent no_reply"]);
  expect(place.messages(kitchen)).toEqual([]);
});

test("a pattern of mentions is searched in what people wrote, not in the Markdown that it becomes", async () => {
  const place = await converse({
    config: { messages: { groupChat: { mentionPatterns: ["(^|[^\\pL_])hal 9000", "crew\\.example"] } } },
  });
  await place.start();
  const { platform, ada, turns } = place;
  const link = [{ type: "text_link", offset: 0, length: 4, url: "https://crew.example/" }];
  platform.act.say(ada, kitchen, "read that", { entities: link } as never);
  // Bold to the middle of the name: what it becomes is not the name any more.
  platform.act.say(ada, kitchen, "hal 9000, open", { entities: [{ type: "bold", offset: 0, length: 5 }] } as never);
  platform.act.say(ada, kitchen, "hal 9000, close", { entities: [{ type: "italic", offset: 0, length: 8 }] } as never);
  await place.ended(3);
  expect(turns.map(({ inbound }) => inbound.text)).toEqual(["**hal 9**000, open", "*hal 9000*, close"]);
});
