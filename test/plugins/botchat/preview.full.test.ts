/** The live preview, against the emulated platform. */
import type { Address } from "service-gateway/sdk";
import { aroundEach, describe, test } from "vitest";
import { blockEnd } from "../../../plugins/botchat/send/preview-blocks.ts";
import { expect, inOwnTest } from "../../support/own-test.ts";
import { until } from "./account.ts";
import { ada, callsOf, direct, forum, messageIn, never, reply, start } from "./platform.ts";

aroundEach(inOwnTest);

async function startPreview(
  options: object = {},
  more: { readonly resume?: readonly string[]; readonly chat?: number; readonly thread?: string } = {},
) {
  const started = await start(options);
  started.platform.act.say(ada, ada, "hello");
  await until(() => started.account.received.length === 1, "the first message");
  const told: (readonly string[])[] = [];
  const uncertain = { times: 0 };
  const address = {
    ...direct,
    ...(more.chat !== undefined && { chat: String(more.chat) }),
    ...(more.thread !== undefined && { thread: more.thread }),
  };
  const onUncertain = () => {
    uncertain.times += 1;
  };
  const open = (at: Address) =>
    started.connection.preview?.(at, {
      resume: more.resume ?? [],
      onMessage: (ids) => void told.push(ids),
      onUncertain,
    });
  const preview = open(address);
  if (preview === undefined) throw new Error("the channel has no preview");
  const calls = () =>
    started.platform.calls.list().filter(({ method }) => method === "sendMessage" || method === "editMessageText");
  return { ...started, preview, open, uncertain, told, calls };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

describe("partial previews", () => {
  // It compares times, hence nothing else runs beside it.
  test("the message appears, grows at most once a second, and its id is reported", async () => {
    const { platform, preview, told, calls } = await startPreview();
    for (let count = 1; count <= 150; count += 1) {
      preview.update(words(count));
      await sleep(10);
    }
    await until(() => messageIn(platform, told[0]?.[0])?.text === words(150), "the whole text");
    const times = calls().map(({ at }) => at);
    for (let index = 1; index < times.length; index += 1)
      expect((times[index] ?? 0) - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(950);
    expect(calls().filter(({ method }) => method === "sendMessage")).toHaveLength(1);
    expect(await preview.close()).toEqual(told[0]);
  });
});

describe.concurrent("partial previews", () => {
  test("nothing appears below 30 characters", async () => {
    const { preview, calls } = await startPreview();
    preview.update("short text");
    await sleep(300);
    expect(calls()).toEqual([]);
    expect(await preview.close()).toEqual([]);
  });

  test("messages from an earlier process are passed to the answer, even if previews are now off", async () => {
    const { preview, calls } = await startPreview({ streamMode: "off" }, { resume: ["17"] });
    preview.update(words(20));
    expect(await preview.close()).toEqual(["17"]);
    expect(calls()).toEqual([]);
  });

  test("unchanged text is never sent again, but a changed text and a second answer are", async () => {
    const { connection, preview, told, calls } = await startPreview();
    preview.update(words(10));
    await until(() => told.length === 1, "the preview");
    await sleep(1_100);
    preview.update(words(10));
    await sleep(150);
    expect(calls()).toHaveLength(1);
    const [id = ""] = await preview.close();
    const answer = async (text: string) => {
      const [part = { kind: "text", chars: 0, body: null }] = connection.render(reply(text), direct);
      return await connection.send({ ...part, replaces: id }, direct, never);
    };
    expect(await answer(words(10))).toEqual({ messageId: id });
    expect(calls()).toHaveLength(1);
    expect(await answer(words(11))).toEqual({ messageId: id });
    expect(await answer(words(10))).toEqual({ messageId: id });
    expect(calls()).toHaveLength(3);
  });

  test("formatting is shown while it grows, even with incomplete markup", async () => {
    const { platform, preview, told } = await startPreview();
    preview.update("**bold** and then some `unfinished co");
    await until(() => told.length === 1, "the preview");
    expect(messageIn(platform, told[0]?.[0])?.text).toBe("bold and then some `unfinished co");
    expect(messageIn(platform, told[0]?.[0])?.entities?.[0]?.type).toBe("bold");
  });

  test("a second message continues beyond the limit", async () => {
    const { platform, preview, told } = await startPreview({ textChunkLimit: 100 });
    preview.update(words(25));
    await until(() => told.at(-1)?.length === 2, "the second message");
    const [first, second] = told.at(-1) ?? [];
    expect(`${messageIn(platform, first)?.text} ${messageIn(platform, second)?.text}`).toBe(words(25));
    expect(await preview.close()).toEqual([first, second]);
  });

  test("only the newest text is shown after a flood wait", async () => {
    const { platform, preview, told, calls } = await startPreview();
    preview.update(words(10));
    await until(() => told.length === 1, "the preview");
    platform.faults.add({ method: "editMessageText", times: 1, kind: "flood", retryAfter: 2 });
    preview.update(words(11));
    await until(() => calls().at(-1)?.status === 429, "the flood wait");
    const refused = calls().length;
    for (let count = 12; count <= 20; count += 1) preview.update(words(count));
    await until(() => calls().length > refused, "the next edit");
    expect((calls()[refused]?.at ?? 0) - (calls()[refused - 1]?.at ?? 0)).toBeGreaterThanOrEqual(1_900);
    await until(() => messageIn(platform, told[0]?.[0])?.text === words(20), "the newest text");
  });

  test("the preview gives up after three failures, and close still returns the existing messages", async () => {
    const { platform, preview, told, calls } = await startPreview();
    preview.update(words(10));
    await until(() => told.length === 1, "the preview");
    platform.faults.add({
      method: "editMessageText",
      times: 50,
      kind: "refuse",
      description: "Bad Request: something",
    });
    for (let count = 11; count <= 60; count += 1) {
      preview.update(words(count));
      await sleep(20);
    }
    expect(calls().length).toBeLessThanOrEqual(4);
    expect(await preview.close()).toEqual(told[0]);
  });

  test("a message of unknown fate is reported, and no new preview starts before the platform responds", async () => {
    const { platform, preview, open, uncertain, told, calls } = await startPreview();
    platform.faults.add({ method: "getUpdates", times: 1_000, kind: "reset-before" });
    platform.faults.add({ method: "sendMessage", times: 1, kind: "reset-after" });
    preview.update(words(10));
    await until(() => uncertain.times === 1, "the unknown outcome");
    preview.update(words(20));
    const next = open(direct);
    next?.update(words(30));
    await sleep(1_500);
    expect(calls()).toHaveLength(1);
    expect(await preview.close()).toEqual([]);
    platform.faults.clear();
    await until(() => told.length === 1, "the next preview");
    expect(await next?.close()).toEqual(told[0]);
    expect(uncertain.times).toBe(1);
    const sent = calls().filter(({ method }) => method === "sendMessage");
    expect(sent).toHaveLength(2);
  });

  test("close waits for the call in progress, and nothing is sent afterwards", async () => {
    const { platform, preview, told, calls } = await startPreview();
    platform.faults.add({ method: "sendMessage", times: 1, kind: "delay", ms: 400 });
    preview.update(words(10));
    await sleep(250);
    preview.update(words(20));
    const ids = await preview.close();
    expect(ids).toHaveLength(1);
    expect(told).toEqual([ids]);
    preview.update(words(30));
    await sleep(200);
    expect(calls()).toHaveLength(1);
    expect(await preview.close()).toEqual(ids);
  });

  test("messages from an earlier process are continued, not duplicated", async () => {
    const { platform, connection, preview, calls } = await startPreview();
    await preview.close();
    const [part] = connection.render(reply("left behind"), direct);
    const left = await connection.send(part ?? { kind: "text", chars: 0, body: null }, direct, never);
    const again = connection.preview?.(direct, { resume: [left.messageId], onMessage: () => {} });
    again?.update(words(12));
    await until(() => messageIn(platform, left.messageId)?.text === words(12), "the edit");
    expect(calls().filter(({ method }) => method === "sendMessage")).toHaveLength(1);
    expect(await again?.close()).toEqual([left.messageId]);
  });

  test("a preview yields to a real message of the chat", async () => {
    const { platform, connection, preview, calls } = await startPreview();
    platform.faults.add({ method: "sendMessage", times: 1, kind: "delay", ms: 500 });
    const [part] = connection.render(reply("an answer"), direct);
    const sending = connection.send(part ?? { kind: "text", chars: 0, body: null }, direct, never);
    preview.update(words(10));
    await sending;
    await until(() => calls().length === 2, "the preview");
    expect(calls().map(({ params }) => params.text)).toEqual(["an answer", words(10)]);
  });

  test("a preview stays in its topic", async () => {
    const { platform, preview, told } = await startPreview({}, { chat: forum, thread: "2" });
    preview.update(words(10));
    await until(() => told.length === 1, "the preview");
    expect(messageIn(platform, told[0]?.[0], forum)?.message_thread_id).toBe(2);
  });
});

describe.concurrent("other preview modes", () => {
  test.each([{ streamMode: "off" }, { blockStreaming: true }])("%j: shows no preview", async (options) => {
    const { platform, preview } = await startPreview(options);
    preview.update(words(50));
    await sleep(300);
    expect(await preview.close()).toEqual([]);
    expect(callsOf(platform, "sendMessage")).toEqual([]);
  });

  test("block: grows by whole paragraphs of the configured size", async () => {
    const { platform, preview, told } = await startPreview({
      streamMode: "block",
      draftChunk: { minChars: 40, maxChars: 120 },
    });
    const paragraph = "This paragraph has exactly so many words.";
    preview.update(`${paragraph}\n\n${paragraph}\n\nAnd then some`);
    await until(() => told.length === 1, "the preview");
    expect(messageIn(platform, told[0]?.[0])?.text).toBe(`${paragraph}\n\n${paragraph}`);
  });

  test("a block ends at the best available break and never exceeds its maximum", () => {
    const draft = { minChars: 10, maxChars: 20, breakPreference: "paragraph" } as const;
    expect(blockEnd("short", 0, draft, 4_000)).toBe(0);
    expect(blockEnd("0123456789ab\n\ncd", 0, draft, 4_000)).toBe(14);
    expect(blockEnd("0123456789ab\ncd", 0, draft, 4_000)).toBe(13);
    expect(blockEnd("x".repeat(19), 0, draft, 4_000)).toBe(0);
    expect(blockEnd("x".repeat(45), 0, draft, 4_000)).toBe(40);
    expect(blockEnd("x".repeat(45), 0, draft, 15)).toBe(45);
    expect(blockEnd("0123456789. cd\nef", 0, { ...draft, breakPreference: "sentence" }, 4_000)).toBe(12);
  });
});

describe.concurrent("a restarted text, such as that of the next model,", () => {
  const other = (count: number) => Array.from({ length: count }, (_, index) => `other${index}`).join(" ");

  test.each([
    ["partial", {}],
    ["block", { streamMode: "block", draftChunk: { minChars: 20, maxChars: 60 } }],
  ])("in mode %s replaces the earlier one, after the other messages are removed", async (_, options) => {
    const { platform, preview, told } = await startPreview({ textChunkLimit: 100, ...options });
    preview.update(words(40));
    await until(() => told.at(-1)?.length === 3, "the third message");
    const [first = "", ...more] = told.at(-1) ?? [];
    await sleep(1_100);
    const texts = new Set<string>();
    preview.update(other(12));
    await until(() => {
      texts.add([first, ...more].map((id) => messageIn(platform, id)?.text ?? "").join(" "));
      return told.at(-1)?.length === 1 && messageIn(platform, first)?.text?.startsWith("other0") === true;
    }, "the new text alone");
    for (const text of texts) expect(text.includes("word") && text.includes("other")).toBe(false);
    for (const id of more) expect(messageIn(platform, id)).toBeUndefined();
    expect(await preview.close()).toEqual([first]);
  });

  test("grows again", async () => {
    const { platform, preview, told } = await startPreview({ textChunkLimit: 100 });
    preview.update(words(40));
    await until(() => told.at(-1)?.length === 3, "the third message");
    preview.update(other(30));
    await until(
      () =>
        told
          .at(-1)
          ?.map((id) => messageIn(platform, id)?.text)
          .join(" ") === other(30),
      "the new text",
    );
    expect(told.at(-1)).toHaveLength(3);
  });
});
