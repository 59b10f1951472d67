/** The helper through which every message of others is handled. */
import { EventEmitter } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createSourceFaultLog,
  messageHandler,
  onEvent,
  onMessage,
  type SourceFault,
} from "../../../core/listeners/index.ts";
import { junk } from "../../support/junk.ts";

const asGood = (value: unknown) =>
  typeof value === "object" && value !== null && "good" in value ? (value as { good: unknown }) : undefined;

function openPort() {
  const { port1, port2 } = new MessageChannel();
  const faults: SourceFault[] = [];
  const handled: unknown[] = [];
  onTestFinished(() => port1.close());
  const listen = (handle: (message: { good: unknown }) => unknown) =>
    onMessage(port1, "message", {
      source: "the other side",
      check: asGood,
      handle,
      fault: (fault) => faults.push(fault),
    });
  return { far: port2, faults, handled, listen };
}

describe("a message from another thread", () => {
  test.each(Object.entries(junk))(
    "that is %s is a fault of its source, and the next message is handled",
    async (_, value) => {
      const { far, faults, handled, listen } = openPort();
      listen(({ good }) => handled.push(good));
      far.postMessage(value);
      far.postMessage({ good: 1 });
      await expect.poll(() => handled).toEqual([1]);
      expect(faults).toEqual([
        { source: "the other side", kind: "shape", event: "message", reason: expect.any(String) },
      ]);
      // The content may be a secret, and 1 MB of it fills a log.
      expect(faults[0]?.reason.length).toBeLessThan(300);
    },
  );

  test.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no"))],
    [
      "throws a value that is not an error",
      () => {
        throw null;
      },
    ],
  ])("with a handler that %s is a fault of its source and ends nothing", async (_, handle) => {
    const { far, faults, listen } = openPort();
    listen(handle);
    far.postMessage({ good: 1 });
    far.postMessage({ good: 2 });
    await expect.poll(() => faults.map(({ kind }) => kind)).toEqual(["handler", "handler"]);
  });

  test("is no longer handled after the end", async () => {
    const emitter = new EventEmitter();
    const handled: unknown[] = [];
    const stop = onMessage(emitter, "message", {
      source: "x",
      check: asGood,
      handle: (message) => handled.push(message),
    });
    emitter.emit("message", { good: 1 });
    stop();
    emitter.emit("message", { good: 2 });
    expect(handled).toEqual([{ good: 1 }]);
  });

  test("is checked even among 10,000 at once, and the log has one line per power of ten", () => {
    const lines: string[] = [];
    const hear = messageHandler("note", {
      ...{ source: "a node", check: asGood, handle() {} },
      fault: createSourceFaultLog({
        warn: (fields, message) => lines.push(`${(fields as { count: number }).count} ${message}`),
      }),
    });
    for (let number = 0; number < 10_000; number += 1) hear(null);
    expect(lines).toEqual(
      [1, 10, 100, 1_000, 10_000].map((count) => `${count} a node sent null, which is not a valid note`),
    );
  });
});

test("an event with a handler that throws is a fault of its source, reported once for `once`", () => {
  const emitter = new EventEmitter();
  const faults: SourceFault[] = [];
  const handle = () => {
    throw new Error("no");
  };
  onEvent(emitter, "close", { source: "a client", handle, once: true, fault: (fault) => faults.push(fault) });
  emitter.emit("close");
  emitter.emit("close");
  expect(faults).toMatchObject([{ source: "a client", kind: "handler", event: "close", reason: "no" }]);
});

test("a fault whose report throws ends nothing", () => {
  const hear = messageHandler("note", {
    ...{ source: "a node", check: asGood, handle() {} },
    fault() {
      throw new Error("the log is away");
    },
  });
  expect(() => hear(null)).not.toThrow();
});
