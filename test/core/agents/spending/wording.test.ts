import { expect, test } from "vitest";
import { renderAmount, renderShare } from "../../../../core/agents/spending/wording.ts";

test.each([
  [0, "0 tokens"],
  [999, "999 tokens"],
  [1_000, "1,000 tokens"],
  [1_234_567.4, "1,234,567 tokens"],
])("%d is written as %s", (amount, text) => {
  expect(renderAmount(amount, "tokens")).toBe(text);
});

test("a share shows its unit once", () => {
  expect(renderShare(12_000, 50_000, "tokens")).toBe("12,000 of 50,000 tokens");
  expect(renderShare(0.0123, 2, "usd")).toBe("$0.0123 of $2.00");
});
