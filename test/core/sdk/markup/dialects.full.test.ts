import { describe, test } from "vitest";
import { expectComplete, shownDialects } from "./complete.ts";

describe("2,000 random texts are shown completely, within the limit, and notify no one", () => {
  test.each(shownDialects)("%s", (dialect) => expectComplete(dialect, 2_000), 120_000);
});
