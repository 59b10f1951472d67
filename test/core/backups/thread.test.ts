/** The thread of a backup as the gateway sees it: what it sends, and how it ends. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { answerOf } from "../../../core/backups/thread.ts";
import { feedJunk } from "../../support/junk.ts";

const never = new AbortController().signal;

test("junk of the thread is no answer, and a result after it is", async () => {
  const thread = new EventEmitter();
  const answer = answerOf(thread, never);
  await feedJunk({ send: (value) => thread.emit("message", value), works: () => thread.listenerCount("message") });
  thread.emit("message", { type: "done", bytes: "many", files: 1, torn: 0, skipped: 0 });
  const done = { type: "done", bytes: 5, files: 1, torn: 0, skipped: 0 };
  thread.emit("message", done);
  expect(await answer).toEqual(done);
});

test("a thread that throws, ends early or takes too long has failed, with its reason", async () => {
  const failure = async (end: (thread: EventEmitter) => void, signal = never) => {
    const thread = new EventEmitter();
    const answer = answerOf(thread, signal);
    end(thread);
    return await answer;
  };
  expect(await failure((thread) => thread.emit("error", new Error("out of memory")))).toEqual({
    type: "failed",
    reason: "out of memory",
  });
  expect(await failure((thread) => thread.emit("exit", 1))).toMatchObject({ type: "failed" });
  expect(await failure(() => {}, AbortSignal.abort(new Error("the gateway closes")))).toEqual({
    type: "failed",
    reason: "the gateway closes",
  });
});
