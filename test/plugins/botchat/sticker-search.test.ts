import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findStickers } from "../../../plugins/botchat/sticker-search.ts";
import { start } from "./platform.ts";

const cat = { ref: "cat", emoji: "😀", setName: "Pets_by_bot", description: "A laughing cat on a sofa" };
const dog = { ref: "dog", emoji: "🎉", setName: "party", description: "A dog with a party hat" };
const hat = { ref: "hat", description: "Hats" };
const heart = { ref: "heart", emoji: "❤️", setName: "Love_you_by_bot", description: "" };
const all = [cat, dog, hat, heart];
const found = (query: string, limit = 5) => findStickers(all, query, limit).map(({ ref }) => ref);

test.each([
  ["laughing cat", ["cat"]],
  ["HAT", ["hat", "dog"]],
  ["dog hat", ["dog", "hat"]],
  ["🎉", ["dog"]],
  ["party time", ["dog"]],
  ["pets", ["cat"]],
  ["a", ["dog", "hat", "cat"]],
  ["❤", ["heart"]],
  ["👍🏽 or ❤️", ["heart"]],
  ["love you", ["heart"]],
  ["love_you_by_bot", ["heart"]],
  ["rocket", []],
  ["  ", []],
])("a search for %s finds %o, best match first", (query, expected) => {
  expect(found(query)).toEqual(expected);
});

test("a search returns no more results than requested", () => {
  expect(found("a", 2)).toEqual(["dog", "hat"]);
});

test("a search finds only stickers with a file id for this bot, with their emoji and set", async () => {
  const { account, connection } = await start();
  const stickers = {
    u1: { description: "a tea pot", emoji: "🫖", setName: "kitchen", fileIds: { "7000000001": "mine", "8": "other" } },
    u2: { description: "a tea cup", fileIds: { "8": "other" } },
    u3: { description: 7, fileIds: { "7000000001": "broken" } },
  };
  writeFileSync(
    join(dirname(account.account.directory), "sticker-cache.json"),
    JSON.stringify({ version: 1, stickers }),
  );
  expect(await connection.findMedia?.("sticker", "tea", 5)).toEqual([
    { ref: "mine", emoji: "🫖", setName: "kitchen", description: "a tea pot" },
  ]);
});
