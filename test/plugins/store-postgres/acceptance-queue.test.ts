import { expect, test } from "vitest";
import { createAcceptanceQueue } from "../../../plugins/store-postgres/acceptance-queue.ts";

interface Item {
  readonly name: string;
  readonly lane: string;
  readonly characters: number;
  readonly follows: boolean;
}

const item = (name: string, lane: string, more: Partial<Item> = {}): Item => ({
  name,
  lane,
  characters: 1,
  follows: false,
  ...more,
});

function queueOf(...items: readonly Item[]) {
  const queue = createAcceptanceQueue<Item>((each) => each);
  for (const each of items) queue.add(each);
  return queue;
}

const names = (batch: readonly Item[]) => batch.map(({ name }) => name);

test("all waiting items form one batch; a busy lane waits until it is done and keeps its order", () => {
  const queue = queueOf(item("a1", "a"), item("b1", "b"), item("a2", "a"));
  const first = queue.take();
  expect(names(first)).toEqual(["a1", "b1", "a2"]);
  for (const each of [item("a3", "a"), item("c1", "c"), item("a4", "a")]) queue.add(each);
  expect(names(queue.take())).toEqual(["c1"]);
  expect(queue.take()).toEqual([]);
  queue.done(first);
  expect(names(queue.take())).toEqual(["a3", "a4"]);
});

test("an event shares the batch of the event it follows, and no later event of its lanes overtakes it", () => {
  const queue = queueOf(item("a1", "a"));
  const first = queue.take();
  for (const each of [item("a2", "a"), item("b2", "b", { follows: true }), item("b3", "b"), item("c", "c")])
    queue.add(each);
  expect(names(queue.take())).toEqual(["c"]);
  queue.done(first);
  expect(names(queue.take())).toEqual(["a2", "b2", "b3"]);
});

test("a batch ends before it becomes too long or too large, but never inside a group", () => {
  const many = Array.from({ length: 300 }, (_, index) => item(`e${index}`, `l${index}`));
  const queue = queueOf(...many);
  expect(queue.take()).toHaveLength(256);
  expect(queue.take()).toHaveLength(44);

  const large = { characters: 3_000_000 };
  const groups = queueOf(
    item("a", "a", large),
    item("b", "b", { ...large, follows: true }),
    item("c", "c", large),
    item("d", "d", large),
  );
  expect(names(groups.take())).toEqual(["a", "b"]);
  expect(names(groups.take())).toEqual(["c"]);
  expect(names(groups.take())).toEqual(["d"]);
});
