import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { ChannelError } from "../../../../core/contract/index.ts";
import { growingMarkdown, type MarkupMessage } from "../../../../core/sdk/markup/render.ts";
import { editingPreview } from "../../../../core/sdk/preview/preview.ts";

const words = (count: number) => "some words that are long enough to show ".repeat(count).trim();

/** A platform whose messages can be edited. `faults` are thrown by the next calls. */
function openPlatform(limit = 1_000) {
  const shown = new Map<string, string>();
  const calls: string[] = [];
  const faults: ChannelError[] = [];
  const seen: (readonly string[])[] = [];
  const fail = () => {
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
  };
  const open = (resume: readonly string[] = []) =>
    editingPreview<MarkupMessage>(
      {
        messagesOf: growingMarkdown({ dialect: "plain", limit }),
        textOf: ({ markup }) => markup,
        async post({ markup }) {
          calls.push("post");
          fail();
          const id = `m${shown.size + 1}`;
          shown.set(id, markup);
          return id;
        },
        async edit(id, { markup }) {
          calls.push("edit");
          fail();
          shown.set(id, markup);
        },
        async remove(id) {
          calls.push("remove");
          fail();
          shown.delete(id);
        },
      },
      { resume, onMessage: (ids) => seen.push(ids), pace: { everyMs: 20 } },
    );
  return { shown, calls, faults, seen, open };
}

test("a preview begins when there is enough to show, and shows the newest text at its pace", async () => {
  const platform = openPlatform();
  const preview = platform.open();
  preview.update("too short");
  await sleep(200);
  expect(platform.calls).toEqual([]);
  for (let count = 1; count <= 5; count += 1) preview.update(words(count));
  await vi.waitFor(() => expect([...platform.shown.values()]).toEqual([words(5)]));
  expect(platform.calls).toEqual(["post"]);
  preview.update(words(6));
  await vi.waitFor(() => expect([...platform.shown.values()]).toEqual([words(6)]));
  expect(await preview.close()).toEqual(["m1"]);
  preview.update(words(7));
  await sleep(60);
  expect(platform.calls).toEqual(["post", "edit"]);
});

test("messages of a killed process are taken up, and a text that starts over keeps the first one only", async () => {
  const platform = openPlatform(100);
  platform.shown.set("m1", "old").set("m2", "old");
  const preview = platform.open(["m1", "m2"]);
  preview.update(words(4));
  await vi.waitFor(() => expect([...platform.shown.keys()]).toEqual(["m1", "m2"]));
  await vi.waitFor(() => expect([...platform.shown.values()].join(" ")).toBe(words(4)));
  preview.update(`Another text, which does not begin like the one before. ${words(1)}`);
  await vi.waitFor(() => expect([...platform.shown.values()]).toEqual([expect.stringMatching(/^Another text/)]));
  expect(await preview.close()).toEqual(["m1"]);
});

test("a wait that the platform demands is kept, and an unknown send is not repeated", async () => {
  const platform = openPlatform();
  platform.faults.push(new ChannelError("flood_wait", { retryable: true, retryAfterMs: 300 }));
  const preview = platform.open();
  const begun = performance.now();
  preview.update(words(2));
  await vi.waitFor(() => expect(platform.shown.size).toBe(1));
  expect(performance.now() - begun).toBeGreaterThan(400);
  await preview.close();

  const lost = openPlatform();
  lost.faults.push(new ChannelError("network", { retryable: true, fate: "unknown" }));
  const other = lost.open();
  other.update(words(2));
  await vi.waitFor(() => expect(lost.calls).toEqual(["post"]));
  other.update(words(3));
  await sleep(100);
  expect([lost.calls, await other.close()]).toEqual([["post"], []]);
});
