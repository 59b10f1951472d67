import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMarkdown, renderHtml } from "../../../support/rich-text.ts";
import { parseStrictHtml } from "./html-parser.ts";

const html = (markdown: string) => {
  const result = renderHtml(parseMarkdown(markdown));
  parseStrictHtml(result);
  return result;
};

describe("inline elements", () => {
  test.each([
    ["**a** __b__", "<b>a</b> <b>b</b>"],
    ["*a* _b_", "<i>a</i> <i>b</i>"],
    ["***a***", "<i><b>a</b></i>"],
    ["~~a~~", "<s>a</s>"],
    ["~a~", "~a~"],
    ["||a b||", "<tg-spoiler>a b</tg-spoiler>"],
    ["||**a** b||", "<tg-spoiler><b>a</b> b</tg-spoiler>"],
    ["**||a||**", "<b><tg-spoiler>a</tg-spoiler></b>"],
    ["a || b || c", "a || b || c"],
    ["x||y||z", "x||y||z"],
    ["||a||b||", "<tg-spoiler>a</tg-spoiler>b||"],
    ["||秘密||です", "<tg-spoiler>秘密</tg-spoiler>です"],
    ["||unclosed", "||unclosed"],
    ["`||a||`", "<code>||a||</code>"],
    ["`a < b`", "<code>a &lt; b</code>"],
    ["`` a`b ``", "<code>a`b</code>"],
    ["a  \nb", "a\nb"],
    ["a\\\nb", "a\nb"],
    ["a\nb", "a\nb"],
    ["\\*a\\*", "*a*"],
    ["&amp; &copy; &lt;b&gt; &#35;", "&amp; © &lt;b&gt; #"],
    ["<b>raw</b> <script>x</script>", "&lt;b&gt;raw&lt;/b&gt; &lt;script&gt;x&lt;/script&gt;"],
    ['a & b < c > d "e"', 'a &amp; b &lt; c &gt; d "e"'],
    ["snake_case_name", "snake_case_name"],
    ["**bold `code` bold**", "<b>bold </b><code>code</code><b> bold</b>"],
    ["||see `secret`||", "<tg-spoiler>see secret</tg-spoiler>"],
  ])("%s", (markdown, expected) => expect(html(markdown)).toBe(expected));
});

describe("links", () => {
  test.each([
    ["[a](https://x.y/?a=1&b=2)", '<a href="https://x.y/?a=1&amp;b=2">a</a>'],
    ['[a](https://x.y "title")', '<a href="https://x.y">a</a>'],
    ["[**a** b](http://x.y)", '<a href="http://x.y"><b>a</b> b</a>'],
    ["[`a`](http://x.y)", '<a href="http://x.y">a</a>'],
    ["[a](tg://user?id=1)", '<a href="tg://user?id=1">a</a>'],
    ["[a](mailto:a@b.c)", '<a href="mailto:a@b.c">a</a>'],
    ["<https://x.y>", '<a href="https://x.y">https://x.y</a>'],
    ["<a@b.cd>", '<a href="mailto:a@b.cd">a@b.cd</a>'],
    ["[](https://x.y)", '<a href="https://x.y">https://x.y</a>'],
    ["[a][r]\n\n[r]: https://x.y", '<a href="https://x.y">a</a>'],
    ["[a]\n\n[A]: https://x.y", '<a href="https://x.y">a</a>'],
    ["[prod]: down", "[prod]: down"],
    ["> [prod]: **down**", "<blockquote>[prod]: <b>down</b></blockquote>"],
    ["[one]: https://x.y\n[two]: https://z.y", "[one]: https://x.y\n[two]: https://z.y"],
    ["[a](javascript:alert(1))", "a (javascript:alert(1))"],
    ["[a](./src/a.ts)", "a (./src/a.ts)"],
    ["[a](data:text/html,x)", "a (data:text/html,x)"],
    ["[a](file:///etc/passwd)", "a (file:///etc/passwd)"],
    ["[a]()", "a"],
    ['[a](https://x.y/"><b>)', '<a href="https://x.y/%22%3E%3Cb%3E">a</a>'],
    ["![alt](https://x.y/i.png)", '<a href="https://x.y/i.png">alt</a>'],
    ["![](https://x.y/i.png)", '<a href="https://x.y/i.png">https://x.y/i.png</a>'],
    ["![alt](i.png)", "alt (i.png)"],
    ["[![alt](https://x.y/i.png)](https://z.y)", '<a href="https://z.y">alt</a>'],
    ["https://x.y/a_b_c", "https://x.y/a_b_c"],
  ])("%s", (markdown, expected) => expect(html(markdown)).toBe(expected));
});

describe("file names do not become links", () => {
  test.each([
    ["see README.md.", "see <code>README.md</code>."],
    ["run src/tools/setup.py, then a.sh", "run <code>src/tools/setup.py</code>, then <code>a.sh</code>"],
    ["**README.md**", "<code>README.md</code>"],
    ["`README.md`", "<code>README.md</code>"],
    ["https://x.y/README.md", "https://x.y/README.md"],
    ["[README.md](https://x.y)", '<a href="https://x.y">README.md</a>'],
    ["me@site.md", "me@site.md"],
    ["R&D.md", "R&amp;<code>D.md</code>"],
    ["my_file.rs and main.go", "<code>my_file.rs</code> and main.go"],
    ["example.com", "example.com"],
  ])("%s", (markdown, expected) => expect(html(markdown)).toBe(expected));
});

