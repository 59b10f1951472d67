import { expect, test } from "vitest";
import type { Json } from "../../../core/contract/index.ts";
import { deletedBody, readDeleted, readEdited, withEdit } from "../../../core/state/writer-changes.ts";

const name = { chat: "1", sender: "2", messageId: "3" };
const edit = { key: "edit-1", body: { text: "after" } };

test("a deletion and an edit are read as they were written, and a deleted message takes no edit", () => {
  expect(readDeleted(deletedBody(name))).toEqual(name);
  expect(readEdited(withEdit({ text: "before" }, edit) ?? null)).toEqual({
    original: { text: "before" },
    edits: [edit],
  });
  expect(withEdit(deletedBody(name), edit)).toBeUndefined();
});

test.each<Json>([
  null,
  "$deleted",
  { $deleted: null },
  { $deleted: 7 },
  { $deleted: { chat: "1" } },
  { $deleted: name, text: "hello" },
  { $edited: null },
  { $edited: [] },
  { $edited: { original: {}, edits: "none" } },
  { $edited: { original: {}, edits: [] }, text: "hello" },
])("an event of a platform that looks like one of them, such as %j, stays what it is", (body) => {
  expect([readDeleted(body), readEdited(body)]).toEqual([undefined, undefined]);
  expect(readEdited(withEdit(body, edit) ?? null)?.original).toEqual(body);
});
