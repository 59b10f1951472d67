/** What the management routes answer stays what it is without the secrets in its texts. */
import { expect, test } from "vitest";
import { cleaner } from "../../../core/gateway/report.ts";
import { createRedactor } from "../../../core/log/index.ts";

test("secrets equal to JSON words or field names leave a response intact", () => {
  const clean = cleaner({ redact: createRedactor(() => ["1", "null", "true", "failed", "SeCrEt-key-1"]) });
  expect(clean({ ok: true, stats: { failed: 1, last: null }, error: "the key SeCrEt-key-1 is refused" })).toEqual({
    ok: true,
    stats: { failed: 1, last: null },
    error: "the key [secret] is refused",
  });
});