describe("blocks", () => {
  test.each([
    ["# Head\ntext", "<b>Head</b>\n\ntext"],
    ["Head\n====\ntext", "<b>Head</b>\n\ntext"],
    ["###### H *i*", "<b>H <i>i</i></b>"],
    ["a\n\n\n\nb", "a\n\nb"],
    ["- a\n- b", "• a\n• b"],
    ["* a\n\n* b", "• a\n\n• b"],
    ["1. a\n2. b", "1. a\n2. b"],
    ["3) a\n4) b", "3. a\n4. b"],
    ["1. a\n1. b\n1. c", "1. a\n2. b\n3. c"],
    ["2. a\n4. b\n7. c", "2. a\n4. b\n7. c"],
    ["7. a\n7. b\n   1. x\n   1. y\n7. c", "7. a\n8. b\n   1. x\n   2. y\n9. c"],
    ["- a\n  - b\n    - c\n- d", "• a\n  • b\n    • c\n• d"],
    ["- a\n  b", "• a\n  b"],
    ["- [ ] a\n- [x] b", "☐ a\n☑ b"],
    ["- a\n\n  second", "• a\n\n  second"],
    ["text\n- a\n\ntext", "text\n\n• a\n\ntext"],
    ["---", "──────────"],
    ["a\n\n***\n\nb", "a\n\n──────────\n\nb"],
    ["> a\n> b", "<blockquote>a\nb</blockquote>"],
    ["> a\n>\n> > b", "<blockquote>a\n\nb</blockquote>"],
    ["> a\n\nb", "<blockquote>a</blockquote>\n\nb"],
    ["> - a\n> - b", "<blockquote>• a\n• b</blockquote>"],
    ["> ```\n> a\n> ```", "<blockquote><pre>a</pre></blockquote>"],
    ["```\na < b\n```", "<pre>a &lt; b</pre>"],
    ["```ts\na\n\nb\n```", '<pre><code class="language-ts">a\n\nb</code></pre>'],
    ['```"><b>\na\n```', "<pre>a</pre>"],
    ["~~~\n```\n~~~", "<pre>```</pre>"],
    ["    indented\n      more", "<pre>indented\n  more</pre>"],
    ["- a\n  ```\n  x\n  ```\n- b", "• a\n<pre>x</pre>\n• b"],
    ["```\n```", ""],
    ["```hello world\n```", "<pre>hello world</pre>"],
    ["~~~all of it", "<pre>all of it</pre>"],
    ["<div>\n\n*a*\n\n</div>", "&lt;div&gt;\n\n<i>a</i>\n\n&lt;/div&gt;"],
    ["<!-- a -->", "&lt;!-- a --&gt;"],
    ["", ""],
    [" \n\t\n", ""],
  ])("%j", (markdown, expected) => expect(html(markdown)).toBe(expected));

  test("a quote with many lines is collapsed", () => {
    expect(html(Array.from({ length: 30 }, (_, line) => `> line ${line}`).join("\n"))).toMatch(
      /^<blockquote expandable>line 0\n/,
    );
  });

  test("an absurdly nested text is sent as it is rather than dropped", () => {
    const deep = `${"> ".repeat(200)}treasure`;
    expect(html(deep)).toContain("treasure");
  });
});

