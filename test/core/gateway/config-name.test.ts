import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createGateway } from "../../../core/gateway/index.ts";
import { removeDirectory } from "../../support/directory.ts";

test.each(["gateway.json", "state.json"])(
  "a configuration named %s in the state directory is refused and left as it is",
  async (name) => {
    const directory = mkdtempSync(join(tmpdir(), "config-name-"));
    onTestFinished(() => removeDirectory(directory));
    const configFile = join(directory, name);
    const text = JSON.stringify({ gateway: { port: 0 } });
    writeFileSync(configFile, text);
    const started = createGateway({ configFile, environment: { SERVICE_STATE_DIR: directory } });
    await expect(started).rejects.toThrow(
      expect.objectContaining({ code: "config_name_taken", details: { file: configFile } }),
    );
    expect(readFileSync(configFile, "utf8")).toBe(text);
  },
);
