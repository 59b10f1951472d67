import { expect, test } from "vitest";
import { fitButtons } from "../../../core/channels/index.ts";

const button = (text: string, value = text) => ({ text, value });

test("long rows are divided and long labels cut, whole characters only", () => {
  const rows = [["a", "b", "c"].map((text) => button(text)), [button("😀😀😀😀", "v")]];
  expect(fitButtons(rows, { perRow: 2, labelChars: 3 })).toEqual({
    rows: [[button("a"), button("b")], [button("c")], [button("😀😀…", "v")]],
  });
});

test.each([
  [{ perMessage: 2 }, "shows at most 2 buttons, not 3"],
  [{ valueBytes: 3 }, "takes at most 3 bytes as the value of a button"],
])("buttons beyond %j are not shown in part: there are none, and the reason", (limits, problem) => {
  expect(fitButtons([[button("a"), button("b", "éé")], [button("c")]], limits)).toEqual({ problem });
});

test("without limits nothing changes, and the empty row that removes buttons stays", () => {
  const rows = [[button("x".repeat(500), "v".repeat(500))]];
  for (const none of [true, false, undefined]) expect(fitButtons(rows, none)).toEqual({ rows });
  expect(fitButtons([[]], { perRow: 1, perMessage: 1 })).toEqual({ rows: [[]] });
});
