import { describe, expect, test } from "vitest";
import type { MarkupDialect } from "../../../../core/sdk/markup/dialects.ts";
import { renderMarkdown } from "../../../../core/sdk/markup/render.ts";
import { expectComplete, shownDialects as rich, shows, withoutAddresses } from "./complete.ts";

const markupOf = (markdown: string, dialect: MarkupDialect) =>
  renderMarkdown(markdown, { dialect, limit: 4_000 })
    .map(({ markup }) => markup)
    .join("\n--\n");

describe("a reply in the markup of each platform", () => {
  const reply = [
    "# Result",
    "It is **bold**, *italic*, ~~gone~~, `code` and ||secret||, see [the docs](https://example.org/a_b).",
    "> one\n> two",
    "- first\n- second",
    "```ts\nlet a = 1;\n```",
  ].join("\n\n");

  test.each<readonly [MarkupDialect, string]>([
    [
      "mrkdwn",
      "*Result*\n\nIt is *bold*, _italic_, ~gone~, `code` and ||secret||, see <https://example.org/a_b|the docs>.\n\n" +
        "> one\n> two\n\n• first\n• second\n\n```\nlet a = 1;\n```",
    ],
    [
      "discord",
      "**Result**\n\nIt is **bold**, _italic_, ~~gone~~, `code` and ||secret||, see " +
        "[the docs](https://example.org/a_b).\n\n> one\n> two\n\n• first\n• second\n\n```ts\nlet a = 1;\n```",
    ],
    [
      "whatsapp",
      "*Result*\n\nIt is *bold*, _italic_, ~gone~, `code` and ||secret||, see the docs (https://example.org/a_b).\n\n" +
        "> one\n> two\n\n• first\n• second\n\n```\nlet a = 1;\n```",
    ],
    [
      "matrix",
      "<strong>Result</strong><br><br>" +
        "It is <strong>bold</strong>, <em>italic</em>, <del>gone</del>, <code>code</code> " +
        'and <span data-mx-spoiler>secret</span>, see <a href="https://example.org/a_b">the docs</a>.<br><br>' +
        '<blockquote>one<br>two</blockquote><br><br>• first<br>• second<br><br><pre><code class="language-ts">' +
        "let a = 1;</code></pre>",
    ],
    [
      "markdown",
      "**Result**\n\nIt is **bold**, _italic_, ~~gone~~, `code` and \\|\\|secret\\|\\|, see " +
        "[the docs](https://example.org/a_b).\n\n> one\n> two\n\n• first\n• second\n\n```ts\nlet a = 1;\n```",
    ],
    [
      "plain",
      "Result\n\nIt is bold, italic, gone, code and ||secret||, see the docs (https://example.org/a_b).\n\n" +
        "> one\n> two\n\n• first\n• second\n\nlet a = 1;",
    ],
  ])("%s", (dialect, markup) => {
    expect(markupOf(reply, dialect)).toBe(markup);
  });

  test("Matrix gets the same without markup, with the addresses of links", () => {
    const [message] = renderMarkdown("**See** [the docs](https://example.org).", { dialect: "matrix", limit: 1_000 });
    expect(message?.plain).toBe("See the docs (https://example.org).");
  });
});

describe("words that look like a mention or markup of the platform notify no one and stay text", () => {
  const words =
    "@everyone @here @channel @all @room @ada <!channel> <!here|x> <@U123> <@123> <@!123> <@&123> <#C1> " +
    "<https://evil.example|bank> [bank](x)\\] \\[bank\\](https://evil.example) <t:1:R> <:a:1> \\*a\\* \\_b\\_ \\~c\\~";

  test.each(rich)("%s", (dialect) => {
    const shown = shows[dialect]?.(markupOf(words, dialect));
    expect(shown?.pings).toEqual([]);
    const text = withoutAddresses(words);
    expect(text(shown?.text ?? "")).toBe(text(renderMarkdown(words, { dialect, limit: 4_000 })[0]?.plain ?? ""));
    expect(
      shown?.styles.filter(
        (style) => /^(?!code|link https:\/\/evil\.example\|bank)/.test(style) && !/^link <?https/.test(style),
      ),
    ).toEqual([]);
  });

  test.each([...rich, "plain" as const])("in a block of code as well: %s", (dialect) => {
    const markup = markupOf("```\n@everyone <!channel> `` ``` x\n```\nend", dialect);
    expect(shows[dialect]?.(markup).pings ?? []).toEqual([]);
  });
});

describe("every text is shown completely, within the limit, and notifies no one", () => {
  test.each(rich)("%s", (dialect) => expectComplete(dialect, 60));
});

test("an address that is longer than a message does not make a message too long", () => {
  const url = `https://example.org/${"a".repeat(900)}`;
  for (const dialect of rich)
    for (const { size } of renderMarkdown(`[label](${url}) and more`, { dialect, limit: 100 }))
      expect(size).toBeLessThanOrEqual(100);
});

test("code goes on in the next message between fences of its own", () => {
  const code = `\`\`\`ts\n${"let a = 1;\n".repeat(20)}\`\`\``;
  const messages = renderMarkdown(code, { dialect: "discord", limit: 100 });
  expect(messages.length).toBeGreaterThan(1);
  for (const { markup } of messages) expect(markup).toMatch(/^```ts\n(?:let a = 1;\n)+```$/);
});

test("an unknown dialect and a limit that is too small are refused", () => {
  expect(() => renderMarkdown("a", { dialect: "bbcode" as never, limit: 100 })).toThrow(
    "bbcode is not a dialect: use one of html, mrkdwn, discord, whatsapp, matrix, markdown, plain",
  );
  expect(() => renderMarkdown("a", { dialect: "discord", limit: 7 })).toThrow(
    "The limit of a message is 7: give at least 8",
  );
});
