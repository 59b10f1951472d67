import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { product } from "../../../core/contract/product.ts";
import type { Json } from "../../../core/contract/types.ts";
import { parseJson } from "../../../core/http/body.ts";
import { compileTemplate, TemplateError } from "../../../core/webhooks/mapping/template.ts";
import {
  type HookDelivery,
  readQuery,
  sourceOf,
  visibleHeaders,
} from "../../../core/webhooks/mapping/webhook-delivery.ts";
import { deliveryOf, expectNoPollution, hostileJson, hostileKey, hostileText } from "./hostile.ts";

const delivery = deliveryOf({
  path: "ci/build",
  headers: { "x-github-event": "push", "x.dotted": "d", constructor: "own" },
  query: "hub.mode=subscribe&filter%5Bfrom%5D=a&twice=1&twice=2&a%20b=spaced",
  payload: {
    action: "opened",
    count: 0,
    ratio: 1.5,
    yes: true,
    no: false,
    nothing: null,
    blank: "",
    "x.y": "dotted",
    "a b": "spaced",
    'quo"te': "quoted",
    größe: "L",
    "app:kind": "colon",
    labels: [{ name: "bug" }, { name: "ui" }],
    path: { to: [{ field: "deep" }] },
    now: { is: "in the payload" },
    payload: { inner: "own" },
    headers: "a field",
    query: { depth: 1 },
    sly: "{{ action }} {{path}} $& $1",
  },
});

const render = (text: string, to: HookDelivery = delivery) => compileTemplate(text).render(to);

