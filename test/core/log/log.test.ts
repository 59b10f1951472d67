/**
 * A line of the log remains JSON whatever a secret is: local model servers take any key, and people write `1` or
 * `null`.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { createLog } from "../../../core/log/index.ts";

const secrets = ["1", "30", "null", "true", "904417735502", "SeCrEt-key-1"];

test("a secret equal to a number or a JSON word leaves the line readable", async ({ expect }) => {
  const directory = mkdtempSync(join(tmpdir(), "log-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "gateway.log");
  const { log, close } = createLog({ level: "info", secrets: () => secrets, print: "none", file });
  log.info({ count: 1, to: null, ok: true, id: 904417735502, at: 9044177355029, key: ["SeCrEt-key-1"] }, "a line");
  close();
  const line = await vi.waitFor(() => JSON.parse(readFileSync(file, "utf8")) as object, { interval: 5 });
  expect(line).toEqual({
    level: 30,
    time: expect.any(Number),
    count: 1,
    to: null,
    ok: true,
    id: "[secret]",
    at: 9044177355029,
    key: ["[secret]"],
    msg: "a line",
  });
});
