/** The texts of `init`: a new configuration, the changes of an old one, and sentences that fit a narrow terminal. */
import { expect, test } from "vitest";
import { renderNewFile } from "../../../core/cli/init/new-file.ts";
import { shownChanges } from "../../../core/cli/init/shown-changes.ts";
import { wrapped } from "../../../core/cli/output/wrap.ts";
import { parseDocument } from "../../../core/config/reading/document.ts";

test("a new file has a comment above each value, and what fits is on one line", () => {
  const text = renderNewFile([
    { path: ["channels", "acme", "token"], value: { file: "bot-token" }, comment: "The token." },
    { path: ["channels", "acme", "old"], value: undefined },
    { path: ["channels", "acme", "allowFrom"], value: ["1", "2"] },
    { path: ["agents", "defaults", "model"], value: "acme/small", comment: "The model." },
  ]);
  expect(text.split("\n").slice(2).join("\n")).toBe(`{
  "channels": {
    "acme": {
      // The token.
      "token": { "file": "bot-token" },
      "allowFrom": ["1", "2"]
    }
  },
  // The model.
  "agents": { "defaults": { "model": "acme/small" } }
}
`);
  expect(parseDocument(text, "config.jsonc").value).toEqual({
    channels: { acme: { token: { file: "bot-token" }, allowFrom: ["1", "2"] } },
    agents: { defaults: { model: "acme/small" } },
  });
});

test("changes are shown with their neighbours, old lines before new ones, and no secret among them", () => {
  const before = [
    "{",
    '  // "token": "an-older-secret"',
    '  "token":',
    '    "the-secret",',
    '  "url": "https://ada:pass@example.org/",',
    '  "far": 1,',
    '  "away": 2,',
    '  "name": "old"',
    "}",
  ];
  const after = before.with(4, '  "url": "https://example.org/",').with(7, '  "name": "new"');
  const shown = shownChanges(before.join("\n"), after.join("\n"), { token: "the-secret", name: "old" });
  expect(shown.map((line) => (line === undefined ? "..." : `${line.kind} ${line.text.trim()}`))).toEqual([
    'same "(set)",',
    'removed "url": "https://(set)@example.org/",',
    'added "url": "https://example.org/",',
    'same "far": 1,',
    'same "away": 2,',
    'removed "name": "old"',
    'added "name": "new"',
    "same }",
  ]);
  const all = before.map((line) => `${line} `).join("\n");
  const texts = shownChanges(before.join("\n"), all, { token: "the-secret" }).map((line) => line?.text ?? "");
  expect(texts.join("\n")).not.toMatch(/secret|pass@/);
});

test("a sentence is broken between words, and a long path stays in one piece", () => {
  const text = wrapped("Wrote /a/very/long/path/of/a/configuration.jsonc, which only you can read.", {
    columns: 30,
    first: "✓ ",
  });
  expect(text.split("\n")).toEqual([
    "✓ Wrote",
    "  /a/very/long/path/of/a/configuration.jsonc,",
    "  which only you can read.",
  ]);
  // A terminal whose size is unknown.
  expect(wrapped("Wrote the file.", { columns: 0 })).toBe("Wrote the file.");
});
