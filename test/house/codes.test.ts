import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codesByOwner } from "../../core/contract/codes.ts";
import { errorTable } from "../../core/contract/error-table.ts";
import { problems } from "../../core/http/problem.ts";
import type { CodeDefinition, PluginDefinition } from "../../core/sdk/contract.ts";
import { read, root, sources } from "./sources.ts";

const bundled = (await Promise.all(
  sources("plugins/*/index.ts").map(
    async (path) => ((await import(join(root, path))) as { readonly default: PluginDefinition }).default,
  ),
)) as readonly PluginDefinition[];

/** The tables that hold a code, by the owner's name. */
const tables: readonly (readonly [owner: string, codes: Readonly<Record<string, CodeDefinition>>])[] = [
  ...Object.entries(codesByOwner),
  ...bundled.flatMap(({ id, codes }) => (codes === undefined ? [] : [[`the plugin ${id}`, codes] as const])),
];

/** Without the test kit, whose events end with codes of its own. */
const files = [...sources("{core,plugins}/**/*.ts"), "core/cli/main.js"].filter(
  (path) => !/(core\/testkit|contract\/codes|contract\/error-table|plugins\/[^/]+\/codes|http\/problem)/.test(path),
);

/** Where a code is written as a text: a decision, a silent update, a thrown error, a refused action. */
const shapes = [
  /\b(?:code|reason|silent): "([a-z][a-z0-9_]*)"/g,
  /\b(?:refuse|failed|refused)\((?:\d+, )?"([a-z][a-z0-9]*_[a-z0-9_]+)"/g,
  /\bnew (?:ChannelError|EngineError|Postponed|HttpProblem|HostError|PluginError)\(\s*"([a-z][a-z0-9_]*)"/g,
  /\bpass\((?:[^"()]* \? )?"([a-z][a-z0-9_]*)"/g,
  /\b(?:code|reason|silent): [^,;{}"\n]+ \? "([a-z][a-z0-9_]*)" : "[a-z][a-z0-9_]*"/g,
  /\b(?:code|reason|silent): [^,;{}"\n]+ \? "[a-z][a-z0-9_]*" : "([a-z][a-z0-9_]*)"/g,
];

/** Texts in the same places that are not codes: they do not leave the part that uses them. */
const inner = new Set([
  ...["header", "missing", "old", "payload", "secret", "url", "wrong"], // faults of a signature, told in words
  ...["exit", "memory", "refused", "result", "threw", "timeout"], // ends of a transform, told in words
  ...["code", "failed", "full", "locked", "unknown_code", "yellow"], // results inside one room
  ...["plugin_command_failed", "nick_taken"], // the command line's own; an example in a doc comment
]);

/** Codes that are put together when they are needed. */
const composed: Readonly<Record<string, readonly [file: string, from: string]>> = {
  group_disabled: ["core/access/refusals.ts", "}_disabled`"],
  topic_disabled: ["core/access/refusals.ts", "}_disabled`"],
  ingress_failed: ["core/path/endings/ending.ts", "}_failed`"],
  routing_failed: ["core/path/endings/ending.ts", "}_failed`"],
  // For plugins.
  service_message: ["core/contract/codes/channels.ts", "service_message: {"],
  "service_*": ["plugins/botchat/intake/service-fields.ts", "`service_${"],
};

const isComposed = (code: string): boolean => {
  const [file, from] = composed[code] ?? [];
  return file !== undefined && from !== undefined && read(file).includes(from);
};

const used = new Map(
  files.flatMap((path) => {
    const text = read(path);
    return shapes.flatMap((shape) => [...text.matchAll(shape)].map(([, code = ""]) => [code, path] as const));
  }),
);

describe("codes", () => {
  test("every printed code is registered", () => {
    const registered = new Set([
      ...tables.flatMap(([, codes]) => Object.keys(codes)),
      ...Object.keys(errorTable),
      ...Object.keys(problems),
    ]);
    const unknown = [...used].filter(([code]) => !registered.has(code) && !inner.has(code));
    expect(unknown.map(([code, path]) => `${code} in ${path}`)).toEqual([]);
  });

  test("every registered code is used", () => {
    const text = files.map((path) => read(path)).join("\n");
    const unused = [...tables, ["HTTP", problems] as const, ["errors", errorTable] as const].flatMap(([owner, codes]) =>
      Object.keys(codes)
        .filter((code) => !new RegExp(`["'\`]${code.replace("*", "\\*")}["'\`]`).test(text))
        .filter((code) => !isComposed(code))
        .map((code) => `${code} of ${owner}`),
    );
    expect(unused).toEqual([]);
  });

  test("a code has one owner; a plugin can add details to a code of the gateway", () => {
    const owners = Map.groupBy(
      Object.entries(codesByOwner).flatMap(([owner, codes]) => Object.keys(codes).map((code) => ({ owner, code }))),
      ({ code }) => code,
    );
    expect([...owners].filter(([, own]) => own.length > 1).map(([code]) => code)).toEqual([]);
  });

  test("core/CODES.md matches the registry; update it with `vitest run test/house -u`", async () => {
    const cell = (text: string) => text.replaceAll("{command}", "service").replaceAll("|", "\\|");
    const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
      [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
    const page = [
      "# Codes",
      "",
      "The codes that `service why`, the log, answers of the HTTP server and results of actions contain. A " +
        "code never changes its meaning.",
      "Errors of the gateway and its command line, such as `config_invalid` or `turn_timeout`, are in " +
        "[ERRORS.md](ERRORS.md).",
      "",
      "The outcome is that of an event which ends with the code. Without an outcome, the code is a step on " +
        "the way, or a result of an action.",
      ...tables.flatMap(([owner, codes]) => [
        "",
        `## Of ${owner}`,
        "",
        table(
          ["code", "outcome", "meaning", "what to do"],
          Object.entries(codes).map(([code, { outcome = "", meaning, hint, hintWhileRetrying }]) => {
            const retrying = hintWhileRetrying === undefined ? "" : ` While the gateway retries: ${hintWhileRetrying}`;
            return [`\`${code}\``, outcome, cell(meaning), cell(hint + retrying)];
          }),
        ),
      ]),
      "",
      "## Of answers over HTTP",
      "",
      'The body of each is `{ "ok": false, "error": "<sentence>", "code": "<code>" }`.',
      "",
      table(
        ["code", "status", "meaning", "what to do", "decided by"],
        Object.entries(problems).map(([code, problem]) => [
          `\`${code}\``,
          String(problem.status),
          cell(problem.meaning),
          cell(problem.hint),
          "path" in problem ? problem.path.replaceAll(/[\w.[\]]+/g, "`$&`") : "",
        ]),
      ),
      "",
    ].join("\n");
    await expect(page).toMatchFileSnapshot(join(root, "core", "CODES.md"));
  });
});
