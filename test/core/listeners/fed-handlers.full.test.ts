/** Real sources that send what is no message of theirs: only that source fails, with a sentence. */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { asMessage } from "../../../core/isolation/peer.ts";
import { startThread } from "../../../core/isolation/plugin-thread.ts";
import { asReply, asRequest } from "../../../core/state/sqlite/thread/check-messages.ts";
import { serveWrites } from "../../../core/state/sqlite/thread/serve-writes.ts";
import { asEnded, asReport } from "../../../core/transforms/check-report.ts";
import { burst, junk } from "../../support/junk.ts";
import { openWorkshop } from "../transforms/workshop.ts";

const cases = Object.entries(junk);
/** Sends each kind of junk and a burst, in one go, by a statement that sends `value`. */
const allJunk = (send: string) =>
  `for (const value of ${JSON.stringify(cases.map(([, value]) => value))}) ${send}; for (let n = 0; n < ` +
  `${burst}; n += 1) { const value = null; ${send}; }`;
const source = (path: string) => new URL(`../../../core/${path}`, import.meta.url);

function temporary(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "fed-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Modules have no function for it: this writes lines into the pipe between the gateway and the process. */
const writing =
  'import { writeSync } from "node:fs"; const write = (line) => { for (let text = line; text !== ""; ) ' +
  "{ try { text = text.slice(writeSync(3, text)); } catch {} } };";

describe("a trusted transform", () => {
  test.each<readonly [string, string]>([
    ...cases.map(([name, value]) => [name, JSON.stringify(value)] as const),
    ["a line that is no JSON", "garbage"],
    ["an empty line", ""],
    ["a message of Node's own", '{"cmd":"NODE_HANDLE","type":"net.Socket"}'],
  ])("that sends %s over the channel of its process fails only that call, and is named", async (_, line) => {
    const shop = openWorkshop(
      {
        "a.mjs": `${writing} export const odd = async () => { write(${JSON.stringify(`${line}\n`)}); await new Promise((r) => setTimeout(r, 5_000)); };
        export default async () => { await new Promise((r) => setTimeout(r, 100)); return { message: "fine" }; };`,
      },
      { runtime: "trusted", timeoutSeconds: 20 },
    );
    onTestFinished(() => shop.close());
    const beside = shop.run("a.mjs");
    const fault = await shop.fault("a.mjs", {}, "odd");
    expect(fault).toMatchObject({
      kind: "exit",
      message: expect.stringMatching(/^Its process sent .*, which is not a valid message$/),
    });
    expect(await beside).toEqual({ message: "fine" });
  });

  test("that sends junk 10,000 times, on its channel and output, fails one call, and the next one runs", async () => {
    const shop = openWorkshop(
      {
        "a.mjs": `${writing} export const odd = async () => { ${allJunk("write(JSON.stringify(value) + '\\n')")} await new Promise((r) => setTimeout(r, 5_000)); };
        export const prints = () => { ${allJunk(
          "process.stdout.write(JSON.stringify(value) + '\\n'), " +
            "process.stderr.write(JSON.stringify(value) + '\\n')",
        )} return { message: "printed" }; };
        export default () => ({ message: "fine" });`,
      },
      { runtime: "trusted", timeoutSeconds: 60 },
    );
    onTestFinished(() => shop.close());
    const fault = await shop.fault("a.mjs", {}, "odd");
    expect(fault).toMatchObject({ kind: "exit", message: "Its process sent null, which is not a valid message" });
    expect(await shop.run("a.mjs")).toEqual({ message: "fine" });
    expect(await shop.run("a.mjs", {}, "prints")).toEqual({ message: "printed" });
    expect(await shop.run("a.mjs")).toEqual({ message: "fine" });
    expect(shop.lines.filter(({ level }) => level === "error").length).toBeLessThan(5);
  });

  test("is protected from junk sent to its process: the process warns and still responds", async () => {
    const directory = temporary();
    writeFileSync(join(directory, "a.mjs"), 'export default () => ({ message: "fine" });');
    const runner = source("transforms/trusted-runner.ts").pathname;
    const child = spawn(process.execPath, [...process.execArgv, "--no-warnings", runner, join(directory, "a.mjs")], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const pipe = child.stdio[3] as Socket;
    let heard = "";
    pipe.setEncoding("utf8").on("data", (text) => (heard += text));
    // A child of this test: what it sends is the gateway's own.
    for (const [, value] of cases) pipe.write(`${JSON.stringify(value)}\n`);
    pipe.write("5\n".repeat(burst));
    pipe.write(`${JSON.stringify({ id: 77, context: "{}" })}\n`);
    await expect.poll(() => heard, { timeout: 10_000 }).toContain('{"id":77,"json":"{\\"message\\":\\"fine\\"}"}');
    expect(child.exitCode).toBeNull();
  });

  test("has no access to process.send", async () => {
    const shop = openWorkshop(
      { "a.mjs": "export default () => { process.send?.('ready'); return { message: typeof process.send }; };" },
      { runtime: "trusted" },
    );
    onTestFinished(() => shop.close());
    expect(await shop.run("a.mjs")).toEqual({ message: "undefined" });
  });
});

describe("a plugin in a worker", () => {
  test.each(cases)(
    "that sends %s over the port of its thread has its thread ended with a sentence",
    async (_, value) => {
      const directory = temporary();
      const file = join(directory, "odd.mjs");
      writeFileSync(
        file,
        `import { parentPort } from "node:worker_threads";
       export default { id: "odd", version: "1.0.0", host: "*", setup() { parentPort.postMessage(${JSON.stringify(value)}); } };`,
      );
      const thread = startThread({
        plugin: "odd",
        settings: { source: { name: "odd", file, bundled: false } as never, cacheDirectory: join(directory, "cache") },
        handlers: {},
      });
      onTestFinished(() => thread.end("the test is over"));
      const ended = new Promise<string>((resolve) => thread.onEnd(resolve));
      await thread.peer.ask("load", []);
      thread.peer.ask("setup", [{}]).catch(() => {});
      expect(await ended).toMatch(
        /^its thread sent .*, which is not a valid message; the port of its thread is not for plugins$/,
      );
      await expect(thread.peer.ask("pulse", [{}])).rejects.toMatchObject({ code: "plugin_worker_ended" });
    },
  );
});

test("a plugin thread that sends all kinds of junk 10,000 times ends once, with a sentence", async () => {
  const directory = temporary();
  const file = join(directory, "odd.mjs");
  writeFileSync(
    file,
    `import { parentPort } from "node:worker_threads";
     export default { id: "odd", version: "1.0.0", host: "*", setup() { ${allJunk("parentPort.postMessage(value)")} } };`,
  );
  const settings = { source: { name: "odd", file, bundled: false } as never, cacheDirectory: join(directory, "cache") };
  const thread = startThread({ plugin: "odd", settings, handlers: {} });
  onTestFinished(() => thread.end("the test is over"));
  const reasons: string[] = [];
  thread.onEnd((reason) => reasons.push(reason));
  await thread.peer.ask("load", []);
  await expect(thread.peer.ask("setup", [{}])).rejects.toMatchObject({ code: "plugin_worker_ended" });
  expect(reasons).toEqual([
    "its thread sent null, which is not a valid message; the port of its thread is not for plugins",
  ]);
});

test.each([
  ["of a plugin", "isolation/worker.ts", { source: {}, cacheDirectory: "", callMemory: new SharedArrayBuffer(1_024) }],
  ["of transforms", "transforms/worker.ts", { memoryMb: 64, network: false, meter: new SharedArrayBuffer(1_024) }],
])(
  "a thread %s that receives all kinds of junk from the gateway survives and warns a few times",
  async (_, path, workerData) => {
    const worker = new Worker(source(path), { workerData, stderr: true });
    onTestFinished(async () => void (await worker.terminate()));
    let warned = "";
    worker.stderr.on("data", (chunk) => {
      warned += String(chunk);
    });
    let hasEnded = false;
    worker.on("exit", () => {
      hasEnded = true;
    });
    worker.on("error", () => undefined);
    for (const [, value] of cases) worker.postMessage(value);
    for (let count = 0; count < burst; count += 1) worker.postMessage(null);
    await expect.poll(() => warned).toMatch(/10000|could not be handled|not a valid message/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(hasEnded).toBe(false);
    expect(warned.split("SERVICE_SOURCE_FAULT").length - 1).toBeLessThanOrEqual(25);
  },
);

describe("the state writer", () => {
  test.each(cases.filter(([name]) => name !== "null"))("ends with a sentence when it receives %s", async (_, value) => {
    const directory = temporary();
    const { port1: near, port2: far } = new MessageChannel();
    onTestFinished(() => near.close());
    const failed = new Promise<unknown>((resolve) => {
      const options = {
        directory,
        file: join(directory, "state.db"),
        slowFlushMs: 1_000,
        used: false,
        owner: true,
        isAlone: true,
      };
      serveWrites(far, options, resolve);
    });
    near.postMessage(value);
    expect(await failed).toMatchObject({
      message: expect.stringMatching(/^the store sent .*, which is not a valid message$/),
    });
    near.postMessage(null);
  });

  test("ends once when it receives all kinds of junk 10,000 times", async () => {
    const directory = temporary();
    const { port1: near, port2: far } = new MessageChannel();
    onTestFinished(() => near.close());
    const failures: unknown[] = [];
    const options = {
      directory,
      file: join(directory, "state.db"),
      slowFlushMs: 1_000,
      used: false,
      owner: true,
      isAlone: true,
    };
    serveWrites(far, options, (failure) => failures.push(failure));
    for (const [, value] of cases) if (value !== null) near.postMessage(value);
    for (let count = 0; count < burst; count += 1) near.postMessage(5);
    await expect.poll(() => failures.length).toBeGreaterThan(0);
    near.postMessage(null);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(failures).toHaveLength(1);
  });
});

test.each(cases)("the message checks of the threads reject %s without throwing", (_, value) => {
  for (const check of [asMessage, asReply, asEnded, asReport]) expect(check(value)).toBeUndefined();
  if (value !== null) expect(asRequest(value)).toBeUndefined();
});
