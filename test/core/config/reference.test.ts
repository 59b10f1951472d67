import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderReference } from "../../../core/config/showing/reference.ts";

test("README.md holds every key as the schema has it (written by `node core/config/showing/reference.ts`)", () => {
  const readme = readFileSync(new URL("../../../core/config/README.md", import.meta.url), "utf8");
  // The formatter aligns the columns; that is no difference.
  const plain = (text: string) =>
    text
      .replace(/ *\| */g, "|")
      .replace(/-{3,}/g, "---")
      .replace(/\n{2,}/g, "\n");
  expect(plain(renderReference(readme))).toBe(plain(readme));
  for (const key of [
    "hooks.mappings[].signature.secret",
    "channels.<id>.groups.<name>.topics.<name>.skills",
    "agents.list[].heartbeat.every",
  ]) {
    expect(readme).toContain(`\`${key}\``);
  }
});
