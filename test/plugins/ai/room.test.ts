/** Requests that fit into the context of the model, and what refusals of longer ones teach. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineMessage, EngineTool, EngineTurn, Inbound } from "service-gateway/sdk";
import { expect, onTestFinished, test } from "vitest";
import { isQuoted, namedRoom } from "../../../plugins/ai/room/too-long.ts";
import { callTools, refuse, say } from "../../openai-server/answers.ts";
import { type CountingOptions, createCountingServer } from "../../openai-server/counting.ts";
import { createOpenAiServer } from "../../openai-server/index.ts";
import { collect, openEngine, openRooms, turnOf } from "./engine.ts";

const never = new AbortController().signal;
const words = (characters: number): string =>
  "The quick brown fox jumps over the lazy dog. ".repeat(Math.ceil(characters / 45)).slice(0, characters);

const conversation = (turns: number, characters = 400): readonly EngineMessage[] =>
  Array.from({ length: turns }, (_, turn) => [
    { role: "user" as const, text: `question ${turn} ${words(characters)}` },
    { role: "assistant" as const, text: `answer ${turn} ${words(characters)}` },
  ]).flat();

const ofPerson = { authority: "channel" } as Inbound;

async function open({ contextTokens, ...options }: CountingOptions & { readonly contextTokens?: number }) {
  const server = await createCountingServer({ reply: () => "Yes.", ...options });
  onTestFinished(() => server.close());
  const models: NonNullable<EngineTurn["providers"][string]["models"]> =
    contextTokens === undefined ? {} : { small: { contextTokens } };
  const providers: EngineTurn["providers"] = {
    local: { api: "openai-compatible", baseUrl: server.url, models },
  };
  const { engine } = openEngine();
  const rooms = openRooms();
  const ask = async (messages: readonly EngineMessage[], more: Partial<EngineTurn> = {}) => {
    const room = await rooms.of(providers, "local/small");
    const turn = turnOf("", { providers, messages, room, inbound: ofPerson, ...more });
    return await collect(engine.run(turn, never));
  };
  const sent = (index: number) => server.requests.at(index)?.body.messages ?? [];
  return { server, ask, sent, rooms };
}

test("the oldest messages are left out, the instructions and the last turns are not", async () => {
  const { server, ask, sent } = await open({ room: 4_000, contextTokens: 4_000 });
  const history = conversation(40);
  const { text } = await ask([...history, { role: "user", text: "and now?" }]);
  expect({ text, refused: server.refused }).toEqual({ text: "Yes.", refused: [] });
  const [instructions, first, ...rest] = sent(0);
  expect(instructions?.content).toBe("Be short.");
  expect(first?.content).toMatch(/^\[\d+ earlier messages are left out here\]\n\nquestion \d+ /);
  expect(rest.slice(-9).map(({ content }) => content)).toEqual([
    ...history.slice(-8).map(({ text: said }) => said),
    "and now?",
  ]);
});

test("two requests of a growing conversation begin with the same bytes", async () => {
  const { ask, sent } = await open({ room: 4_000, contextTokens: 4_000 });
  const begins: unknown[] = [];
  for (let turns = 30; turns < 36; turns += 1) {
    await ask([...conversation(turns), { role: "user", text: "and now?" }]);
    begins.push(String(sent(-1)[1]?.content).replace(/^\[\d+/, "[n"));
  }
  expect(new Set(begins).size).toBeLessThan(4);
});

test("what is never left out stays before the note", async () => {
  const { ask, sent } = await open({ room: 4_000, contextTokens: 4_000 });
  const summary: EngineMessage = { role: "user", text: "SUMMARY of before", lasting: true };
  await ask([summary, ...conversation(40), { role: "user", text: "and now?" }]);
  expect(sent(0)[1]?.content).toMatch(/^SUMMARY of before\n\n\[\d+ earlier messages are left out here\]\n\nquestion/);
});

test.each([
  ["names its size", true],
  ["names no size", false],
])("a refusal that %s is the only one, also for later turns", async (_, names) => {
  const { server, ask } = await open({ room: 6_000, names });
  for (let turns = 2; turns < 60; turns += 4) {
    const { text } = await ask([...conversation(turns), { role: "user", text: "and now?" }]);
    expect(text).toBe("Yes.");
  }
  expect(server.refused).toHaveLength(1);
  expect(Math.max(...server.answered.map(({ tokens }) => tokens))).toBeLessThanOrEqual(6_000);
});

test("a context that is set larger than it is, is learned as well", async () => {
  const { server, ask } = await open({ room: 4_000, contextTokens: 32_000 });
  for (let turn = 0; turn < 4; turn += 1) await ask([...conversation(60), { role: "user", text: "and now?" }]);
  expect(server.refused).toHaveLength(1);
});

test("what is never left out is cut for a model with a smaller context than its author's", async () => {
  const { ask, sent, server } = await open({ room: 2_000, contextTokens: 2_000 });
  const summary: EngineMessage = { role: "user", text: `SUMMARY ${words(8_000)} END`, lasting: true };
  const { text, error } = await ask([summary, ...conversation(4), { role: "user", text: "and now?" }]);
  expect({ text, error, refused: server.refused }).toEqual({ text: "Yes.", error: undefined, refused: [] });
  expect(sent(0)[1]?.content).toMatch(/^SUMMARY [\s\S]* characters are left out here\][\s\S]* END\n\n/);
});

test("messages that were not answered are left out one by one, and are not part of the current one", async () => {
  const { ask, sent, server } = await open({ room: 4_000, contextTokens: 4_000 });
  const unanswered = Array.from({ length: 20 }, (_, n) => ({ role: "user" as const, text: `${n}: ${words(2_000)}` }));
  const { text, error } = await ask([...unanswered, { role: "user", text: "and now?" }]);
  expect({ text, error, refused: server.refused }).toEqual({ text: "Yes.", error: undefined, refused: [] });
  // As one message, because the templates of many local models accept no two in a row.
  expect(sent(0)).toHaveLength(2);
  expect(sent(0)[1]?.content).toMatch(/^\[1\d earlier messages are left out here\]\n\n1\d: [\s\S]*\n\nand now\?$/);
  const { error: tooLong } = await ask([...unanswered, { role: "user", text: words(40_000) }]);
  const { message = 0 } = (tooLong as { readonly numbers?: { readonly message?: number } }).numbers ?? {};
  expect([message > 8_000, message < 16_000]).toEqual([true, true]);
});

test("a file that is too large for the model is left out, and says nothing about requests without it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "files-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "long.pdf");
  writeFileSync(path, "%PDF-1.4");
  const refusal = "prompt is too long: 210000 tokens > 200000 maximum";
  const { rooms, ask, server } = await open({
    room: 200_000,
    reply: ({ messages }) => (JSON.stringify(messages).includes("cannot see") ? "Yes." : refuse(400, refusal)),
  });
  const media = [{ kind: "document" as const, ref: "1", path, mimeType: "application/pdf", fileName: "long.pdf" }];
  for (let turn = 0; turn < 5; turn += 1)
    expect((await ask([{ role: "user", text: "What is in it?", media }])).text).toBe("Yes.");
  expect(server.requests).toHaveLength(10);
  expect([...rooms.stored.values()].filter((value) => JSON.stringify(value).includes("refused"))).toEqual([]);
});

test("results of tools are cut to what fits, the earlier ones first, and each request once", async () => {
  const look: EngineTool = {
    name: "look",
    description: "Looks.",
    parameters: { type: "object" },
    run: async () => `BEGIN ${words(2_000_000)} END`,
  };
  let calls = 0;
  const { server, ask, sent } = await open({
    room: 8_000,
    contextTokens: 8_000,
    reply: () => {
      calls += 1;
      return calls < 4 ? callTools([{ name: "look", args: {} }]) : "Seen.";
    },
  });
  const { text } = await ask([...conversation(6), { role: "user", text: "look" }], { tools: [look] });
  expect({ text, refused: server.refused }).toEqual({ text: "Seen.", refused: [] });
  const results = sent(-1).filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => String(content).length < 1_200)).toEqual([true, true, false]);
  expect(results.at(-1)?.content).toMatch(
    /^BEGIN [\s\S]*\n\[1,\d{3},\d{3} characters are left out here\]\n[\s\S]* END$/,
  );
}, 20_000);

test("a message of a person that alone is too long is not sent; the error has both numbers", async () => {
  const { server, ask } = await open({ room: 4_000, contextTokens: 4_000 });
  const { error } = await ask([{ role: "user", text: words(200_000) }]);
  expect(error).toMatchObject({ reason: "message_too_long", numbers: { message: expect.any(Number) } });
  const { message, room } = (error as { readonly numbers: { readonly message: number; readonly room: number } })
    .numbers;
  expect([message > 40_000, room > 3_000 && room < 4_000]).toEqual([true, true]);
  expect(server.requests).toHaveLength(0);
});

test("one that no person wrote, and the text of a file, are cut in the middle", async () => {
  const { server, ask, sent } = await open({ room: 4_000, contextTokens: 4_000 });
  await ask([{ role: "user", text: `BEGIN ${words(200_000)} END` }], { inbound: { authority: "hook" } as Inbound });
  expect(sent(0).at(-1)?.content).toMatch(/^BEGIN [\s\S]*characters are left out here[\s\S]* END$/);
  expect(server.refused).toEqual([]);
});

test("instructions that leave no room are named as the reason", async () => {
  const { ask } = await open({ room: 4_000, contextTokens: 4_000 });
  const { error } = await ask([{ role: "user", text: "hi" }], { instructions: words(20_000) });
  expect(error).toMatchObject({
    reason: "model_context_full",
    message: expect.stringContaining("instructions and tools"),
  });
});

test("a refusal that only repeats what a person has quoted is not one for length", async () => {
  const server = await createOpenAiServer();
  onTestFinished(() => server.close());
  const quote = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
  server.script(refuse(400, `Unsupported input: ${quote} What does that mean?`), say("Fine."));
  const providers: EngineTurn["providers"] = { local: { api: "openai-compatible", baseUrl: server.url } };
  const rooms = openRooms();
  const { engine } = openEngine();
  const turn = async () =>
    turnOf("", {
      ...{ providers, inbound: ofPerson, room: await rooms.of(providers, "local/small") },
      messages: [{ role: "user", text: `My program says: ${quote} What does that mean?` }],
    });
  expect((await collect(engine.run(await turn(), never))).error).toMatchObject({ reason: "model_refused" });
  expect((await collect(engine.run(await turn(), never))).text).toBe("Fine.");
  expect((await rooms.of(providers, "local/small")).models["local/small"]).toMatchObject({ tokens: 32_000 });
});

test.each([
  ["This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 4_096],
  ["The prompt (total length 9000) is too long to fit into the model (context length 8192)", 8_192],
  ["prompt is too long: 210000 tokens > 200000 maximum", 200_000],
  ["input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000, decrease input length", 200_000],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
  ["request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096],
  ["Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768],
  ["This endpoint's maximum context length is 131,072 tokens. However, you requested about 140000", 131_072],
  ["This model's maximum prompt length is 131072 but the request contains 200000 tokens.", 131_072],
  ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4_096],
  ["too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000", 4_081],
  ["Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192", 8_192],
  ["The prompt is too long: 9000, model maximum context length: 8192", 8_192],
  ["the model is loaded with context length of only 4096 tokens, which is not enough", 4_096],
  ["Please reduce the length of the messages or completion.", undefined],
  ["Input is too long for requested model.", undefined],
])("the size in a refusal: %s", (said, tokens) => {
  expect(namedRoom(said)).toBe(tokens);
  expect(isQuoted(said, { prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }] })).toBe(false);
});
