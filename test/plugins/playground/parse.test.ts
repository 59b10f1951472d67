import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ada, bela, openPlatform, type TestPlatform } from "./client.ts";

let home: TestPlatform;
beforeAll(async () => {
  home = await openPlatform();
});
afterAll(() => home.platform.close());

const send = (text: string) => home.call("sendMessage", { chat_id: ada, text, parse_mode: "HTML" });

describe("HTML that the platform accepts", () => {
  const cases: readonly (readonly [string, string, readonly object[]])[] = [
    ["<b>a</b> <strong>b</strong>", "a b", [bold(0, 1), bold(2, 1)]],
    ["<i>a</i><em>b</em>", "ab", [at("italic", 0, 1), at("italic", 1, 1)]],
    ["<u>a</u><ins>b</ins>", "ab", [at("underline", 0, 1), at("underline", 1, 1)]],
    [
      "<s>a</s><strike>b</strike><del>c</del>",
      "abc",
      [at("strikethrough", 0, 1), at("strikethrough", 1, 1), at("strikethrough", 2, 1)],
    ],
    ['<span class="tg-spoiler">a</span><tg-spoiler>b</tg-spoiler>', "ab", [at("spoiler", 0, 1), at("spoiler", 1, 1)]],
    ["<code>x &lt; y</code>", "x < y", [at("code", 0, 5)]],
    ["<pre>line</pre>", "line", [at("pre", 0, 4)]],
    ['<pre><code class="language-ts">let a</code></pre>', "let a", [{ ...at("pre", 0, 5), language: "ts" }]],
    ["<blockquote>q</blockquote>", "q", [at("blockquote", 0, 1)]],
    ["<blockquote expandable>q</blockquote>", "q", [at("expandable_blockquote", 0, 1)]],
    [
      '<a href="https://example.com/?a=1&amp;b=2">x</a>',
      "x",
      [{ ...at("text_link", 0, 1), url: "https://example.com/?a=1&b=2" }],
    ],
    ["<a href='example.com'>x</a>", "x", [{ ...at("text_link", 0, 1), url: "http://example.com/" }]],
    ['<a href="no link">x</a>', "x", []],
    [
      '<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>',
      "👍",
      [{ ...at("custom_emoji", 0, 2), custom_emoji_id: "5368324170671202286" }],
    ],
    ["&quot;&amp;&gt;&#65;&#x1F600;", '"&>A😀', []],
    ["a & b &nope; &copy;", "a & b &nope; &copy;", []],
    ["😀<b>😀</b>", "😀😀", [bold(2, 2)]],
    ["<b><i>x</i></b>", "x", [at("italic", 0, 1), bold(0, 1)]],
    ["<b>a<code>b</code>c</b>", "abc", [bold(0, 1), at("code", 1, 1), bold(2, 1)]],
    ["<b></b>x", "x", []],
    ["  <b>x</b>  \n", "x", [bold(0, 1)]],
  ];
  test.each(cases)("%s", async (source, text, entities) => {
    const { result, description } = await send(source);
    expect(description).toBeUndefined();
    expect(result.text).toBe(text);
    expect(result.entities ?? []).toEqual(entities);
  });

  test("a link to a person becomes a mention of that person", async () => {
    const { result } = await send(`<a href="tg://user?id=${bela}">you</a>`);
    expect(result.entities[0]).toMatchObject({ type: "text_mention", user: { id: bela, first_name: "Bela" } });
  });

  test("commands, mentions, links, mail addresses and hashtags are found in plain text", async () => {
    const text = "/help@house_bot @bela_varga https://example.com/a?b=c. a.b@example.org #tag";
    const { result } = await home.call("sendMessage", { chat_id: ada, text });
    const found = result.entities.map((entity: { type: string; offset: number; length: number }) => [
      entity.type,
      text.slice(entity.offset, entity.offset + entity.length),
    ]);
    expect(found).toEqual([
      ["bot_command", "/help@house_bot"],
      ["mention", "@bela_varga"],
      ["url", "https://example.com/a?b=c"],
      ["email", "a.b@example.org"],
      ["hashtag", "#tag"],
    ]);
  });
});

describe("HTML that the platform refuses", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["<foo>x</foo>", 'Unsupported start tag "foo" at byte offset 0'],
    ["é<br>", 'Unsupported start tag "br" at byte offset 2'],
    ["1 < 2", 'Unsupported start tag "" at byte offset 2'],
    ["<b>x", `Can't find end tag corresponding to start tag "b"`],
    ["<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ["<B>a</B>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</B>"'],
    ["x</b>", "Unexpected end tag at byte offset 1"],
    ["x <b", "Unclosed start tag at byte offset 2"],
    ["<b>x</b", "Unclosed end tag at byte offset 4"],
    ['<a href="x', "Unclosed start tag at byte offset 0"],
    ["<a href=x>y</a", "Unclosed end tag at byte offset 11"],
    ["<a href=http://x>y</a>", "Unexpected end of name token at byte offset 8"],
    ['<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    [
      "&#xDFDF;",
      "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units",
    ],
    ["<b =x>y</b>", 'Empty attribute name in the tag "b" at byte offset 0'],
  ];
  test.each(cases)("%s", async (source, reason) => {
    const answer = await send(source);
    expect(answer.status).toBe(400);
    expect(answer.description).toBe(`Bad Request: can't parse entities: ${reason}`);
  });

  test("an unsupported parse mode is refused rather than ignored", async () => {
    const answer = await home.call("sendMessage", { chat_id: ada, text: "*x*", parse_mode: "MarkdownV2" });
    expect(answer.description).toBe("Bad Request: unsupported parse_mode");
  });
});

function at(type: string, offset: number, length: number): { type: string; offset: number; length: number } {
  return { type, offset, length };
}

function bold(offset: number, length: number): object {
  return at("bold", offset, length);
}
