/** Texts made to cost the emulated platform more than their length. */
import { describe, test } from "vitest";
import { cleanText, detectEntities } from "../../../plugins/playground/platform/entities.ts";
import { parseHtml } from "../../../plugins/playground/platform/parse.ts";
import { expectLinear } from "../../support/linear.ts";

const parts = [
  "&",
  "&#x",
  "&lt;",
  "#a ",
  "@abc ",
  "/a ",
  "a@b.com ",
  "http://a.b ",
  "<b>a</b>",
  "<code>a</code><b>b</b>",
  '<a href="http://a.b">a</a>',
];

describe("the cost of a text grows linearly with its length", () => {
  test.each(parts)("%j", async (part) => {
    const read = (text: string) => detectEntities(parseHtml(cleanText(text), () => undefined));
    await expectLinear(read, (length) => part.repeat(length / part.length), { size: 50_000, times: 15 });
  });
});
