import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { Json } from "service-gateway/sdk";
import { describe, expect, test } from "vitest";
import { parseContent } from "../../../plugins/botchat/intake/content.ts";
import { contentKinds } from "../../../plugins/botchat/intake/content-kinds.ts";
import type { Fields } from "../../../plugins/botchat/intake/fields.ts";
import { parseUpdate } from "../../../plugins/botchat/intake/parse.ts";
import { serviceFields } from "../../../plugins/botchat/intake/service-fields.ts";
import { examples } from "../../fixtures/botchat/content.ts";
import { leastCostOf } from "../../support/cost.ts";

const bot = { id: "7000000001", username: "house_bot" };
const ada = { id: 1001, is_bot: false, first_name: "Ada" };
const base = { message_id: 7, date: 1_760_000_000, chat: { id: 1001, type: "private" }, from: ada };

/** Fields of a message that say who, where and how, not what. */
const attributes = new Set(
  `message_id message_thread_id from sender_chat date guest_query_id business_connection_id chat is_topic_message direct_messages_topic
  sender_tag receiver_user ephemeral_message_id sender_boost_count sender_business_bot forward_origin is_automatic_forward reply_to_message
  reply_to_checklist_task_id reply_to_poll_option_id is_paid_post external_reply quote reply_to_story via_bot guest_bot_caller_user
  guest_bot_caller_chat edit_date has_protected_content show_caption_above_media is_from_offline author_signature link_preview_options
  effect_id paid_star_count reply_markup caption caption_entities media_group_id has_media_spoiler entities suggested_post_info`.split(
    /\s+/,
  ),
);

/**
 * The names of all fields of a message, out of the reference types themselves: they grow with each version of the
 * platform.
 */
function fieldsOfMessage(): readonly string[] {
  const source = readFileSync(new URL("../../../node_modules/@grammyjs/types/message.d.ts", import.meta.url), "utf8");
  const shapes = [
    "interface ServiceMessage",
    "interface CommonMessage",
    "interface CaptionableMessage",
    "interface MediaMessage",
    "export interface Message ",
  ];
  return shapes.flatMap((shape) => {
    const start = source.indexOf(shape);
    const body = source.slice(start, source.indexOf(shape.startsWith("export") ? "\n}" : "\n    }", start));
    return [...body.matchAll(/^\s+(\w+)\??:/gm)].map(([, name]) => String(name));
  });
}

const fields = fieldsOfMessage();
const exampled = new Set(Object.keys(examples).map((name) => name.split(":")[0]));

describe("every field of a message in the reference types", () => {
  test("is an attribute, has an example, or is listed as a service message", () => {
    expect(fields.length).toBeGreaterThan(100);
    expect(
      fields.filter((name) => !attributes.has(name) && !exampled.has(name) && !serviceFields.includes(name)),
    ).toEqual([]);
  });

  test("belongs to only one of these groups, and every listed name exists", () => {
    const names = [...attributes, ...exampled, ...serviceFields];
    expect(names.filter((name, index) => names.indexOf(String(name)) !== index)).toEqual([]);
    expect([...names, ...Object.keys(contentKinds)].filter((name) => !fields.includes(String(name)))).toEqual([]);
  });
});

describe("content from people becomes text with files beside it", () => {
  test.each(Object.entries(examples))("%s", (name, { fields: given, text, media = [] }) => {
    const plain = text.replaceAll("**", "");
    expect(parseContent({ ...base, ...given } as unknown as Fields)).toEqual({
      text,
      media,
      // A rich message has no other form than its Markdown.
      ...(plain !== text && name !== "rich_message" && { plain }),
    });
  });

  test.each(Object.entries(examples))(
    "%s is the same when it is quoted in a reply, with its files",
    (_name, { fields: given, text, media }) => {
      const content = { text, ...(media && { media }) };
      const answering = (fields: object) =>
        parseUpdate({ update_id: 1, message: { ...base, text: "and?", ...fields } } as unknown as Json, bot);
      expect(answering({ reply_to_message: { ...base, message_id: 6, ...given } })).toMatchObject({
        replyTo: { messageId: "6", ...content },
      });
      expect(
        answering({ external_reply: { origin: { type: "user", date: 1, sender_user: ada }, ...given } }),
      ).toMatchObject({
        media: [],
        replyTo: { sender: "Ada", ...content },
      });
    },
  );
});

