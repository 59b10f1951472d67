import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Finished, start, temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

function home(
  files: Readonly<Record<string, string>>,
  hooks: object = {},
): { readonly home: string; run(...args: string[]): Promise<Finished> } {
  const directory = temporaryHome();
  mkdirSync(join(directory, ".service/transforms"), { recursive: true });
  writeFileSync(
    join(directory, ".service/config.jsonc"),
    JSON.stringify({ hooks: { enabled: true, token: "a-token-of-some-length", ...hooks } }),
  );
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return { home: directory, run: (...args) => run(["transforms", ...args], { home: directory }) };
}

test("list shows the files, their exports, the mappings that name them, and problems", async () => {
  const mappings = [
    { match: { path: "a" }, transform: { module: "a.ts" } },
    { match: { path: "b" }, transform: { module: "a.ts", export: "other" } },
    { match: { path: "c" }, transform: { module: "gone.ts" } },
  ];
  const place = home(
    {
      ".service/transforms/a.ts": "export default () => null; export const more = () => null;",
      ".service/transforms/broken.ts": "export default (",
      ".service/transforms/types.d.ts": "",
    },
    { mappings },
  );
  symlinkSync("/etc/hostname", join(place.home, ".service/transforms/link.js"));
  const { code, out } = await place.run("list", "--json");
  const listed = JSON.parse(out) as {
    readonly modules: readonly { readonly module: string; readonly problem?: string }[];
  };
  expect(listed.modules.map(({ module }) => module)).toEqual(["a.ts", "broken.ts", "link.js", "gone.ts"]);
  expect(listed.modules[0]).toEqual({
    module: "a.ts",
    exports: ["default", "more"],
    mappings: ["hooks.mappings[0]", "hooks.mappings[1]"],
    problem: 'exports no function named "other", which hooks.mappings[1] needs',
  });
  expect(listed.modules.slice(1).map(({ problem }) => problem)).toEqual([
    expect.stringMatching(/^broken\.ts:1: /),
    "is a symbolic link that ends outside the transforms root",
    expect.stringContaining("does not exist"),
  ]);
  expect(code).toBe(1);
});

test("test shows the result for a payload or a recording, and what the transform prints", async () => {
  const text =
    "export default ({ payload, headers, path }) => { console.log('looking'); return { message: [payload.x, " +
    "headers['x-a'], path].join() }; }; export const none = () => null; export const bad = () => { throw " +
    "new Error('no'); };";
  const place = home({
    ".service/transforms/a.ts": text,
    "payload.json": '{ "x": 1 }',
    "recorded.json": JSON.stringify({
      $delivery: 1,
      path: "ci",
      headers: { "X-A": "h" },
      query: {},
      payload: { x: 2 },
    }),
  });
  const file = (name: string) => join(place.home, name);
  const [plain, recorded, none, bad, headed] = await Promise.all([
    place.run("test", "a.ts", file("payload.json")),
    place.run("test", "a.ts", file("recorded.json"), "--json"),
    place.run("test", "a.ts", file("payload.json"), "--export", "none"),
    place.run("test", "a.ts", file("payload.json"), "--export", "bad"),
    place.run("test", "a.ts", file("payload.json"), "--header", "X-A: given", "--json"),
  ]);
  expect(plain).toMatchObject({ code: 0, out: expect.stringContaining('"message": "1,,"'), err: "looking\n" });
  expect(JSON.parse(recorded.out)).toMatchObject({ module: "a.ts", result: { message: "2,h,ci" } });
  expect(JSON.parse(headed.out)).toMatchObject({ result: { message: "1,given," } });
  expect(none).toMatchObject({ code: 0, out: expect.stringContaining("nothing to do") });
  expect(bad).toMatchObject({
    code: 1,
    out: expect.stringMatching(/failed: a\.ts \(bad\): no\n.*transforms\/a\.ts:1:/),
  });
});

test("test names what a gateway would refuse or ignore in the result, and exits with 1", async () => {
  const mappings = [{ match: { path: "a" }, transform: { module: "./typo.ts" } }];
  const place = home(
    {
      ".service/transforms/typo.ts": 'export default () => ({ mesage: "x" });',
      ".service/transforms/number.ts": "export default () => ({ message: 7, wakeMode: 'later' });",
      ".service/transforms/network.ts": 'export default async () => { await fetch("https://a.example"); };',
      ".service/transforms/named.ts": "function orders() {}",
      "payload.json": "{}",
    },
    { mappings },
  );
  const said = async (module: string) => {
    const { code, out } = await place.run("test", module, join(place.home, "payload.json"));
    expect(code).toBe(1);
    return out;
  };
  const typo = await said("typo.ts");
  expect(typo).toContain("! mesage is not a field of a run; did you mean message?\n");
  expect(typo).toContain("! hooks.mappings[0] has no template for its text, so the result needs a message");
  const number = await said("number.ts");
  expect(number).toContain("! message must be a string.\n! wakeMode must be one of now, next-heartbeat.\n");
  expect(await said("network.ts")).toContain("fetch is not defined; hooks.transforms.network: true provides it");
  expect(await said("named.ts")).toContain("it exports none: write `export default` before the function");
});

// In the program as the build bundles it, the thread that compiles once took the whole process with it.
test("test runs a module with an enum, which type stripping alone cannot handle", async () => {
  const text =
    'enum Level { High = "high" }\nexport default ({ payload }) => ({ message: [Level.High, payload.x].join(" ") });';
  const place = home({ ".service/transforms/a.ts": text, "payload.json": '{ "x": 1 }' });
  const runs = await Promise.all(
    [1, 2, 3].map(() => place.run("test", "a.ts", join(place.home, "payload.json"), "--json")),
  );
  for (const { code, out } of runs)
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, result: { message: "high 1" } });
});

test("test rejects a module outside the root by rule, and a file that is not a delivery", async () => {
  const place = home({ "payload.json": "{}", "broken.json": "{" });
  const outside = await place.run("test", "../x.ts", join(place.home, "payload.json"));
  expect(outside).toMatchObject({ code: 1, out: expect.stringContaining('must not contain ".."') });
  expect((await place.run("test", "a.ts", join(place.home, "broken.json"))).err).toContain("not valid JSON");
});

test("with the trusted runtime, test waits for the module's process, reports its error and exits with 1", async () => {
  const place = home(
    { ".service/transforms/a.mjs": "export default () => { throw { code: 5 }; };", "payload.json": "{}" },
    { transforms: { runtime: "trusted" } },
  );
  // In a process of its own: nothing else keeps it running.
  const { finished } = start(["transforms", "test", "a.mjs", join(place.home, "payload.json")], { home: place.home });
  const { code, out, err } = await finished;
  expect(err).toBe("");
  expect(out).toBe("failed: a.mjs: It threw a value that is not an Error: { code: 5 }\n");
  expect(code).toBe(1);
});
