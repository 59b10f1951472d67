/** What one node works at, the others wait for, unless that node is gone. */
import { expect, test } from "vitest";
import { createOnceOnNodes } from "../../../../core/agents/speech/once-on-nodes.ts";
import type { Json } from "../../../../core/contract/index.ts";

const never = new AbortController().signal;

function room() {
  const rows = new Map<string, Json>();
  const done = new Map<string, string>();
  const asked: string[] = [];
  let time = 1_000_000;
  const pass = (ms: number) => {
    time += ms;
  };
  const node = (name: string) => {
    const once = createOnceOnNodes({
      async update(_namespace, key, change) {
        const next = change(rows.get(key) ?? null);
        if (next === null) rows.delete(key);
        else if (next !== undefined) rows.set(key, next);
        return rows.get(key) ?? null;
      },
      nodes: { name, time: () => time },
    } as Parameters<typeof createOnceOnNodes>[0]);
    const listen = (work: (set: (text: string) => void) => Promise<string>, signal = never) =>
      once<string>("file", signal, {
        stored: async () => done.get("file"),
        work: () => {
          asked.push(name);
          return work((text) => done.set("file", text));
        },
      });
    return listen;
  };
  return { node, asked, rows, pass };
}

const hanging = () => new Promise<string>(() => {});

test("a second node waits for the words of the first", async () => {
  const { node, asked, rows } = room();
  const words = Promise.withResolvers<void>();
  const first = node("one")(async (set) => {
    await words.promise;
    set("hello");
    return "hello";
  });
  const second = node("two")(hanging);
  await new Promise((resolve) => setTimeout(resolve, 300));
  words.resolve();
  expect(await Promise.all([first, second])).toEqual(["hello", "hello"]);
  expect(asked).toEqual(["one"]);
  expect(rows.size).toBe(0);
});

test("a node takes over from one that has failed, and from one that is gone", async () => {
  const { node, asked, pass } = room();
  await expect(node("one")(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  void node("one")(hanging);
  await expect.poll(() => asked).toEqual(["one", "one"]);
  pass(15_001);
  expect(await node("two")(async () => "hello")).toBe("hello");
  expect(asked).toEqual(["one", "one", "two"]);
});

test("the next process of a node does not wait for the one before it", async () => {
  const { node, asked } = room();
  void node("one")(hanging);
  await expect.poll(() => asked).toEqual(["one"]);
  expect(await node("one")(async () => "hello")).toBe("hello");
});

test("waiting ends with its signal", async () => {
  const { node, asked } = room();
  void node("one")(hanging);
  await expect.poll(() => asked).toEqual(["one"]);
  const stop = new AbortController();
  const waiting = node("two")(hanging, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});
