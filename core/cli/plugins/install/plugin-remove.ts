/** `plugins remove`: takes a plugin that `plugins add` has installed out of the configuration, and off the disk. */
import { dirname, resolve } from "node:path";
import { programCommand } from "../../../contract/command.ts";
import { HostError } from "../../../contract/errors.ts";
import { mayRun, sync } from "../../config.ts";
import type { CommandContext } from "../../context.ts";
import { openInstalls } from "./installs.ts";
import { unload } from "./load-list.ts";
import { namingPlaces } from "./naming-places.ts";

export async function removePlugin(
  context: CommandContext,
  [given]: readonly [string],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { file } = context.configFile;
  await sync(context);
  const installs = openInstalls(dirname(resolve(file)));
  try {
    const plugins = installs.plugins();
    const [name] =
      Object.entries(plugins).find(([one]) => one === given) ??
      Object.entries(plugins).find(([, { declares }]) => declares.id === given) ??
      [];
    const installed = name === undefined ? undefined : plugins[name];
    if (name === undefined || installed === undefined) {
      const { load } = (await context.load()).config.plugins;
      const known = Object.keys(plugins).join(", ") || "none";
      throw new HostError("plugin_not_installed", {
        plugin: given,
        fix: load.includes(given) ? `Remove it from plugins.load in ${file} by hand.` : `Added plugins: ${known}.`,
      });
    }
    // In this order, so that a configuration never names what is gone.
    await unload(name, context);
    installs.forget(name);
    const running = await mayRun(context.gateway);
    if (!running) installs.clean();
    const places = namingPlaces((await context.load()).written, installed.declares);
    if (json === true) {
      context.terminal.json({ ok: true, name, version: installed.version, file, places, restart: running });
      return 0;
    }
    context.terminal.line(`Removed ${name} ${installed.version} from plugins.load of ${file}.`);
    if (places.length > 0) {
      context.terminal.line("The configuration still names it, without effect:");
      for (const place of places) context.terminal.line(`  ${place}`);
    }
    if (running) context.terminal.line(`The running gateway uses it until a restart: \`${programCommand} restart\`.`);
    return 0;
  } finally {
    installs.close();
  }
}