describe("Markdown extensions of code hosts", () => {
  test.each([
    ["| left | right |\n| --- | --- |\n| one | two |", "<pre>left | right\n-----+------\none  | two</pre>"],
    ["| x | long name |\n:-: | --------:\none | two", "<pre> x  | long name\n----+----------\none |       two</pre>"],
    ["| pipes |\n| ------ |\n| a `\\|` code |\n| **\\|** bold |", "<pre>pipes\n--------\na | code\n| bold</pre>"],
    [
      "| a | b |\n| --- | --- |\n| 1 | 2 |\n> quote",
      "<pre>a | b\n--+--\n1 | 2</pre>\n\n<blockquote>quote</blockquote>",
    ],
    [
      "| a | b |\n| --- | --- |\n| 1 | 2 |\nthree\n\nfour",
      "<pre>a     | b\n------+--\n1     | 2\nthree |</pre>\n\nfour",
    ],
    ["| a | b |\n| --- |\n| 1 |", "| a | b |\n| --- |\n| 1 |"],
    ["| a | b |\n| --- | --- |\n| 1 |\n| 1 | 2 | 3 |", "<pre>a | b\n--+--\n1 |\n1 | 2</pre>"],
    ["| a | b |\n| --- | --- |", "<pre>a | b\n--+--</pre>"],
    ["a | b\n-|-\n1 | 2", "<pre>a | b\n--+--\n1 | 2</pre>"],
    ["text\n| a | b |\n|---|---|\n| 1 | 2 |", "text\n\n<pre>a | b\n--+--\n1 | 2</pre>"],
    ["| a | b |\n|---|---|\n| 1 | 2 |\n# head", "<pre>a | b\n--+--\n1 | 2</pre>\n\n<b>head</b>"],
    ["| a | b |\n|---|---|\n| 1 | 2 |\n- item", "<pre>a | b\n--+--\n1 | 2</pre>\n\n• item"],
    ["| a | b |\n|---|---|\n| 1 | 2 |\n```\ncode\n```", "<pre>a | b\n--+--\n1 | 2</pre>\n\n<pre>code</pre>"],
    ["| a | b |\n|---|---|\n| ~~1~~ | *2* |", "<pre>a | b\n--+--\n1 | 2</pre>"],
    ["| a | b |\n|---|---|\n| | 2 |", "<pre>a | b\n--+--\n  | 2</pre>"],
    ["   | a | b |\n   |---|---|\n   | 1 | 2 |", "<pre>a | b\n--+--\n1 | 2</pre>"],
    ["    | a | b |\n    |---|---|", "<pre>| a | b |\n|---|---|</pre>"],
    ["\\| a | b |\n|---|---|\n| 1 | 2 |", "<pre>| a | b\n----+--\n1   | 2</pre>"],
    ["| a | b\n|---|---\n| 1 | 2", "<pre>a | b\n--+--\n1 | 2</pre>"],
    ["|a|b|\n|-|-|\n|&amp;|\\*|", "<pre>a | b\n--+--\n&amp; | *</pre>"],
    ["| a || b |\n|---|---|---|\n| ||x|| | y |", "<pre>a |   | b\n--+---+--\n  |   | x</pre>"],
  ])("table %j", (markdown, expected) => expect(html(markdown)).toBe(expected));

  // One tilde is "about" or somebody's home, and nothing is struck between two of them.
  test.each([
    ["~~two words~~ and one", "<s>two words</s> and one"],
    ["this ~~goes into\n\na new~~ paragraph", "this ~~goes into\n\na new~~ paragraph"],
    ["~~**a** b~~", "<s><b>a</b> b</s>"],
    ["**~~a~~ b**", "<b><s>a</s> b</b>"],
    ["~~a", "~~a"],
    ["a ~~ b ~~ c", "a ~~ b ~~ c"],
    ["~~`a`~~", "<code>a</code>"],
    ["x~~y~~z", "x<s>y</s>z"],
    ["three ~~~do not~~~ strike", "three ~~~do not~~~ strike"],
    ["a ~~~~b~~~~ ~~c~~", "a ~~~~b~~~~ <s>c</s>"],
    ["~home and ~there", "~home and ~there"],
    ["~~a ~~b~~ c~~", "<s>a b c</s>"],
  ])("tildes %j", (markdown, expected) => expect(html(markdown)).toBe(expected));
});

describe("an unfinished text still renders", () => {
  test.each([
    "**bo",
    "`co",
    "```ts\nlet a",
    "[te",
    "[text](htt",
    "| a | b |\n|--",
    "> quo",
    "- ",
    "1.",
    "~~st",
    "||sp",
    "![al](",
    "# ",
    "***",
    "<b",
    "&am",
  ])("%j", (markdown) => {
    expect(() => html(markdown)).not.toThrow();
  });

  test("every prefix of a document parses", () => {
    const document =
      "# T **b**\n\n1. a `c`\n   - ||x||\n\n```js\nlet a = '<b>';\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 " +
      "|\n\n> q [l](https://x.y) _i_ ~~s~~ \\* &amp; 👩‍👩‍👧\n";
    for (let end = 0; end <= document.length; end += 1) expect(() => html(document.slice(0, end))).not.toThrow();
  });
});

test("invisible characters and unpaired surrogates do not reach the platform", () => {
  expect(html("a\u0000b\u0007c\u{1F600}\uD83Dd\r\ne")).toBe("abc😀\uFFFDd\ne");
});

test("a plain line renders the same with or without the parser", () => {
  const characters = fc.constantFrom(..."abcXYZäßжあ09 ,;!?\"'.".split(""), " ", "e\u0301");
  fc.assert(
    fc.property(fc.array(characters, { maxLength: 60 }), (pieces) => {
      const line = `w${pieces.join("")}`;
      // A second paragraph leaves the parser no way around.
      expect(parseMarkdown(`${line}\n\n**end**`).text).toBe(`${parseMarkdown(line).text}\n\nend`);
    }),
    { numRuns: 1_000 },
  );
});

test("styles that Markdown cannot produce are also nested and escaped", () => {
  const link = { kind: "link", url: 'https://x.y/?a="><b>&c', start: 0, end: 2 } as const;
  const result = renderHtml({ text: "abcd", spans: [link, { kind: "bold", start: 1, end: 4 }], wholes: [] });
  expect(result).toBe('<a href="https://x.y/?a=&quot;&gt;&lt;b&gt;&amp;c">a<b>b</b></a><b>cd</b>');
});
