import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { bundledSchemas } from "../../../core/cli/reference.ts";
import { renderReference } from "../../../core/config/showing/reference.ts";

test("README.md holds every key as the schemas have it (written by `node core/cli/reference.ts`)", async () => {
  const readme = readFileSync(new URL("../../../core/config/README.md", import.meta.url), "utf8");
  // The formatter aligns the columns; that is no difference.
  const plain = (text: string) =>
    text
      .replace(/ *\| */g, "|")
      .replace(/-{3,}/g, "---")
      .replace(/\n{2,}/g, "\n");
  expect(plain(renderReference(readme, await bundledSchemas()))).toBe(plain(readme));
  for (const key of [
    "hooks.mappings[].signature.secret",
    "channels.<id>.groups.<name>.topics.<name>.skills",
    "agents.list[].heartbeat.every",
    "agents.list[].mcpServers.<name>.command",
    "schedules.<name>.cron",
    "hooks.gmail.accounts.<name>.credentials",
  ]) {
    expect(readme).toContain(`\`${key}\``);
  }
});
