/** `plugins outdated`: which added plugins have a newer version in the registry. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import compare from "semver/functions/compare.js";
import satisfies from "semver/functions/satisfies.js";
import { programCommand } from "../../../contract/command.ts";
import { HostError } from "../../../contract/errors.ts";
import { packageVersion } from "../../../contract/package.ts";
import { product } from "../../../contract/product.ts";
import { type InstalledPlugin, installedPlugins } from "../../../host/installed.ts";
import type { CommandContext } from "../../context.ts";
import { createStop } from "../../output/stop.ts";
import { askRegistry, type NpmPlace } from "../package/fetch-package.ts";

interface Row {
  readonly name: string;
  readonly version: string;
  readonly from: string;
  /** Of the registry; absent for a plugin from a file, which may have the name of another package there. */
  readonly latest?: string;
  readonly outdated: boolean;
  /** The range of this program that the latest version needs, if this is not in it. */
  readonly requires?: string;
  /** Why it is unknown. */
  readonly error?: string;
}

export async function listOutdated(
  context: CommandContext,
  _: readonly [],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { terminal, configFile, env } = context;
  const plugins = Object.entries(installedPlugins(dirname(resolve(configFile.file))));
  // npm runs in a folder of its own, because a package.json of the user's could change what it asks.
  const directory = await mkdtemp(join(tmpdir(), `${product.command}-outdated-`));
  const stop = createStop();
  try {
    const place = { directory, env, signal: stop.signal() };
    const rows: Row[] = [];
    for (const [name, installed] of plugins) {
      if (json !== true && installed.from === "registry") terminal.note(`Asking the registry for ${name} ...`);
      rows.push(await rowOf(name, installed, place));
    }
    if (json === true) terminal.json({ plugins: rows });
    else show(rows, context);
    return rows.some(({ error }) => error !== undefined) ? 1 : 0;
  } finally {
    stop.forget();
    await rm(directory, { recursive: true, force: true });
  }
}

async function rowOf(
  name: string,
  { version, from }: InstalledPlugin,
  place: NpmPlace & { readonly directory: string },
): Promise<Row> {
  const base = { name, version, from, outdated: false };
  if (from !== "registry") return base;
  try {
    const { version: latest, peers } = await askRegistry({ name, version: undefined }, place);
    const range = peers[product.packageName];
    const fits = range === undefined || satisfies(packageVersion(), range);
    return { ...base, latest, outdated: compare(latest, version) > 0, ...(fits ? {} : { requires: range }) };
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "npm_failed") throw error;
    return { ...base, error: error.message };
  }
}

function show(rows: readonly Row[], { terminal }: CommandContext): void {
  if (rows.length === 0) terminal.line("`plugins add` has not added a plugin.");
  terminal.table(
    rows.map(({ name, version, from, latest, outdated, requires, error }) => {
      if (error !== undefined) return [terminal.style("bold", name), version, error];
      if (latest === undefined)
        return [terminal.style("bold", name), version, `from ${from}: the registry is not asked`];
      if (!outdated) return [terminal.style("bold", name), version, "is the latest"];
      const needs = requires === undefined ? "" : `, which requires ${product.packageName} ${requires}`;
      return [terminal.style("bold", name), version, `${latest} is available${needs}`];
    }),
  );
  const first = rows.find(({ outdated, requires }) => outdated && requires === undefined);
  if (first !== undefined) terminal.line(`\nTo update: \`${programCommand} plugins add ${first.name}\``);
}
