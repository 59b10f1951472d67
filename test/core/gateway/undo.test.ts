import { expect, test } from "vitest";
import { createUndo } from "../../../core/gateway/undo.ts";

test("a step that fails keeps none of the others from being undone, and is told", async () => {
  const done: string[] = [];
  const undo = createUndo();
  undo.add(() => void done.push("lock"));
  undo.add(async () => {
    throw new Error("the server does not close");
  });
  undo.add(() => void done.push("timer"));
  await expect(undo.run()).rejects.toThrow("the server does not close");
  expect(done).toEqual(["timer", "lock"]);
});
