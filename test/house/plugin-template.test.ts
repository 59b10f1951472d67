import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { templateFiles } from "../../core/cli/plugins/plugin-template.ts";
import { root } from "./sources.ts";

const folder = "examples/plugin-template";

describe("examples/plugin-template", () => {
  test("is what `plugins create acme-chat --kind channel` writes: after a change, write it with `vitest run test/house -u`", async () => {
    for (const { path, text } of templateFiles("channel", "acme-chat")) await expect(text).toMatchFileSnapshot(join(root, folder, path));
  });

  test("has no other files", () => {
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], { cwd: root, encoding: "utf8" });
    const written = templateFiles("channel", "acme-chat").map(({ path }) => `${folder}/${path}`);
    expect(listed.trim().split("\n").sort()).toEqual(written.sort());
  });
});
