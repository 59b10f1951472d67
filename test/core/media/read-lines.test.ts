/** Lines of a stream: a flood of them leaves room for everything else. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { SourceFault } from "../../../core/listeners/index.ts";
import { readLines } from "../../../core/media/read-lines.ts";

const options = { source: "the server", maxChars: 100, onTooLong() {} };

/** A stream, and its lines. */
function open(more: Partial<Parameters<typeof readLines>[2]> = {}, onLine: (line: string) => void = () => {}) {
  const stream = new PassThrough();
  const lines: string[] = [];
  const read = (line: string) => {
    lines.push(line);
    onLine(line);
  };
  readLines(stream.setEncoding("utf8"), read, { ...options, ...more });
  return { stream, lines };
}

/** Computes for a millisecond. */
function work(): void {
  for (const end = performance.now() + 1; performance.now() < end; );
}

test("lines that arrive at once do not hold up the event loop for longer than a slice", async () => {
  let inTurn = 0;
  let most = 0;
  const { stream, lines } = open({}, () => {
    work();
    inTurn += 1;
    most = Math.max(most, inTurn);
  });
  const turns = setInterval(() => {
    inTurn = 0;
  }, 0);
  for (let piece = 0; piece < 4; piece += 1) stream.write("line\n".repeat(50));
  await expect.poll(() => lines.length).toBe(200);
  clearInterval(turns);
  // Ten of one millisecond, or twice as many where a timer was not due yet.
  expect(most).toBeLessThanOrEqual(25);
});

test("the sender waits while there is no room, and no line is lost or overtaken", async () => {
  let room = Promise.withResolvers<void>();
  let isFull = false;
  const { stream, lines } = open({ room: () => (isFull ? room.promise : undefined) }, () => {
    isFull = lines.length % 3 === 0;
  });
  const sent = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  for (const line of sent) stream.write(`${line}\n`);
  for (let count = 3; count <= 30; count += 3) {
    await expect.poll(() => lines.length).toBe(count);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([lines.length, stream.isPaused()]).toEqual([count, count < sent.length]);
    isFull = false;
    room.resolve();
    room = Promise.withResolvers();
  }
  expect(lines).toEqual(sent);
});

test("a line that cannot be handled is a fault of the source, and what arrived behind it is handled", async () => {
  const faults: SourceFault[] = [];
  const { stream, lines } = open({ fault: (fault) => void faults.push(fault) }, (line) => {
    if (line === "bad") throw new Error("no such command");
  });
  stream.write("one\nbad\ntwo\nbad\nthr");
  stream.write("ee\n");
  await expect.poll(() => lines).toEqual(["one", "bad", "two", "bad", "three"]);
  expect(faults.map(({ source, reason }) => `${source}: ${reason}`)).toEqual(
    Array(2).fill("the server: no such command"),
  );
});

test("an overlong line is reported once", async () => {
  let count = 0;
  const { stream, lines } = open({ onTooLong: () => (count += 1) });
  stream.write(`one\n${"x".repeat(200)}\ntwo\n`);
  stream.write("three\n");
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([lines, count]).toEqual([["one"], 1]);
});
