/** Values in Markdown: what a person reads is the value, whatever it contains and wherever the operator has put it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileInsertion, escapeMarkdown, type Piece } from "../../../core/reply/index.ts";
import { plainText } from "../../../core/sdk/channel.ts";
import { parseMarkdown, renderHtml } from "../../support/rich-text.ts";

/** `{}` is the place of a value, `{!}` that of one that is Markdown itself. */
function insert(template: string, ...values: readonly string[]): string {
  const pieces = template
    .split(/(\{!?\})/)
    .map((part): Piece => (/^\{!?\}$/.test(part) ? { isMarkdown: part === "{!}" } : part));
  return compileInsertion(pieces)(values);
}

/** What people read on a platform with formatting, and on one without. */
const shown = (markdown: string) => ({ rich: parseMarkdown(markdown).text, plain: plainText(markdown) });

/** What platforms accept of a value: no control characters, no half characters, one kind of line break. */
const accepted = (value: string) =>
  value
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");

const signs = fc.constantFrom(
  ...[
    "*",
    "_",
    "`",
    "~",
    "|",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "#",
    "-",
    "+",
    "=",
    "!",
    "\\",
    "&",
    ";",
    ":",
    ".",
    "1",
    "a",
    "é",
    " ",
    "\n",
  ],
  ...[
    "**",
    "__",
    "```",
    "~~~",
    "||",
    "](http://evil.example)",
    "&#42;",
    "&lt;",
    "1. ",
    "    ",
    "\n\n",
    "<b>",
    "---",
    "![",
    "\t",
    "@all",
    "😀",
  ],
);
const values = fc.oneof(
  fc.array(signs, { maxLength: 12 }).map((list) => list.join("")),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const runs = { numRuns: Number(process.env.FC_RUNS ?? 400) };

describe("a value inserted into text", () => {
  it.each([
    "{}",
    "before {} after",
    "**{}** is down",
    "*{}* _{}_",
    "~~{}~~ ||{}||",
    "# {}",
    "- {}\n- {}",
    "1. {}",
    "> {}",
    "[{}](https://ok.example/)",
    "a {}{} b",
    "`open {} and {}",
    "<http://a{} {}",
    "{} <{}>",
    "path C:\\{}",
    "#{} -{} 1{}",
    "- [ ] {}",
    "{}\n===\n{}",
    "{}\n---",
  ])("is shown literally in %j", (template) => {
    const count = template.split("{}").length - 1;
    fc.assert(
      fc.property(fc.array(values, { minLength: count, maxLength: count }), (drawn) => {
        // Letters around each value, so that it is found again and no edge of a line is trimmed.
        const marked = drawn.map((value, index) => `Q${index}q${value}q${index}Q`);
        const { rich, plain } = shown(insert(template, ...marked));
        for (const value of marked) {
          expect(rich).toContain(accepted(value));
          expect(withoutLead(plain, template)).toContain(withoutLead(accepted(value), template));
        }
      }),
      runs,
    );
  });

  /** A quote repeats its sign on every line on a platform without formatting, and a list its indentation. */
  const withoutLead = (text: string, template: string) =>
    /^(?:>|-|1\.)/.test(template) ? text.replace(/\n[> \t]*/g, "\n") : text;

  it("is shown literally at the edges of a line", () => {
    fc.assert(
      fc.property(values, (value) => {
        const { rich, plain } = shown(insert("Value:\n{}\nend", value));
        const whole = `Value:\n${accepted(value)}\nend`;
        if (accepted(value) !== "") expect([rich, plain]).toEqual([whole, whole]);
      }),
      runs,
    );
  });

  it("stays inside code with its special characters and, in a block, its lines", () => {
    fc.assert(
      fc.property(values, (drawn) => {
        const value = `Qq${accepted(drawn)}qQ`;
        const line = value.replaceAll("\n", " ");
        expect(parseMarkdown(insert("see `{}` here **now**", value)).text).toBe(`see ${line} here now`);
        expect(plainText(insert("see `` {} `` here **now**", value))).toBe(`see ${line} here now`);
        expect(parseMarkdown(insert("```json\n{}\n```\n**end**", value)).text).toBe(`${value}\n\nend`);
        expect(plainText(insert("~~~\n{}\n~~~\n**end**", value))).toBe(`${value}\n\nend`);
        expect(plainText(insert("Text:\n\n    {}\n\n**end**", value))).toBe(`Text:\n\n${value}\n\nend`);
        expect(parseMarkdown(insert("> ```\n> {}\n> ```\n\n**end**", value)).text).toBe(`${value}\n\nend`);
        expect(plainText(insert("- ```\n  {}\n  ```\n\n**end**", value)).replaceAll("\n  ", "\n")).toBe(
          `- ${value}\n\nend`,
        );
      }),
      runs,
    );
  });

  it("stays in its table cell", () => {
    fc.assert(
      fc.property(values, (drawn) => {
        const value = accepted(drawn).replace(/\s+/g, " ").trim();
        const text = plainText(insert("| a | b |\n|---|---|\n| {} | `{}` |\n\nend", `Q${value}Q`, `Z${value}Z`));
        expect(text).toBe(`a | b\nQ${value}Q | Z${value}Z\n\nend`);
      }),
      runs,
    );
  });

  it("never creates a link, even together with the values around it", () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(
          parseMarkdown(insert("[{}]{} {}({}) <{}>", a, b, a, b, a)).spans.filter(({ kind }) => kind === "link"),
        ).toEqual([]);
        expect(shown(insert("{} <{}>", `Q${a}`, "ada@example.org")).rich).toContain(
          `${accepted(`Q${a}`)} <ada@example.org>`,
        );
      }),
      runs,
    );
  });

  it("is a link target only where the operator placed it as one", () => {
    const html = (value: string) => renderHtml(parseMarkdown(insert("[open]({}) **x**", value)));
    expect(html("https://ci.example/a_b*c?x=1&y=(2)")).toBe(
      '<a href="https://ci.example/a_b*c?x=1&amp;y=%282%29">open</a> <b>x</b>',
    );
    expect(html("https://ci.example/ **bold** [a](b)")).toBe(
      '<a href="https://ci.example/%20**bold**%20%5Ba%5D%28b%29">open</a> <b>x</b>',
    );
    expect(html('https://ci.example/" onclick="x')).not.toContain('" onclick');
    expect(html("https://ci.example/x) [click](https://evil.example")).not.toContain('href="https://evil.example');
    expect(html("javascript:alert(1)")).not.toContain("<a");
    expect(html("")).toBe("open <b>x</b>");
    expect(renderHtml(parseMarkdown(insert("<https://ci.example/{}>", "a b>c")))).toBe(
      '<a href="https://ci.example/a%20b%3Ec">https://ci.example/a b&gt;c</a>',
    );
  });

  it("is Markdown where the operator says so, but not inside code", () => {
    expect(parseMarkdown(insert("{!} {}", "**a**", "**b**")).text).toBe("a **b**");
    expect(parseMarkdown(insert("`{!}`", "**a** `b`")).text).toBe("**a** `b`");
  });

  it("leaves no empty code marks if it is empty", () => {
    expect(insert("state: `{}`", "")).toBe("state: ");
  });

  it("is stored unchanged if it contains nothing to escape", () => {
    for (const value of [
      "Disk 91% full on web-1",
      "https://ci.example/run/42?a=1&b=2",
      "a_file_name.txt",
      "Müller, Søren (Ops)",
      "Nr. 5",
    ])
      expect(escapeMarkdown(value)).toBe(value);
  });

  it("is rendered in linear time", () => {
    const cost = (size: number) => {
      const began = process.cpuUsage();
      insert("`{}` {} ```\n{}\n```", "`".repeat(size), "*_[".repeat(size), " ".repeat(size));
      const { user, system } = process.cpuUsage(began);
      return user + system;
    };
    cost(10_000);
    expect(cost(200_000)).toBeLessThan(2_000_000);
  });
});
