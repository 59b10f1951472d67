/** Which messages belong together, decided as they come in; and the one message that is made of them. */
import fc from "fast-check";
import type { Json } from "service-gateway/sdk";
import { describe, expect, test } from "vitest";
import { createGatherer } from "../../../plugins/botchat/intake/gather.ts";
import { joinTexts } from "../../../plugins/botchat/intake/gathered.ts";
import { parseUpdate } from "../../../plugins/botchat/intake/parse.ts";
import { createTestAccount } from "./account.ts";

const bot = { id: "7000000001", username: "house_bot" };
const ada = { id: 1001, first_name: "Ada" };
const bela = { id: 1002, first_name: "Bela" };
const group = { id: -5, type: "group", title: "Kitchen" };

function update(updateId: number, message: object, kind = "message"): Json {
  return { update_id: updateId, [kind]: { date: 1_700_000_000, chat: group, from: ada, ...message } } as Json;
}

async function gatherer({
  now = () => 1_000,
  ...options
}: {
  readonly debounceMs?: number;
  readonly now?: () => number;
} = {}) {
  const { account } = createTestAccount({ botToken: "7:token" }, options);
  return await createGatherer({ ...account, now });
}

const long = "x".repeat(4_096);

describe("grouping related messages", () => {
  test("a message has its own id as key and starts at once, and its edit has the same key", async () => {
    const { place } = await gatherer();
    expect(place(update(1, { message_id: 7, text: "a" }))).toEqual({
      lane: "botchat:default:-5",
      gather: { key: "m:-5:7", due: 0 },
    });
    expect(place(update(2, { message_id: 7, text: "b" }, "edited_message")).gather).toEqual({ key: "m:-5:7", due: 0 });
  });

  test("an edit, a repeated update and a quick message wait no longer when the clock is set back", async () => {
    const clock = { now: 7_200_000 };
    const { place } = await gatherer({ now: () => clock.now, debounceMs: 800 });
    place(update(1, { message_id: 7, text: long }));
    clock.now = 1_000;
    expect(place(update(2, { message_id: 7, text: "b" }, "edited_message")).gather).toEqual({
      key: "m:-5:7",
      due: 2_500,
      extend: true,
    });
    expect(place(update(1, { message_id: 7, text: long })).gather).toEqual({ key: "m:-5:7", due: 2_500, extend: true });
    expect(place(update(3, { message_id: 9, text: "and?" })).gather).toEqual({
      key: "m:-5:9",
      due: 1_800,
      extend: true,
    });
  });

  test("a press, a reaction and an update without a message stay separate", async () => {
    const { place } = await gatherer();
    expect(
      place({
        update_id: 1,
        callback_query: { id: "1", from: ada, data: "x", message: { message_id: 7, chat: group } },
      } as Json),
    ).toEqual({
      lane: "botchat:default:-5",
    });
    expect(place({ update_id: 2, message: 5 })).toEqual({ lane: "botchat:default:unknown" });
  });

  test.each([
    ["another person", { from: bela }],
    ["an id that does not follow", { message_id: 9 }],
    ["three seconds later", { date: 1_700_000_003 }],
    ["a file", { text: undefined, photo: [{ file_id: "p" }] }],
    ["a command", { text: "/stop" }],
    ["a forwarded message", { forward_origin: { type: "hidden_user", sender_user_name: "Eve", date: 1 } }],
    ["words of an inline bot", { via_bot: { id: 9, is_bot: true, first_name: "Cats" } }],
    ["another topic", { message_thread_id: 4, is_topic_message: true }],
  ])("a long text is not continued by %s", async (_name, more) => {
    const { place } = await gatherer();
    expect(place(update(1, { message_id: 7, text: long })).gather).toEqual({ key: "m:-5:7", due: 2_500, extend: true });
    expect(place(update(2, { message_id: 8, text: "end", ...more })).gather?.key).not.toBe("m:-5:7");
  });

  test.each([
    ["a comment of a program", "// adds two numbers"],
    ["a path", "/usr/lib/node"],
    ["the name of a skill", "/digest the following"],
    ["a command", "/new"],
  ])(
    "a long text that starts with %s is split like any other, even if a later part starts the same way",
    async (_name, begin) => {
      const { place } = await gatherer();
      const part = begin.padEnd(4_050, " x");
      for (const id of [7, 8, 9])
        expect(place(update(id, { message_id: id, text: part })).gather).toEqual({
          key: "m:-5:7",
          due: 2_500,
          extend: true,
        });
      expect(place(update(10, { message_id: 10, text: "/* the end */" })).gather).toEqual({
        key: "m:-5:7",
        due: 1_000,
        extend: true,
      });
    },
  );

  test.each([
    ["/usr/lib and", true],
    ["// or", true],
    ["/status", false],
    ["/model: small", false],
    ["/status@house_bot", false],
    ["@house_bot /new", false],
  ])("%s joins the quick message before it: %s", async (text, together) => {
    const { place } = await gatherer({ debounceMs: 500 });
    place(update(1, { message_id: 7, text: "look into" }));
    expect(place(update(2, { message_id: 8, text })).gather?.key === "m:-5:7").toBe(together);
  });

  const forwardOf = (sender_user: object, date: number) => ({ forward_origin: { type: "user", sender_user, date } });
  test.each([
    ["of the same person, written as its continuation", forwardOf(ada, 5_001), true],
    ["of the same person, written later", forwardOf(ada, 5_100), false],
    ["of another person", forwardOf(bela, 5_001), false],
    ["of a hidden sender", { forward_origin: { type: "hidden_user", sender_user_name: "Ada", date: 5_001 } }, false],
    ["of no other sender, but written by the one who forwards", {}, false],
  ])("a forwarded long text is continued by the next one %s: %s", async (_name, more, goesOn) => {
    const { place } = await gatherer();
    place(update(1, { message_id: 7, text: long, ...forwardOf(ada, 5_000) }));
    expect(place(update(2, { message_id: 8, text: "end", ...more })).gather?.key === "m:-5:7").toBe(goesOn);
  });

  test("a long text is continued by the next id, and a shorter last part ends the wait", async () => {
    const { place } = await gatherer();
    place(update(1, { message_id: 7, text: long }));
    expect(place(update(2, { message_id: 8, text: long })).gather).toEqual({ key: "m:-5:7", due: 2_500, extend: true });
    expect(place(update(3, { message_id: 9, text: "end" })).gather).toEqual({
      key: "m:-5:7",
      due: 1_000,
      extend: true,
    });
    expect(place(update(4, { message_id: 10, text: "new" })).gather).toEqual({ key: "m:-5:10", due: 0 });
    expect(place(update(5, { message_id: 9, text: "END" }, "edited_message")).gather?.key).toBe("m:-5:7");
  });

  test("another process continues where the previous one ended", async () => {
    const { account } = createTestAccount({ botToken: "7:token" });
    const first = await createGatherer({ ...account, now: () => 1_000 });
    first.place(update(1, { message_id: 7, text: long }));
    first.place(update(2, { message_id: 8, text: long }));
    await first.noted();
    const second = await createGatherer({ ...account, now: () => 1_400 });
    expect(second.place(update(3, { message_id: 9, text: "end" })).gather).toEqual({
      key: "m:-5:7",
      due: 1_400,
      extend: true,
    });
    expect(second.place(update(4, { message_id: 8, text: "other" }, "edited_message")).gather?.key).toBe("m:-5:7");
  });

  test("parts that return long after a crash before they were stored wait for each other again", async () => {
    const { account } = createTestAccount({ botToken: "7:token" });
    const first = await createGatherer({ ...account, now: () => 1_000 });
    const parts = [
      update(1, { message_id: 7, text: long }),
      update(2, { message_id: 8, text: long }),
      update(3, { message_id: 9, text: "end" }),
    ];
    for (const part of parts) first.place(part);
    await first.noted();
    const second = await createGatherer({ ...account, now: () => 60_000 });
    const again = parts.map((part) => second.place(part).gather);
    expect(again).toEqual([61_500, 61_500, 60_000].map((due) => ({ key: "m:-5:7", due, extend: true })));
  });

  test("an update that returns because it could not be stored is grouped as before", async () => {
    const { place } = await gatherer({ debounceMs: 100 });
    const all = [
      update(1, { message_id: 7, text: "a" }),
      update(2, { message_id: 8, text: "b" }),
      update(3, { message_id: 8, text: "c" }, "edited_message"),
      update(4, { message_id: 8, text: "c", reply_markup: {} }, "edited_message"),
    ];
    const first = all.map((each) => place(each));
    expect(first.map(({ gather, silent }) => gather?.key ?? silent)).toEqual([
      "m:-5:7",
      "m:-5:7",
      "m:-5:7",
      "edit_changes_nothing",
    ]);
    // Only the last may be told once more, which is the side to err on.
    expect(all.slice(0, 3).map((each) => place(each).gather?.key)).toEqual(["m:-5:7", "m:-5:7", "m:-5:7"]);
  });
});

