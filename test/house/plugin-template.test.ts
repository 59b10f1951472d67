import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Transport, templateFiles } from "../../core/cli/plugins/plugin-template.ts";
import { findCode } from "../../core/contract/index.ts";
import { root } from "./sources.ts";

const folders: readonly (readonly [folder: string, transport: Transport])[] = [
  ["examples/plugin-template", "poll"],
  ["examples/plugin-template-lines", "lines"],
];

describe.each(folders)("%s", (folder, transport) => {
  test(
    `is what \`plugins create acme-chat --kind channel --transport ${transport}\` writes: after a ` +
      `change, write it with \`vitest run test/house -u\``,
    async () => {
      for (const { path, text } of templateFiles("channel", "acme-chat", transport))
        await expect(text).toMatchFileSnapshot(join(root, folder, path));
    },
  );

  test("throws only codes that the gateway documents", () => {
    const thrown = templateFiles("channel", "acme-chat", transport).flatMap(({ text }) => [
      ...text.matchAll(/new ChannelError\("(\w+)"/g),
    ]);
    expect(thrown.map(([, code = ""]) => code).filter((code) => findCode(code) === undefined)).toEqual([]);
  });

  test("contains no other files", () => {
    const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
      cwd: root,
      encoding: "utf8",
    });
    const written = templateFiles("channel", "acme-chat", transport).map(({ path }) => `${folder}/${path}`);
    expect(listed.trim().split("\n").sort()).toEqual(written.sort());
  });
});
