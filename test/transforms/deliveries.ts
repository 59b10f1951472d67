import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { expect, vi } from "vitest";
import { type Context, type MessageFields, messageLimit } from "../../transforms/message.ts";
import { root } from "../house/sources.ts";
import { anyCharacter } from "../support/any-character.ts";

export type Transform = (context: Context) => MessageFields | null | undefined;

/** A delivery as a transform is handed it. */
export function delivery(payload: unknown, headers: Readonly<Record<string, string>> = {}): Context {
  return { payload, headers, query: {}, path: "hook", source: "", now: "2026-03-04T05:06:07.000Z" };
}

/** What a transform says, or why it says nothing. */
export function transformed(
  transform: Transform,
  context: Context,
): { readonly fields: MessageFields | null | undefined; readonly reason: string } {
  const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
  try {
    const fields = transform(context);
    return { fields, reason: String(debug.mock.calls[0]?.[0] ?? "").replace(/^nothing said: /, "") };
  } finally {
    debug.mockRestore();
  }
}

const places = (value: unknown, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] =>
  typeof value !== "object" || value === null
    ? [path]
    : [
        path,
        ...Object.entries(value).flatMap(([key, child]) =>
          places(child, [...path, Array.isArray(value) ? Number(key) : key]),
        ),
      ];

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1.5,
    1e300,
    "",
    "  ",
    [],
    {},
    [null, [[]]],
    { number: {} },
    "\uD800",
    "__proto__",
    "constructor",
  ),
  fc.constantFrom(
    "](https://evil.example) @everyone <b>x</b> `",
    "**_~~||[a](b)|| &lt; ![x](y)",
    "```\n# x\n> y\n- z\n1. a",
    "@all\u202Etxt\u0000",
  ),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.integer({ min: 1, max: 100_000 }).map((length) => "x_*[<".repeat(length).slice(0, length)),
  fc
    .integer({ min: 1, max: 400 })
    .map((length) => Array.from({ length }, () => ({ id: "1", title: "t", html_url: "https://example.com/a" }))),
);

function changed(payload: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof payload !== "object" || payload === null) return value;
  const copy = (Array.isArray(payload) ? [...payload] : { ...payload }) as Record<string | number, unknown>;
  const next = changed(copy[key], rest, value);
  if (next === undefined && !Array.isArray(payload)) delete copy[key];
  else copy[key] = next ?? null;
  return copy;
}

const markdown = new MarkdownIt("default", { html: true, linkify: false });
const ours =
  /^(?:text|text_special|inline|softbreak|code_inline|(?:paragraph|strong|link|blockquote|bullet_list|list_item)_(?:open|close))$/;

/** Markup that no transform writes, so that it came from outside; and links that lead where only a text said. */
const marksOf = (message: string): readonly string[] =>
  markdown
    .parse(message, {})
    .flatMap((token) => [token, ...(token.children ?? [])])
    .filter((token) => !ours.test(token.type) || /^https?:\/\/evil\.example/.test(String(token.attrGet("href"))))
    .map(({ type }) => type);

/** Fields removed, types swapped, texts that mean harm: nothing throws, and what is said is bounded. */
export function survivesMutations(transform: Transform, samples: readonly Context[], runs = 1_000): void {
  const spots = samples.map((sample) => places(sample.payload));
  const debug = vi.spyOn(console, "debug").mockImplementation(() => {});
  try {
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 6 }), (pick, swaps) => {
        const index = pick % samples.length;
        const sample = samples[index] as Context;
        const own = spots[index] ?? [[]];
        const payload = swaps.reduce<unknown>(
          (value, [spot, other]) => changed(value, own[spot % own.length] ?? [], other),
          sample.payload,
        );
        const fields = transform({ ...sample, payload });
        if (fields === null || fields === undefined) return;
        expect(fields.message.length).toBeLessThanOrEqual(messageLimit);
        expect(fields.message.trim()).not.toBe("");
        expect(fields.message.isWellFormed()).toBe(true);
        expect(fields.message).not.toMatch(/undefined|\[object|NaN/);
        // In code and in addresses nobody is mentioned.
        expect(fields.message.replace(/\\.|`[^`]*`|\]\([^)]*\)/g, " ")).not.toMatch(/(?<![\w\u200B])@(?=\w)/);
        expect(marksOf(fields.message)).toEqual([]);
        expect(fields.text).toBe(fields.message);
        if (fields.sessionKey !== undefined) expect(fields.sessionKey).toMatch(/^hook:[^\s\p{C}]{1,240}$/u);
      }),
      { numRuns: runs },
    );
  } finally {
    debug.mockRestore();
  }
}

interface Sample {
  readonly name: string;
  readonly payload: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

/** Payloads in the documented shapes, with what each is. */
export function samplesOf(name: string): readonly { readonly name: string; readonly context: Context }[] {
  const samples = JSON.parse(
    readFileSync(join(root, `test/fixtures/transforms/${name}.json`), "utf8"),
  ) as readonly Sample[];
  return samples.map(({ name, payload, headers, path }) => ({
    name,
    context: { ...delivery(payload, headers), ...(path === undefined ? {} : { path }) },
  }));
}

/** What is said to each, as a page that a person can read. After a change: `vitest run test/transforms -u`. */
export async function matchesPage(
  transform: Transform,
  name: string,
  samples: readonly { readonly name: string; readonly context: Context }[],
) {
  const parts = samples.map((sample) => {
    const { fields, reason } = transformed(transform, sample.context);
    if (fields === null) expect(reason, sample.name).toMatch(/\S/);
    const shown = fields
      ? `${fields.message}\n\n\`${fields.sessionKey ?? "a session of its own"}\``
      : fields === null
        ? `(nothing: ${reason})`
        : "(the mapping's own template decides)";
    return `## ${sample.name}\n\n${shown}\n`;
  });
  await expect(parts.join("\n")).toMatchFileSnapshot(join(root, `test/fixtures/transforms/${name}.md`));
}