function mistakeOf(text: string): string {
  try {
    compileTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
  return "none";
}

describe("what an expression reads", () => {
  test.each([
    ["{{ action }}", "opened"],
    ["{{action}} {{\n  action\t}}", "opened opened"],
    ["{{ labels[0].name }}, {{ labels.1.name }}, {{ labels[ 1 ].name }}", "bug, ui, ui"],
    ["{{ labels.length }}", "2"],
    ['{{ ["x.y"] }} {{ [\'a b\'] }} {{ ["quo\\"te"] }}', "dotted spaced quoted"],
    ["{{ größe }} {{ app:kind }}", "L colon"],
    ["{{ path.to[0].field }}", "deep"],
    ["{{ path }}", "ci/build"],
    ["{{ now }}", "2026-11-20T16:20:12.000Z"],
    ["{{ now.is }}", "in the payload"],
    ["{{ payload.path.to.0.field }}{{ payload.action }}", "deepopened"],
    ["{{ payload.payload.inner }}", "own"],
    ["{{ headers.x-github-event }} {{ headers.X-GitHub-Event }}", "push push"],
    ['{{ headers.x.dotted }} {{ headers["X.Dotted"] }}', "d d"],
    ['{{ query.hub.mode }} {{ query.filter[from] }} {{ query["a b"] }} {{ query.twice }}', "subscribe a spaced 2"],
    ["{{ query.Twice }}", ""],
    ["{{ headers }} {{ query }}", 'a field {"depth":1}'],
  ])("%s", (text, expected) => {
    expect(render(text)).toBe(expected);
  });

  test("`payload` alone is the whole payload as compact JSON, or unchanged if it is a text", () => {
    expect(JSON.parse(render("{{ payload }}"))).toEqual(delivery.payload);
    expect(render("{{ payload }}", deliveryOf({ payload: 'disk "a" is full' }))).toBe('disk "a" is full');
    expect(render("{{ payload[0] }}{{ [1].a }}", deliveryOf({ payload: ["x", { a: "y" }] }))).toBe("xy");
  });

  test("texts are inserted unchanged, numbers and booleans as written, objects and lists as compact JSON", () => {
    expect(render("{{ count }} {{ ratio }} {{ yes }} {{ no }}")).toBe("0 1.5 true false");
    expect(render("{{ labels }} {{ labels[0] }}")).toBe('[{"name":"bug"},{"name":"ui"}] {"name":"bug"}');
  });

  test("a missing, null or blank value renders empty", () => {
    expect(
      render(
        "[{{ nothing }}{{ blank }}{{ absent.deeper[3] }}{{ labels[9] }}{{ action.length }}{{ query.x }}{{ " +
          "headers.x }}]",
      ),
    ).toBe("[]");
  });

  test("only own properties are read", () => {
    for (const name of [
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "__proto__.polluted",
      "constructor.name",
    ]) {
      expect(render(`[{{ ${name} }}{{ labels.${name} }}{{ payload.${name} }}{{ query.${name} }}]`)).toBe("[]");
    }
    expect(
      render(
        "{{ constructor }} {{ headers.constructor }}",
        deliveryOf({ ...delivery, payload: { constructor: "sent" } }),
      ),
    ).toBe("sent own");
  });

  test("inherited properties of a delivery's records are not rendered", () => {
    expect(render("[{{ headers.constructor }}{{ query.toString }}]", { ...delivery, headers: {}, query: {} })).toBe(
      "[]",
    );
  });

  test("credentials and signatures are not readable", () => {
    const secret = "s3cret";
    const names = ["authorization", product.tokenHeader, "cookie", "proxy-authorization", "x-hub-signature-256"];
    const headers = visibleHeaders(
      Object.fromEntries(names.map((name) => [name, secret])),
      new Set(["x-hub-signature-256"]),
    );
    const text = names.map((name) => `{{ headers.${name} }}{{ headers["${name.toUpperCase()}"] }}`).join("");
    expect(render(text, { ...delivery, headers })).toBe("");
  });
});

describe("the text around expressions", () => {
  test("inserted text is never expanded again", () => {
    expect(render("{{ sly }}")).toBe("{{ action }} {{path}} $& $1");
    expect(render("{{{{ sly }}".slice(2))).toBe("{{ action }} {{path}} $& $1");
    expect(render('{{ "{{" }}{{ action }}}}')).toBe("{{opened}}");
  });

  test("a quoted text is inserted literally, which is how to write braces", () => {
    expect(render('{{ "{{ name }}" }} {{ \'it\\\'s }} "fine"\' }}')).toBe('{{ name }} it\'s }} "fine"');
  });

  test("single braces and closing braces are text", () => {
    expect(render('{"a": {"b": "{{ action }}"}} }}')).toBe('{"a": {"b": "opened"}} }}');
    expect(render("{{action}}}")).toBe("opened}");
  });

  test("a template without expressions is static, even with quoted texts", () => {
    expect(compileTemplate("plain {x}")).toMatchObject({ source: "plain {x}", isStatic: true, reads: [] });
    expect(compileTemplate('a {{ "{{" }}')).toMatchObject({ isStatic: true, reads: [] });
    expect(compileTemplate("{{ a }}").isStatic).toBe(false);
  });

  test("a template lists each value that it reads once, in canonical spelling", () => {
    const text =
      '{{ a.0["b"] }}{{ payload.a[0].b }}{{ payload }}{{ path }}{{ now }}{{ headers.X-A }}{{ query["a b"] ' +
      '}}{{ query["a.b"] }}';
    expect(compileTemplate(text).reads).toEqual([
      "payload.a[0].b",
      "payload",
      "path",
      "now",
      "headers.x-a",
      'query["a b"]',
      "query.a.b",
    ]);
  });
});

describe("names missing from the payload", () => {
  const payload = { title: "Disk", state: null, issue: { number: 7 }, commits: [], text: "words", "a b": 1 };
  const absentIn = (text: string) =>
    compileTemplate(text)
      .absent(deliveryOf({ payload }))
      .map(({ detail }) => detail);

  test("are reported with the available names", () => {
    expect(absentIn("{{ titel }} {{{ issue.titel }}} {{ payload.stat }} {{ text.title }} {{ commits.first }}")).toEqual(
      [
        "`titel` is not in the payload; it has title, state, issue, commits, text, a b",
        "`issue.titel` is not in the payload; `issue` has number",
        "`stat` is not in the payload; it has title, state, issue, commits, text, a b",
        "`text.title` is not in the payload; `text` is a text",
        "`commits.first` is not in the payload; `commits` is a list of 0",
      ],
    );
  });

  test("are not reported where payloads vary: in a null value, a short list or a header", () => {
    expect(
      absentIn(
        "{{ state }} {{ state.name }} {{ commits[0].message }} {{ headers.x-a }} {{ query.a }} {{ now }} {{ payload }}",
      ),
    ).toEqual([]);
  });

  test("are reported in a message of limited length", () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${"n".repeat(200)}${index}`, 1]));
    const [found] = compileTemplate("{{ x }}").absent(deliveryOf({ payload: wide }));
    expect(found?.detail.length).toBeLessThan(700);
    expect(found?.detail).toMatch(/ and 488 more$/);
  });
});

describe("an invalid template", () => {
  test.each([
    ["Hi {{ name", '"{{" is never closed with "}}", at column 4'],
    ["{{ a }} {{ b }", '"{{" is never closed with "}}", at column 9'],
    ['{{ "}}" ', '"{{" is never closed with "}}", at column 1'],
    ["a{{}}", "{{ }} names nothing, at column 2"],
    ["{{ \n }}", "{{ }} names nothing, at column 1"],
    ["one\ntwo {{ a..b }}", 'a name is missing before "."; '],
    ["one\ntwo {{ a..b }}", "at line 2, column 10"],
    ["{{ .a }}", "a name is missing"],
    ["{{ a. }}", "a name is missing"],
    ["{{ a b }}", '"b" is in the place of "}}"; '],
    ["{{ a | upper }}", '"|" is in the place of "}}"; '],
    ["{{#if a}}", 'a name is missing before "#"'],
    ["{{{ a }}", '"{{{" is never closed with "}}}", at column 1'],
    ["x {{{ a", '"{{{" is never closed with "}}}", at column 3'],
    ["{{{ }}}", "{{{ }}} names nothing, at column 1"],
    ["{{{ a } }}}", '"}" is in the place of "}}}"'],
    ["{{{{ a }}}}", 'a name is missing before "{"'],
    ["{{ a {{ b }}", '"{" is in the place of "}}"; '],
    ["{{ a[b] }}", 'brackets take an index such as [0], or a name in quotes such as ["a.b"], at column 5'],
    ["{{ a[-1] }}", "brackets take an index"],
    ["{{ a[01] }}", "brackets take an index"],
    ["{{ a[0 }}", "brackets take an index"],
    ['{{ a["b }}', "the quote is not closed, at column 6"],
    ['{{ a["b" }}', '"]" is missing, at column 10'],
    ['{{ a["b\\n"] }}', "a backslash must precede a quote or a backslash, at column 8"],
    ["{{ headers. }}", "a name is missing"],
    ["{{ headers.a..b }}", "a name is missing"],
    ["{{ query.a. }}", "a name is missing"],
    ['{{ headers["a"].b }}', "headers and query parameters have no nested fields"],
    ["{{ headers.a b }}", '"b" is in the place of "}}"'],
  ])("%s", (text, expected) => {
    expect(mistakeOf(text)).toContain(expected);
  });

  test("the error contains the column in its line", () => {
    expect(() => compileTemplate("é\n {{ a..b }}")).toThrow(
      expect.objectContaining({ name: "TemplateError", column: 7 }),
    );
  });
});

/** The other implementation: it walks entries, knows no parser, and is told the parts instead of finding them. */
function renderNaively(parts: readonly (string | readonly string[])[], payload: Json): string {
  const find = (value: Json, [key, ...rest]: readonly string[]): Json => {
    if (key === undefined) return value;
    if (typeof value !== "object" || value === null) return null;
    if (Array.isArray(value) && key === "length") return find(value.length, rest);
    const entry = Object.entries(value).find(([name]) => name === key);
    return entry === undefined ? null : find(entry[1], rest);
  };
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      const value = find(payload, part);
      return value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
    })
    .join("");
}

const key = fc.oneof({ weight: 3, arbitrary: hostileKey }, fc.string({ maxLength: 6 }));
const spelling = (name: string): fc.Arbitrary<string> => {
  const quoted = ['"', "'"].map((quote) => `[${quote}${name.replace(/["'\\]/g, "\\$&")}${quote}]`);
  const bare = /^[\p{L}\p{N}_-]+$/u.test(name) ? [`.${name}`] : [];
  const index = /^(0|[1-9][0-9]*)$/.test(name) ? [`[${name}]`] : [];
  return fc.constantFrom(...quoted, ...bare, ...index);
};
const expression = fc
  .array(key, { minLength: 1, maxLength: 4 })
  .chain((keys) => fc.tuple(fc.constant(keys), fc.tuple(...keys.map(spelling)), fc.constantFrom("", " ", "\n\t")));
const literal = hostileText.map((text) => text.replaceAll("{", "(")); // Braces in literals are tried above, by example.

describe("any input", () => {
  test("a template renders the same as in a naive implementation without a parser", () => {
    const part = fc.oneof(literal, expression);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), hostileJson, (parts, payload) => {
        const text = parts
          .map((item) => (typeof item === "string" ? item : `{{${item[2]}payload${item[1].join("")}${item[2]}}}`))
          .join("");
        const expected = renderNaively(
          parts.map((item) => (typeof item === "string" ? item : item[0])),
          payload,
        );
        expect(render(text, deliveryOf({ payload }))).toBe(expected);
      }),
      { numRuns: 1_500 },
    );
  });

  test("a text from the payload is inserted unchanged anywhere in a template", () => {
    fc.assert(
      fc.property(hostileText, fc.string(), (text, other) => {
        const to = deliveryOf({
          payload: { a: { b: [text] } },
          headers: { "x-a": text },
          query: `a=${encodeURIComponent(other.toWellFormed())}`,
        });
        expect(render("<{{a.b[0]}}|{{headers.x-a}}|{{query.a}}|{{a.b[0]}}>", to)).toBe(
          `<${text}|${text}|${other.toWellFormed()}|${text}>`,
        );
      }),
      { numRuns: 500 },
    );
  });

  test("any text is either a template or a TemplateError, and rendering never fails or touches a prototype", () => {
    const token = fc.constantFrom(
      ..."{{ }} { } . [ ] [0] ' \" \\ a payload headers query path now __proto__ constructor length - 💥 é".split(" "),
      " ",
      "\n",
      "{{",
      "}}",
      "{{",
      "}}",
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 16 }), hostileJson, (tokens, payload) => {
        const text = tokens.join("");
        try {
          const template = compileTemplate(text);
          expect(template.render(deliveryOf({ payload }))).toBeTypeOf("string");
          for (const read of template.reads) expect(compileTemplate(`{{ ${read} }}`).reads).toEqual([read]);
          if (!text.includes("{{")) expect(template.render(delivery)).toBe(text);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
          expect(text).toContain("{{");
        }
        expectNoPollution();
      }),
      { numRuns: 2_000 },
    );
  });

  test("no body, query or header becomes a prototype when it is rendered", () => {
    const body =
      '{"__proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},"source":"s"}';
    const payload = parseJson(Buffer.from(body)) as Json;
    const to: HookDelivery = {
      ...delivery,
      payload,
      source: sourceOf(payload),
      query: readQuery("__proto__=polluted&constructor=c"),
      headers: visibleHeaders(JSON.parse('{"__proto__":"polluted","x-a":"b"}'), new Set()),
    };
    expect(
      render("{{ polluted }}{{ a.polluted }}{{ query.polluted }}{{ headers.polluted }}{{ query.constructor }}", to),
    ).toBe("c");
    expect(render("{{ payload }}", to)).toBe('{"a":{"constructor":{"prototype":{"polluted":1}}},"source":"s"}');
    expectNoPollution();
  });
});
