import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSecrets } from "../../../core/config/secrets.ts";
import { temporary, thrownBy } from "./fixture.ts";

test("a secret comes from text, a variable or a file beside the configuration, and each value is remembered", () => {
  const directory = temporary();
  writeFileSync(join(directory, "token"), "from-file\n");
  const secrets = createSecrets({ env: { TOKEN: "from-env" }, directory });
  expect(secrets.resolve("plain", "a")).toBe("plain");
  expect(secrets.resolve({ env: "TOKEN" }, "b")).toBe("from-env");
  expect(secrets.resolve({ file: "token" }, "c")).toBe("from-file");
  expect(secrets.resolve({ file: join(directory, "token") }, "c")).toBe("from-file");
  expect([...secrets.values()]).toEqual(["plain", "from-env", "from-file"]);
});

test("a file is read again each time, so that a rotated secret applies; the old value stays redacted", () => {
  const directory = temporary();
  const secrets = createSecrets({ env: {}, directory });
  writeFileSync(join(directory, "token"), "first");
  secrets.resolve({ file: "token" }, "a");
  writeFileSync(join(directory, "token"), "second");
  expect(secrets.resolve({ file: "token" }, "a")).toBe("second");
  expect([...secrets.values()]).toEqual(["first", "second"]);
});

test.each([
  ["an unset variable", { env: "NOPE" }, "NOPE"],
  ["an empty variable", { env: "EMPTY" }, "EMPTY"],
  ["a variable's name that is only inherited", { env: "toString" }, "toString"],
  ["a missing file", { file: "nope" }, "nope"],
  ["an empty file", { file: "empty" }, "is empty"],
  ["a directory", { file: "dir" }, "not a file"],
  ["a huge file", { file: "huge" }, "larger"],
  ["an empty text", "", "empty"],
  ["a blank text", " \t\n", "blank"],
  ["another shape", { enw: "X" }, "must be"],
  ["a number", 5, "must be"],
])("%s is an error that names the key", async (_name, value, reason) => {
  const directory = temporary();
  writeFileSync(join(directory, "empty"), " \n");
  writeFileSync(join(directory, "huge"), "x".repeat(70_000));
  mkdirSync(join(directory, "dir"));
  const secrets = createSecrets({ env: { EMPTY: " " }, directory });
  const error = await thrownBy(() => secrets.resolve(value, "hooks.token"));
  expect(error.code).toBe("secret_unavailable");
  expect(error.message).toContain("hooks.token");
  expect(error.message).toContain(reason);
  expect([...secrets.values()]).toEqual([]);
});