describe("service messages of the platform", () => {
  test.each(serviceFields)("%s is silent under its own name", (name) => {
    expect(parseContent({ ...base, [name]: {} } as unknown as Fields)).toEqual({ silent: `service_${name}` });
  });

  test("give the reason in their update, while an update with content is a message", () => {
    const update = (more: object) =>
      parseUpdate({ update_id: 1, message: { ...base, ...more } } as unknown as Json, bot);
    expect(update({ new_chat_title: "House" })).toEqual({ silent: "service_new_chat_title" });
    expect(update(examples.photo?.fields ?? {})).toMatchObject({
      kind: "message",
      text: "<media:image>",
      media: examples.photo?.media,
    });
  });

  test("of an unknown type are silent with a reason in a group, and marked in a direct chat", () => {
    expect(parseContent({ hologram: { file_id: "a" } } as Fields)).toEqual({ silent: "content_unknown" });
    const inChat = (chat: object) =>
      parseUpdate({ update_id: 1, message: { ...base, chat, hologram: {} } } as unknown as Json, bot);
    expect(inChat({ id: -100123, type: "supergroup", title: "House" })).toEqual({ silent: "content_unknown" });
    expect(inChat({ id: 1001, type: "private" })).toMatchObject({
      kind: "message",
      text: "",
      media: [],
      unreadable: true,
    });
  });

  test("a poll has its votes, its end, the correct answer and the explanation", () => {
    const options = [
      { text: "Tea", voter_count: 3 },
      { text: "Coffee", voter_count: 1 },
    ];
    const quiz = {
      question: "What?",
      options,
      total_voter_count: 4,
      is_closed: true,
      type: "quiz",
      correct_option_id: 0,
      explanation: "Hot.",
    };
    expect(parseContent({ poll: quiz } as unknown as Fields)).toMatchObject({
      text:
        "📊 Poll: What? (closed, 4 people voted)\n- Tea (3 votes, right answer)\n- Coffee (1 " +
        "vote)\nExplanation: Hot.",
    });
  });

  test("a contact has the person's id and the rest of the card", () => {
    const vcard = [
      "BEGIN:VCARD",
      "VERSION:3.0",
      "N:Lind;Ada;;;",
      "FN:Ada Lind",
      "item1.EMAIL;type=INTERNET:ada@",
      " example.org",
      "ORG:House\\, Inc.;Kitchen",
      "PHOTO;ENCODING=b:AAAA",
      "END:VCARD",
    ].join("\r\n");
    const contact = { first_name: "Ada", phone_number: "+49 1", user_id: 1001, vcard };
    expect(parseContent({ contact } as unknown as Fields)).toMatchObject({
      text: "👤 Contact: Ada, +49 1, id:1001\n- email: ada@example.org\n- org: House, Inc., Kitchen",
    });
  });
});

describe("a rich message names the bot", () => {
  const mention = (...spans: readonly Json[]) => {
    const blocks = [{ type: "details", summary: "s", blocks: [{ type: "paragraph", text: ["hey ", ...spans] }] }];
    const chat = { id: -100123, type: "supergroup", title: "House" };
    const parsed = parseUpdate(
      { update_id: 1, message: { ...base, chat, rich_message: { blocks } } } as unknown as Json,
      bot,
    );
    return (parsed as { readonly mention: boolean }).mention;
  };

  test.each<[string, Json, boolean]>([
    ["by its name", { type: "mention", text: "@House_Bot", username: "House_Bot" }, true],
    ["by a command", { type: "bot_command", text: "/go@house_bot", bot_command: "/go@house_bot" }, true],
    [
      "as a person without a name is",
      { type: "text_mention", text: "you", user: { id: 7000000001, is_bot: true, first_name: "H" } },
      true,
    ],
    ["not by what looks like its name", { type: "bold", text: "@house_bot" }, false],
    ["not by another one's name", { type: "mention", text: "@house_bot2", username: "house_bot2" }, false],
    ["not by a command for anybody", { type: "bot_command", text: "/go", bot_command: "/go" }, false],
  ])("%s", (_name, span, named) => expect(mention(span)).toBe(named));
});

test("a date in a rich message is followed by its time", () => {
  const words = [
    "call me ",
    { type: "date_time", text: "tomorrow", unix_time: 1_647_531_900, date_time_format: "wDT" },
  ];
  expect(parseContent({ rich_message: { blocks: [{ type: "paragraph", text: words }] } } as Fields)).toMatchObject({
    text: "call me tomorrow (Thu 2022-03-17 15:45 UTC)",
  });
});

describe("junk in a rich message", () => {
  test("thousands of nested blocks and endlessly nested texts are parsed in bounded time", async () => {
    let blocks: Json = [{ type: "paragraph", text: "x" }];
    let text: Json = "x";
    for (let level = 0; level < 2_000; level += 1) {
      blocks = [{ type: "details", summary: "s", blocks }];
      text = [text, { type: "bold", text }];
      if (level > 40) text = "x";
    }
    expect(parseContent({ rich_message: { blocks } } as Fields)).toMatchObject({ text: expect.stringContaining("s") });
    let doubled: Json = "x";
    for (let level = 0; level < 18; level += 1) doubled = [doubled, doubled, doubled];
    const parse = () => parseContent({ rich_message: { blocks: [{ type: "paragraph", text: doubled }] } } as Fields);
    expect(await leastCostOf(parse, { below: 2_000 })).toBeLessThan(2_000);
  });

  test("parsing never throws when any part of an example is replaced", () => {
    const all = Object.values(examples).map((example) => example.fields as unknown as Json);
    const paths = all.flatMap((example, index) => {
      const found: { readonly index: number; readonly path: readonly string[] }[] = [];
      const walk = (value: unknown, path: readonly string[]) => {
        if (path.length > 0) found.push({ index, path });
        if (typeof value === "object" && value !== null)
          for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
      };
      walk(example, []);
      return found;
    });
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), ({ index, path }, junk) => {
        const copy = structuredClone(all[index]) as Record<string, unknown>;
        let holder = copy;
        for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
        holder[String(path.at(-1))] = junk;
        const parsed = parseContent(copy as Fields);
        expect("silent" in parsed ? parsed.silent : parsed.text).toEqual(expect.any(String));
      }),
      { numRuns: 1_000 },
    );
  });
});
