/** Pieces of a text that arrive at once are one piece for everything behind them. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { Gathering } from "../../../plugins/ai/answer/gathering.ts";
import { Pieces } from "../../../plugins/ai/answer/pieces.ts";
import type { ModelPart } from "../../../plugins/ai/library.ts";

const text = (delta: string, id = "1"): ModelPart => ({ type: "text-delta", id, delta });

async function batchesOf(
  parts: AsyncIterable<ModelPart> | Iterable<ModelPart>,
): Promise<readonly (readonly ModelPart[])[]> {
  const gathering = new Gathering(ReadableStream.from(parts).getReader());
  const batches: (readonly ModelPart[])[] = [];
  for (let batch = await gathering.batch(); batch.length > 0; batch = await gathering.batch()) batches.push(batch);
  return batches;
}

test("a text of 10,000 pieces is passed on as one", async () => {
  const batches = await batchesOf(Array.from({ length: 10_000 }, (_, number) => text(`${number},`)));
  expect(batches).toHaveLength(1);
  expect(batches[0]).toEqual([text(Array.from({ length: 10_000 }, (_, number) => `${number},`).join(""))]);
});

test("separate texts, other parts and the metadata of a piece keep their places", async () => {
  const signed: ModelPart = {
    type: "reasoning-delta",
    id: "1",
    delta: "b",
    providerMetadata: { a: { signature: "s" } },
  };
  const thought: ModelPart = { type: "reasoning-delta", id: "1", delta: "a" };
  const parts = [
    thought,
    signed,
    text("a"),
    text("b"),
    text("c", "2"),
    { type: "text-end", id: "2" } as const,
    text("d", "2"),
  ];
  expect((await batchesOf(parts)).flat()).toEqual([
    ...[thought, signed, text("ab"), text("c", "2")],
    ...[{ type: "text-end", id: "2" }, text("d", "2")],
  ]);
});

test("a piece before a pause is passed on before the pause", async () => {
  const seen: string[] = [];
  async function* slow() {
    yield text("a");
    await delay(50);
    seen.push("the pause is over");
    yield text("b");
  }
  const gathering = new Gathering(ReadableStream.from(slow()).getReader());
  expect(await gathering.batch()).toEqual([text("a")]);
  expect(seen).toEqual([]);
  expect(await gathering.batch()).toEqual([text("b")]);
});

test("what arrives before a connection breaks is passed on, followed by the error", async () => {
  async function* broken() {
    yield text("a");
    throw new Error("broken");
  }
  const gathering = new Gathering(ReadableStream.from(broken()).getReader());
  expect(await gathering.batch()).toEqual([text("a")]);
  await expect(gathering.batch()).rejects.toThrow("broken");
});

test("a text collected from pieces equals their sum", () => {
  const pieces = new Pieces();
  expect([pieces.isEmpty, pieces.isBlank, pieces.text]).toEqual([true, true, ""]);
  let all = "";
  for (let number = 0; number < 1_234; number += 1) {
    pieces.add(" ");
    all += " ";
  }
  expect([pieces.isEmpty, pieces.isBlank]).toEqual([false, true]);
  pieces.add("x");
  expect([pieces.isBlank, pieces.text]).toEqual([false, `${all}x`]);
});
