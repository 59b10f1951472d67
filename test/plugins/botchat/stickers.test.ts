import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InboundMedia } from "service-gateway/sdk";
import { expect, onTestFinished, test } from "vitest";
import { createStickers } from "../../../plugins/botchat/stickers.ts";

const sticker: InboundMedia = {
  kind: "sticker",
  ref: "file-1",
  uniqueId: "unique",
  sticker: { emoji: "👍", setName: "Cats", animated: false },
};

function room() {
  const directory = mkdtempSync(join(tmpdir(), "stickers-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const clock = { now: 1_000 };
  const file = join(directory, "sticker-cache.json");
  return {
    directory,
    clock,
    file,
    open: (botId = "42") => createStickers({ directory, botId, now: () => clock.now }),
    stored: () => (JSON.parse(readFileSync(file, "utf8")) as { readonly stickers: Record<string, object> }).stickers,
  };
}

function asker(answer: string | undefined) {
  const ask = async () => {
    ask.times += 1;
    return answer;
  };
  ask.times = 0;
  return ask;
}

test("a sticker is described once, for all accounts and across restarts", async () => {
  const { open, stored } = room();
  const ask = asker("a cat");
  expect(await open().describe(sticker, ask)).toBe("a cat");
  expect(await open().describe(sticker, ask)).toBe("a cat");
  expect(await open("43").describe({ ...sticker, ref: "file-of-43" }, ask)).toBe("a cat");
  expect(ask.times).toBe(1);
  expect(stored()).toEqual({
    unique: { description: "a cat", emoji: "👍", setName: "Cats", fileIds: { "42": "file-1", "43": "file-of-43" } },
  });
});

test("a sticker without a description is found by emoji and set, and is retried after an hour", async () => {
  const { open, clock } = room();
  const stickers = open();
  const ask = asker(undefined);
  expect(await stickers.describe(sticker, ask)).toBeUndefined();
  expect(await stickers.describe(sticker, ask)).toBeUndefined();
  expect(ask.times).toBe(1);
  for (const query of ["👍", "cats"])
    expect(stickers.search(query, 5)).toEqual([{ ref: "file-1", emoji: "👍", setName: "Cats", description: "" }]);
  clock.now += 61 * 60_000;
  expect(await stickers.describe(sticker, asker("a cat"))).toBe("a cat");
});

test("an invalid cache file is replaced and leaves no other file behind", async () => {
  const { open, file, directory } = room();
  for (const junk of [
    "",
    "{",
    "[]",
    '{"stickers":[]}',
    '{"stickers":{"unique":{"description":5}}}',
    '{"stickers":{"unique":"x"}}',
  ]) {
    writeFileSync(file, junk);
    expect(await open().describe(sticker, asker("a cat"))).toBe("a cat");
    expect(readdirSync(directory)).toEqual(["sticker-cache.json"]);
  }
});

test("ids that match built-in property names are handled like any other", async () => {
  const { open } = room();
  const ask = asker("a cat");
  for (const uniqueId of ["__proto__", "constructor", "toString"]) {
    expect(await open().describe({ ...sticker, uniqueId }, ask)).toBe("a cat");
  }
  expect(ask.times).toBe(3);
});

test("an unwritable directory loses the cache, not the message", async () => {
  const stickers = createStickers({ directory: "/nowhere/at/all", botId: "42", now: () => 0 });
  expect(await stickers.describe(sticker, asker("a cat"))).toBe("a cat");
});
