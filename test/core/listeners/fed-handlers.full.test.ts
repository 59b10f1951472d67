/** Real sources that send what is no message of theirs: only that source fails, with a sentence. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { asMessage } from "../../../core/isolation/peer.ts";
import { startThread } from "../../../core/isolation/plugin-thread.ts";
import { asReply, asRequest } from "../../../core/state/sqlite/thread/check-messages.ts";
import { serveWrites } from "../../../core/state/sqlite/thread/serve-writes.ts";
import { asEnded, asReport } from "../../../core/transforms/check-report.ts";
import { openWorkshop } from "../transforms/workshop.ts";
import { junk } from "./junk.ts";

const cases = Object.entries(junk);

function temporary(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "fed-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe("a trusted transform", () => {
  test.each(cases)("that sends %s over the channel of its process: only that call fails, and it is named", async (_, value) => {
    // `process.send` is not there for modules; this is what is below it.
    const shop = openWorkshop(
      {
        "a.mjs": `export const odd = async () => { process._send(${JSON.stringify(value)}); await new Promise((r) => setTimeout(r, 5_000)); };
        export default async () => { await new Promise((r) => setTimeout(r, 100)); return { message: "fine" }; };`,
      },
      { runtime: "trusted", timeoutSeconds: 20 },
    );
    onTestFinished(() => shop.close());
    const beside = shop.run("a.mjs");
    const fault = await shop.fault("a.mjs", {}, "odd");
    expect(fault).toMatchObject({ kind: "exit", message: expect.stringMatching(/^Its process sent .*, which is not a valid message$/) });
    expect(await beside).toEqual({ message: "fine" });
  });

  test("finds no process.send", async () => {
    const shop = openWorkshop(
      { "a.mjs": "export default () => { process.send?.('ready'); return { message: typeof process.send }; };" },
      { runtime: "trusted" },
    );
    onTestFinished(() => shop.close());
    expect(await shop.run("a.mjs")).toEqual({ message: "undefined" });
  });
});

describe("a plugin in a worker", () => {
  test.each(cases)("that sends %s over the port of its thread: its thread ends with a sentence", async (_, value) => {
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
    expect(await ended).toMatch(/^its thread sent .*, which is not a valid message; the port of its thread is not for plugins$/);
    await expect(thread.peer.ask("pulse", [{}])).rejects.toMatchObject({ code: "plugin_worker_ended" });
  });
});

describe("the writer of the state", () => {
  test.each(cases.filter(([name]) => name !== "null"))("that is sent %s ends with a sentence", async (_, value) => {
    const directory = temporary();
    const { port1: near, port2: far } = new MessageChannel();
    onTestFinished(() => near.close());
    const failed = new Promise<unknown>((resolve) => {
      const options = { directory, file: join(directory, "state.db"), slowFlushMs: 1_000, used: false, owner: true, isAlone: true };
      serveWrites(far, options, resolve);
    });
    near.postMessage(value);
    expect(await failed).toMatchObject({ message: expect.stringMatching(/^the store sent .*, which is not a valid message$/) });
    near.postMessage(null);
  });
});

test.each(cases)("no check of the threads takes %s for a message, or throws", (_, value) => {
  for (const check of [asMessage, asReply, asEnded, asReport]) expect(check(value)).toBeUndefined();
  if (value !== null) expect(asRequest(value)).toBeUndefined();
});
