/** The files of a new plugin, made of the texts in `templates`: those of its kind, and those that all kinds have. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageDirectory } from "../../contract/package.ts";
import { product, sdkVersion } from "../../contract/product.ts";
import { wordsOf } from "./plugin-name.ts";

/** What `plugins create` can write. */
export type PluginKind = "channel" | "engine" | "preset" | "plugin" | "transform";

/** How a channel reaches its platform: by asking it for events over HTTP, or over a connection of lines. */
export type Transport = "poll" | "lines";

export interface TemplateFile {
  /** Below the package, with `/`. */
  readonly path: string;
  readonly text: string;
}

const templates = join(import.meta.dirname, "templates");
/** Keeps compilers, linters and npm from taking a template for what it will become. */
const ending = ".txt";

export function templateFiles(kind: PluginKind, name: string, transport: Transport = "poll"): readonly TemplateFile[] {
  const values = valuesOf(kind, name);
  const folders = ["common", kind, ...(kind === "channel" ? [`channel-${transport}`] : [])];
  return folders.flatMap((folder) =>
    // Names that begin with a dot have to be asked for.
    globSync([`**/*${ending}`, `**/.*${ending}`, `.*/**/*${ending}`], { cwd: join(templates, folder) })
      .map((path) => path.replaceAll("\\", "/"))
      .sort()
      .map((path) => ({
        path: fill(path.slice(0, -ending.length), values),
        text: fill(readFileSync(join(templates, folder, path), "utf8"), values),
      })),
  );
}

/** Replaces `{{name}}`; what has spaces inside is a template of the plugin's own. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{([a-z]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`a template names ${name}, which has no value`);
    return value;
  });
}

/** This package's own versions: what it is built and tested with is what a new plugin begins with. */
function valuesOf(kind: PluginKind, name: string): Readonly<Record<string, string>> {
  const own = JSON.parse(readFileSync(join(packageDirectory(), "package.json"), "utf8")) as {
    readonly version: string;
    readonly engines: { readonly node: string };
    readonly devDependencies: Readonly<Record<"@types/node" | "typescript" | "vitest", string>>;
  };
  return {
    ...wordsOf(name),
    ...entryOf(kind, name),
    kind,
    article: kind === "engine" ? "an" : "a",
    package: product.packageName,
    version: own.version,
    sdk: sdkVersion,
    node: own.engines.node,
    types: own.devDependencies["@types/node"],
    typescript: own.devDependencies.typescript,
    vitest: own.devDependencies.vitest,
  };
}

function entryOf(kind: PluginKind, name: string) {
  const program = product.packageName;
  const plugin = { source: "src", entry: "src/index.ts", check: `${program} plugins check --strict` };
  if (kind === "transform") {
    const dev = `${program} transforms test ${name}.ts test/delivery.json --config dev.jsonc`;
    return { source: "transforms", entry: `transforms/${name}.ts`, check: dev, dev };
  }
  // A channel brings a platform of its own; the others are tried in the chat of the playground.
  if (kind === "channel") return { ...plugin, dev: "node dev.ts" };
  return { ...plugin, dev: `${program} dev . --state .dev` };
}
