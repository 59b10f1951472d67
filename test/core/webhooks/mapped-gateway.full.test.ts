import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { GatewayDescription } from "../../../core/gateway/gateway.ts";
import type { Json } from "../../../core/sdk/contract.ts";
import { createTestHost, type TestHost } from "../../../core/testkit/index.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

let host: TestHost;
afterEach(async () => {
  await host.close();
  removeDirectory(host.directory);
});

/** The errors in the log are what some tests are about. */
async function start(
  hooks: object,
  files: Readonly<Record<string, string>> = {},
  allowed: readonly RegExp[] = [],
): Promise<void> {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(directory, "transforms"), { recursive: true });
    writeFileSync(join(directory, "transforms", name), text);
  }
  host = await createTestHost({
    directory,
    config: { hooks, log: { level: "info" } },
    allowErrors: [/hooks\.mappings/, ...allowed],
  });
}

async function post(path: string, payload: Json, headers: Readonly<Record<string, string>> = {}) {
  const { status, body, ended } = await host.deliver(path, payload, { headers });
  return { status, json: body === "" ? {} : (body as { readonly [name: string]: Json }), ended };
}

/** By hand, as an operator edits the file. */
function change(hooks: object): void {
  const config = JSON.parse(readFileSync(host.configFile, "utf8"));
  writeFileSync(host.configFile, JSON.stringify({ ...config, hooks: { ...config.hooks, ...hooks } }));
}

/** As the command `status` reads it. */
async function described() {
  const response = await host.fetch("/gateway/describe");
  const { gateway } = (await response.json()) as { readonly gateway: Pick<GatewayDescription, "problems" | "stats"> };
  return gateway;
}

const until = async (holds: () => Promise<boolean>) => {
  for (const deadline = Date.now() + 8_000; Date.now() < deadline; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("it did not come to that");
};

const log = () => readFileSync(join(host.directory, "state", "logs", "gateway.log"), "utf8");

describe("mappings in a running gateway", () => {
  test("a transform from the transforms directory decides the result; a failing one fails its request", async () => {
    const files = {
      "door.ts":
        "export default ({ payload }: { payload: { open: boolean } }) => (payload.open ? { message: 'The " +
        "door is open' } : null);",
      "bad.ts": "export default () => { throw new Error('no'); };",
    };
    await start(
      {
        mappings: ["door", "bad"].map((name) => ({
          match: { path: name },
          deliver: false,
          transform: { module: `${name}.ts` },
        })),
      },
      files,
    );
    const open = await post("door", { open: true });
    expect(open.status).toBe(202);
    expect((await post("door", { open: false })).status).toBe(204);
    expect(await post("bad", {})).toMatchObject({ status: 500, json: { code: "mapping_failed" } });
    expect(open.ended[0]).toMatchObject({ outcome: "silent", reason: "not_asked" });
  });

  test("a new mapping with a missing transform is adopted and works once the file exists", async () => {
    const first = { match: { path: "first" }, deliver: false, messageTemplate: "x" };
    await start({ mappings: [first] }, { "unused.ts": "" });
    const door = { match: { path: "door" }, deliver: false, transform: { module: "door.ts" } };
    change({ mappings: [first, door, { ...first, match: { path: "third" } }] });
    await host.fetch("/gateway/reload", { method: "POST" });
    expect(await post("door", {})).toMatchObject({ status: 500, json: { code: "mapping_failed" } });
    expect((await post("third", {})).status).toBe(202);
    writeFileSync(join(host.directory, "transforms", "door.ts"), "export default () => ({ message: 'open' });");
    expect((await post("door", {})).status).toBe(202);
  });

  test("a changed mapping with a missing transform stays as it was; a reload adopts it once it exists", async () => {
    const at = (path: string, module: string) => ({ match: { path }, deliver: false, transform: { module } });
    const files = { "old.ts": "export default () => ({ message: 'old' });" };
    await start({ mappings: [at("door", "old.ts")] }, files, [/sections with an error were rejected/]);
    change({ mappings: [at("door", "new.ts"), at("other", "old.ts")] });
    const reload = async () =>
      (await (await host.fetch("/gateway/reload", { method: "POST" })).json()) as { readonly changed: boolean };
    await reload();
    expect(log()).toContain('"sections":["hooks.mappings[0]"]');
    expect((await post("door", {})).ended[0]).toMatchObject({ outcome: "silent" });
    expect((await post("other", {})).status).toBe(202);
    writeFileSync(join(host.directory, "transforms", "new.ts"), "export default () => null;");
    expect(await reload()).toMatchObject({ changed: true });
    expect((await post("door", {})).status).toBe(204);
    expect(await reload()).toMatchObject({ changed: false });
  });

  test("edited mappings and presets apply from the next request, together with their errors", async () => {
    await start({ mappings: [{ match: { path: "old" }, messageTemplate: "x" }] });
    expect((await post("old", {})).status).toBe(202);
    change({
      mappings: [
        { match: { path: "new" }, messageTemplate: "x" },
        { match: { path: "broken" }, messageTemplate: "{{" },
      ],
    });
    await until(async () => (await post("new", {})).status === 202);
    expect((await post("old", {})).status).toBe(404);
    expect((await post("broken", {})).status).toBe(503);
    await until(async () => log().includes("hooks.mappings[1].messageTemplate"));
    expect((await described()).problems).toMatchObject([
      { severity: "error", path: "hooks.mappings[1].messageTemplate", line: 1 },
    ]);
  });

  test("an error in a mapping is reported at startup, and the other hooks run", async () => {
    await start({
      mappings: [
        { match: { path: "a" }, messageTemplate: "x", channel: "nowhere" },
        { match: { path: "b" }, action: "agnt" },
      ],
    });
    await until(async () => log().includes("there is no such channel"));
    expect((await post("wake", { text: "x" })).status).toBe(200);
    expect((await post("b", { text: "x" })).status).toBe(503);
  });

  test("a failed delivery is stored with its payload and the setting that decided", async () => {
    await start({ mappings: [{ id: "door", match: { path: "door" }, messageTemplate: "{{ nothing }}" }] });
    expect((await post("door", { a: 1 }, { "x-kind": "k" })).status).toBe(400);
    await until(async () => log().includes("hooks.mappings[0].messageTemplate"));
    expect((await described()).stats.settled.refused).toBe(1);
  });

  test("many simultaneous deliveries with one key cause one run", async () => {
    await start({
      mappings: [{ match: { path: "a" }, forEach: "list", messageTemplate: "{{ list[0] }}", deliver: false }],
    });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post("a", { list: [1, 2, 3] }, { "idempotency-key": "k" })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.json.eventIds).toHaveLength(3);
  });
});
