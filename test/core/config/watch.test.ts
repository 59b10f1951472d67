import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { loadConfig } from "../../../core/config/reading/load.ts";
import { type ConfigChange, watchConfig } from "../../../core/config/reading/watch.ts";
import { temporary, writeConfig } from "./fixture.ts";

let stop = new AbortController();
afterEach(() => {
  stop.abort();
  stop = new AbortController();
});

const quick = { debounceMs: 20, pollMs: 60 };

async function watched(file: string, options: object = quick) {
  const changes: ConfigChange[] = [];
  const { digest } = await loadConfig({ file, env: {} });
  watchConfig(file, async (change) => void changes.push(change), { signal: stop.signal, env: {}, digest, ...options });
  await wait(120);
  const next = async (count: number) => {
    for (let tries = 0; tries < 1_000 && changes.length < count; tries += 1) await wait(20);
    expect(changes).toHaveLength(count);
    return changes[count - 1];
  };
  return { changes, next };
}

const write = (file: string, port: number) => writeFileSync(file, JSON.stringify({ gateway: { port } }));

test("a change is reported with the new configuration, a broken file with its error, a repair again", async () => {
  const file = writeConfig({});
  const { next } = await watched(file);
  write(file, 1);
  expect((await next(1))?.loaded?.config.gateway.port).toBe(1);
  writeFileSync(file, "{ nope");
  expect((await next(2))?.error?.code).toBe("config_syntax");
  write(file, 2);
  expect((await next(3))?.loaded?.config.gateway.port).toBe(2);
});

test("an editor's file replacement is reported at once, without waiting for the poll", async () => {
  const file = writeConfig({});
  const { changes, next } = await watched(file, { debounceMs: 20, pollMs: 60_000 });
  // Once more when the watching had not begun.
  for (let tries = 0; tries < 20 && changes.length === 0; tries += 1) {
    write(`${file}.new`, 5);
    renameSync(`${file}.new`, file);
    await wait(200);
  }
  expect((await next(1))?.loaded?.config.gateway.port).toBe(5);
});

test("touching the file, rewriting the same text and changing neighbouring files are not changes", async () => {
  const file = writeConfig({ gateway: { port: 1 } });
  const { changes } = await watched(file);
  utimesSync(file, 1, 1);
  writeFileSync(file, readFileSync(file, "utf8"));
  writeFileSync(join(dirname(file), "state.sqlite"), "x");
  await wait(200);
  expect(changes).toEqual([]);
});

test("a deleted file is reported as an error once and is loaded again when it returns", async () => {
  const file = writeConfig({});
  const { next, changes } = await watched(file);
  rmSync(file);
  expect((await next(1))?.error?.code).toBe("config_missing");
  await wait(150);
  expect(changes).toHaveLength(1);
  write(file, 7);
  expect((await next(2))?.loaded?.config.gateway.port).toBe(7);
});

test("an emptied file, as of a program still writing, is an error; {} is a valid configuration", async () => {
  const file = writeConfig({ gateway: { port: 1 } });
  const { next } = await watched(file);
  for (const [at, text] of ["", " \n", "// The gateway of the kitchen\n"].entries()) {
    writeFileSync(file, text);
    expect((await next(at + 1))?.error?.code).toBe("config_empty");
  }
  write(file, 7);
  expect((await next(4))?.loaded?.config.gateway.port).toBe(7);
  writeFileSync(file, "{}");
  expect((await next(5))?.loaded?.config.gateway.port).toBe(18_789);
});

test("a gateway that started with an empty file can reload an empty file", async () => {
  const file = writeConfig({});
  writeFileSync(file, "// Nothing yet.\n");
  const { digest, isEmpty } = await loadConfig({ file, env: {} });
  const changes: ConfigChange[] = [];
  const look = watchConfig(file, async (change) => void changes.push(change), {
    signal: stop.signal,
    env: {},
    digest,
    isEmpty,
    ...quick,
  });
  await look();
  expect(changes.map(({ error }) => error)).toEqual([undefined]);
});

test("a directory that is deleted and created again is still watched", async () => {
  const directory = join(temporary(), "conf");
  const file = join(directory, "config.jsonc");
  mkdirSync(directory);
  write(file, 1);
  const { next } = await watched(file);
  rmSync(directory, { recursive: true });
  expect((await next(1))?.error?.code).toBe("config_missing");
  mkdirSync(directory);
  write(file, 2);
  expect((await next(2))?.loaded?.config.gateway.port).toBe(2);
  write(file, 3);
  expect((await next(3))?.loaded?.config.gateway.port).toBe(3);
});

test("the target of a symbolic link may change, and so may the link itself", async () => {
  const directory = temporary();
  const link = join(directory, "config.jsonc");
  mkdirSync(join(directory, "a"));
  mkdirSync(join(directory, "b"));
  write(join(directory, "a", "real"), 1);
  write(join(directory, "b", "real"), 2);
  symlinkSync("a/real", link);
  const { next } = await watched(link);
  write(join(directory, "a", "real"), 3);
  expect((await next(1))?.loaded?.config.gateway.port).toBe(3);
  rmSync(link);
  symlinkSync("b/real", link);
  expect((await next(2))?.loaded?.config.gateway.port).toBe(2);
});

test("a change between loading and watching is reported if the loaded file's digest is given", async () => {
  const file = writeConfig({});
  const { digest } = await loadConfig({ file, env: {} });
  write(file, 9);
  const { next } = await watched(file, { ...quick, digest });
  expect((await next(1))?.loaded?.config.gateway.port).toBe(9);
});

test("no change is reported after the abort", async () => {
  const file = writeConfig({});
  const { changes } = await watched(file);
  write(file, 1);
  stop.abort();
  await wait(200);
  expect(changes).toEqual([]);
});

test("watching does not keep the process alive", async () => {
  const file = writeConfig({});
  const module = new URL("../../../core/config/reading/watch.ts", import.meta.url).href;
  const code =
    `const { watchConfig } = await import(${JSON.stringify(module)}); ` +
    `watchConfig(${JSON.stringify(file)}, async () => {}, { signal: new AbortController().signal, env: ` +
    "{} });";
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { timeout: 50_000 });
});