describe("the merged message", () => {
  test("has the original text and styles, however it was split", () => {
    const styles = fc.constantFrom("bold", "italic", "code", "strikethrough");
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9_000 }),
        fc.array(fc.tuple(styles, fc.nat(9_000), fc.integer({ min: 1, max: 9_000 })), { maxLength: 4 }),
        (length, spans) => {
          const text = "abcdefghij".repeat(900).slice(0, length);
          // Two of one kind that touch at the cut cannot be told from one that was cut.
          const entities = [...new Map(spans.map((span) => [span[0], span])).values()]
            .map(([type, offset, size]) => ({
              type,
              offset: offset % length,
              length: Math.min(size, length - (offset % length)),
            }))
            .sort((a, b) => a.offset - b.offset);
          const parts = [];
          for (let start = 0; start < length; start += 4_096) {
            const end = Math.min(start + 4_096, length);
            const inside = entities.flatMap(({ type, offset, length: size }) => {
              const [from, to] = [Math.max(offset, start), Math.min(offset + size, end)];
              return to > from ? [{ type, offset: from - start, length: to - from }] : [];
            });
            parts.push({ message_id: parts.length + 1, text: text.slice(start, end), entities: inside });
          }
          const [joined, ...rest] = joinTexts(parts);
          expect(rest).toEqual([]);
          expect(joined?.text).toBe(text);
          expect(
            ((joined?.entities ?? []) as typeof entities).toSorted(
              (a, b) => a.offset - b.offset || a.type.localeCompare(b.type),
            ),
          ).toEqual(entities.toSorted((a, b) => a.offset - b.offset || a.type.localeCompare(b.type)));
        },
      ),
      { numRuns: 200 },
    );
  });

  test("has a mention, reply or forward if any part has one", () => {
    const parts = [
      update(1, { message_id: 7, text: "please" }),
      update(2, { message_id: 8, text: "@house_bot help", entities: [{ type: "mention", offset: 0, length: 10 }] }),
    ];
    expect(parseUpdate(parts[0] ?? null, bot, parts.slice(1))).toMatchObject({
      text: "please\n@house_bot help",
      mention: true,
      messageId: "7",
      messageIds: ["7", "8"],
    });
  });

  test("is one edit with the latest content if all parts are edits; junk among them is ignored", () => {
    const edits = [1, 2].map((n) =>
      update(n, { message_id: 7, text: `v${n}`, edit_date: 1_700_000_000 + n }, "edited_message"),
    );
    expect(parseUpdate(edits[0] ?? null, bot, [...edits.slice(1), null, 5, { message: {} }])).toMatchObject({
      kind: "edit",
      text: "v2",
      timestamp: 1_700_000_002_000,
    });
  });
});
