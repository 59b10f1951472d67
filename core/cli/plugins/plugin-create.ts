/** `plugins create`: a package for a new plugin, whose tests pass before its author changes anything. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { packageDirectory } from "../../contract/package.ts";
import { product } from "../../contract/product.ts";
import type { CommandContext } from "../context.ts";
import { ownCopy } from "./own-copy.ts";
import { checkPluginName } from "./plugin-name.ts";
import { type PluginKind, type TemplateFile, type Transport, templateFiles } from "./plugin-template.ts";

interface Options {
  readonly kind: PluginKind;
  readonly transport?: Transport;
  readonly dir?: string;
  readonly json?: boolean;
}

export async function createPlugin(
  { terminal }: CommandContext,
  [name]: readonly [string],
  options: Options,
): Promise<number> {
  const { kind, transport, dir, json } = options;
  checkPluginName(name, kind);
  if (transport !== undefined && kind !== "channel")
    throw new HostError("usage", { reason: "--transport is for channels" });
  const directory = resolve(dir ?? name);
  checkUnused(directory);
  const files = templateFiles(kind, name, transport);
  writeAll(directory, files);
  const paths = files.map(({ path }) => path).sort();
  if (json === true) {
    terminal.json({ id: name, kind, directory, files: paths });
    return 0;
  }
  const place = relative(process.cwd(), directory) || ".";
  terminal.line(`Created the ${kind} ${name} in ${place}:\n`);
  for (const path of paths) terminal.line(`  ${path}`);
  terminal.line("\nNext:\n");
  const { install, note } = installing(directory);
  const steps = [...(place === "." ? [] : [`cd ${quoted(place)}`]), install, "npm test"];
  for (const step of steps) terminal.line(`  ${step}`);
  if (note !== undefined) terminal.line(`\n${note}`);
  // It is loaded only where the configuration names it, so its name is free.
  if (existsSync(join(packageDirectory(), "plugins", name)))
    terminal.line(
      `\n${product.packageName} comes with a plugin ${name} already, in plugins/${name}. A gateway loads ` +
        "one of the two.",
    );
  terminal.line("\nREADME.md describes the next steps.");
  return 0;
}

/**
 * The command that installs the package's dependencies, among them this copy of the program, which the registry may not
 * have.
 */
function installing(directory: string): { readonly install: string; readonly note?: string } {
  const copy = ownCopy(packageDirectory());
  if (copy === "registry") return { install: "npm install" };
  if ("tarball" in copy) return { install: `npm install --save-dev ${quoted(relative(directory, copy.tarball))}` };
  const note =
    `FILE is what \`npm pack\` writes in ${copy.folder}, because this copy of ` +
    `${product.packageName} is not from the registry.`;
  return { install: "npm install --save-dev FILE", note };
}

const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function checkUnused(directory: string): void {
  const used = (reason: string) => new HostError("plugin_folder_used", { directory, reason });
  if (!existsSync(directory)) return;
  if (!statSync(directory).isDirectory()) throw used("it is a file");
  if (readdirSync(directory).length > 0) throw used("it is not empty");
}

/** All files or none: they are written aside, and moved when they are complete. */
function writeAll(directory: string, files: readonly TemplateFile[]): void {
  const aside = `.${basename(directory)}-${randomBytes(4).toString("hex")}`;
  const isThere = existsSync(directory);
  const stage = join(isThere ? directory : dirname(directory), aside);
  try {
    for (const { path, text } of files) {
      mkdirSync(dirname(join(stage, path)), { recursive: true });
      writeFileSync(join(stage, path), text);
    }
    if (isThere) {
      for (const entry of readdirSync(stage)) renameSync(join(stage, entry), join(directory, entry));
      rmSync(stage, { recursive: true });
    } else renameSync(stage, directory);
  } catch (error) {
    rmSync(stage, { recursive: true, force: true });
    throw new HostError("plugin_not_created", { directory, reason: reasonOf(error) }, { cause: error });
  }
}
