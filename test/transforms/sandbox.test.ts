import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../core/contract/types.ts";
import { defineTransform, type TransformContext } from "../../core/sdk/contract.ts";
import { createTransforms, type Transforms } from "../../core/transforms/sandbox.ts";
import { root, sources } from "../house/sources.ts";
import { samplesOf, type Transform, transformed } from "./deliveries.ts";

const readme = readFileSync(join(root, "transforms/README.md"), "utf8");

/** The blocks of code in the README that name their file in the first line. */
const examples = [...readme.matchAll(/```ts\n\/\/ transforms\/([\w-]+\.ts)\n([\s\S]*?)```/g)].map(
  ([, name = "", text = ""]) => ({
    name,
    text,
  }),
);

const readyMade = sources("transforms/*.ts").map((path) => basename(path));

let directory: string;
let transforms: Transforms;
const lines: string[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "ready-made-"));
  const files = join(directory, "transforms");
  mkdirSync(files);
  // What a user does: the files are copied beside the configuration, each with its companion.
  for (const name of readyMade) cpSync(join(root, "transforms", name), join(files, name));
  for (const { name, text } of examples) writeFileSync(join(files, name), text);
  const note = (_fields: object, line: string) => void lines.push(line);
  transforms = createTransforms({
    root: () => files,
    settings: () => ({ runtime: "sandbox", memoryMb: 64, cpuMs: 1_000, timeoutSeconds: 5, network: false }),
    log: { debug: note, info: note, warn: note, error: note },
    now: () => performance.now(),
  });
});

afterAll(async () => {
  await transforms.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (module: string, context: unknown) => transforms.run({ module, context: context as TransformContext });

describe("bundled transforms in the sandbox", () => {
  const names = readyMade.filter((name) => name !== "message.ts").map((name) => basename(name, ".ts"));

  test.each(names)("%s produces the same result in the sandbox as outside", async (name) => {
    const { default: transform } = (await import(`../../transforms/${name}.ts`)) as { readonly default: Transform };
    // Their types stand by themselves, so that a copy needs nothing installed; they are those of the door.
    expect(defineTransform<unknown>(transform)).toBe(transform);
    for (const { context } of samplesOf(name === "github" ? "github-cases" : name)) {
      expect(await run(`${name}.ts`, context)).toEqual(transformed(transform, context).fields);
    }
  });

  test("the page names every bundled transform", () => {
    const rows = [...readme.matchAll(/^\| `([\w-]+)\.ts` +\|/gm)].map(([, name]) => name);
    expect(rows.toSorted()).toEqual(names.toSorted());
  });

  test("the log says why a transform produced no message", async () => {
    const context = {
      ...(samplesOf("github-cases")[0]?.context as object),
      headers: { "x-github-event": "star" },
      payload: { action: "created" },
    };
    expect(await run("github.ts", context)).toBeNull();
    expect(lines).toContain("nothing said: stars and forks are not reported");
  });
});

describe("the examples of transforms/README.md", () => {
  const call = (payload: Json, headers: Readonly<Record<string, string>> = {}) => ({
    payload,
    headers,
    query: {},
    path: "hook",
    source: "",
    now: "2026-03-04T05:06:07.000Z",
  });

  test("are all tested here", () => {
    expect(examples.map(({ name }) => name)).toEqual(["build.ts", "our-github.ts"]);
  });

  test("include a ten-line transform that is silent while all is well and otherwise sends a message", async () => {
    expect(await run("build.ts", call({ status: "passed" }))).toBeNull();
    expect(await run("build.ts", call({ status: "failed", project: "site", log: "https://ci.example/1" }))).toEqual({
      message: "The build of site failed: https://ci.example/1",
      sessionKey: "hook:build:site",
    });
    expect(await run("build.ts", call(["other"]))).toBeUndefined();
  });

  test("include a transform around a bundled one that changes its message", async () => {
    const issue = (login: string) =>
      call(
        {
          action: "opened",
          issue: { number: 7, title: "Wish" },
          repository: { full_name: "octo/site" },
          sender: { login },
        },
        { "x-github-event": "issues" },
      );
    expect(await run("our-github.ts", issue("ann"))).toMatchObject({
      message: expect.stringMatching(/^\*\*octo\/site\*\*: ann opened issue #7 Wish\n\nIs this a duplicate\?/),
      sessionKey: "hook:github:octo/site:7",
      thinking: "low",
    });
    expect(await run("our-github.ts", issue("our-importer"))).toBeNull();
  });
});
