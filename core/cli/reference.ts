/**
 * Writes the tables of keys in `core/config/README.md`: those of the gateway and of the bundled plugins. Run `node
 * core/cli/reference.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PluginSchemas } from "../config/plugin-schemas.ts";
import { renderReference } from "../config/showing/reference.ts";
import { schemasOf } from "../host/declaration/schemas.ts";
import { checkDeclaration } from "../host/declare.ts";
import { bundledPlugins } from "../host/find.ts";
import { createLoader } from "../host/load.ts";

/** What the bundled plugins declare of the configuration. */
export async function bundledSchemas(): Promise<PluginSchemas> {
  const loader = createLoader({ cacheDirectory: join(tmpdir(), "service-reference"), fresh: false });
  return schemasOf(
    await Promise.all(bundledPlugins().map(async (source) => checkDeclaration(source.name, await loader.load(source)))),
  );
}

if (import.meta.main) {
  const file = fileURLToPath(new URL("../config/README.md", import.meta.url));
  writeFileSync(file, renderReference(readFileSync(file, "utf8"), await bundledSchemas()));
}
