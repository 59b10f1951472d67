/** `plugins check`: tries whether a plugin can be set up, in a temporary gateway. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { HostError } from "../../contract/errors.ts";
import { product } from "../../contract/product.ts";
import { checkDeclaration } from "../../host/declare.ts";
import { namedPlugin } from "../../host/find.ts";
import { createLoader } from "../../host/load.ts";
import type { PluginDefinition } from "../../sdk/contract.ts";
import type { CommandContext } from "../context.ts";
import { fromGateway, type Listed, showPlugins } from "./plugins.ts";

interface Options {
  /** JSON text. */
  readonly options?: string;
  readonly json?: boolean;
}

export async function checkPlugin(context: CommandContext, [name]: readonly [string], { options, json }: Options): Promise<number> {
  const given = readOptions(options);
  const directory = await mkdtemp(join(tmpdir(), `${product.command}-plugin-`));
  try {
    // A folder in the working directory needs no leading dot.
    const source = namedPlugin(existsSync(resolve(name)) ? resolve(name) : name, process.cwd());
    const loader = createLoader({ cacheDirectory: join(directory, "cache"), fresh: false });
    const definition = checkDeclaration(source.name, await loader.load(source));
    const listed = await tryOut(definition, { file: source.file, options: given, directory, env: context.env });
    if (json === true) context.terminal.json(listed);
    else printChecked(listed, definition, context);
    return listed.state === "up" ? 0 : 1;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function readOptions(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new HostError("usage", { reason: "--options is not JSON: write an object, such as '{ \"size\": 3 }'" });
  }
}

async function tryOut(
  { id }: PluginDefinition,
  {
    file,
    options,
    directory,
    env,
  }: { readonly file: string; readonly options: unknown; readonly directory: string; readonly env: CommandContext["env"] },
): Promise<Listed> {
  const configFile = join(directory, product.configFile);
  const plugins = { load: [file], entries: { [id]: { enabled: true, options } } };
  await writeFile(configFile, JSON.stringify({ gateway: { port: 0 }, state: { dir: "state" }, plugins }));
  const { createGateway } = await import("../../gateway/gateway.ts");
  const gateway = await createGateway({ configFile, environment: env, home: directory });
  try {
    const listed = fromGateway(await gateway.describe()).find((plugin) => plugin.id === id && !plugin.bundled);
    return listed ?? { id, bundled: false, state: "failed", reason: `a plugin that comes with the program has the id ${id} already` };
  } finally {
    await gateway.close();
  }
}

function printChecked(listed: Listed, { channel }: PluginDefinition, { terminal }: CommandContext): void {
  showPlugins([listed], terminal);
  if (listed.state !== "up" || channel === undefined) return;
  terminal.line(terminal.style("dim", `\nIts channel was not opened: that needs channels.${channel.id} in a configuration.`));
}
