/** The section of a preset in the configuration. Commands of its plugin can read and change this section only. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { getPath } from "../../config/path.ts";
import type { LoadedConfig } from "../../config/reading/load.ts";
import { HostError } from "../../contract/errors.ts";
import type { Json } from "../../contract/types.ts";
import { compileHooks } from "../../gateway/hook-problems.ts";
import type { CliCall } from "../../sdk/contract.ts";
import { parseBasePath } from "../../webhooks/mapping/address.ts";
import type { CommandContext } from "../context.ts";
import { hookToken, newSecret, secretDirectory, writeSecret } from "../new-secret.ts";
import { type Declared, readyPlugins } from "./declarations.ts";
import type { OwnConfiguration } from "./own-configuration.ts";

type CliPreset = ReturnType<CliCall["preset"]>;

export function openPreset(context: CommandContext, id: string, own: OwnConfiguration): CliPreset {
  const { configFile, env } = context;
  const { load, loadAll, edit, secrets } = own;
  return {
    async settings() {
      const { checkable } = await load();
      return getPath(checkable.hooks, [id]) as Json | undefined;
    },
    secret: (value, key) => secrets.resolve(value, `hooks.${id}.${key}`),
    async token() {
      const { token } = (await load()).checkable.hooks;
      if (token === undefined)
        throw new HostError("secret_unavailable", { path: "hooks.token", reason: "it is not set" });
      return secrets.resolve(token, "hooks.token");
    },
    hooks: async () => await hooksOf(id, { ...(await loadAll()), env }),
    set: (path, value) => edit(["hooks", id, ...path], value),
    async enableHooks() {
      const { checkable } = await load();
      const { token, enabled } = checkable.hooks;
      // Written before the server is enabled, because an enabled server without a token is an error.
      const tokenFile =
        token === undefined
          ? writeSecret(
              newSecret(secretDirectory(dirname(configFile.file), await context.stateDirectory()), hookToken()),
            )
          : undefined;
      if (tokenFile !== undefined) await edit(["hooks", "token"], { file: tokenFile }).catch(withoutFile(tokenFile));
      if (!enabled) await edit(["hooks", "enabled"], true);
      return { changed: !enabled, tokenFile };
    },
  };
}

async function hooksOf(
  id: string,
  {
    loaded,
    declared,
    env,
  }: { readonly loaded: LoadedConfig; readonly declared: readonly Declared[]; readonly env: CommandContext["env"] },
): ReturnType<CliPreset["hooks"]> {
  const { checkable } = loaded;
  const { hooks } = checkable;
  const plugins = readyPlugins(declared);
  const preset = plugins.flatMap(({ presets = [] }) => presets).find((one) => one.id === id);
  const base = {
    enabled: hooks.enabled,
    hasToken: hooks.token !== undefined,
    path: `${parseBasePath(hooks.path) ?? ""}/${preset?.path ?? id}`,
  };
  if (preset === undefined) return base;
  // An account brings its preset along, so the check includes the preset as if it were enabled.
  const presets = hooks.presets.includes(id) ? hooks.presets : [...hooks.presets, id];
  const { table } = await compileHooks(plugins, loaded, env, {
    config: { ...checkable, hooks: { ...hooks, presets } },
  });
  const answering = table.mappings.find(({ match }) => match.path === preset.path);
  if (answering === undefined) return base;
  const answeredBy = answering.preset === undefined ? ("mapping" as const) : ("preset" as const);
  const fault = answering.faulty
    ? table.problems.find(({ severity, section }) => severity === "error" && section === answering.at)
    : undefined;
  if (!answering.faulty) return { ...base, answeredBy };
  const reason = fault === undefined ? `${answering.at} has an error.` : `${fault.path} ${fault.message}.`;
  return { ...base, answeredBy, problem: { reason, fix: fault?.hint ?? "Correct it." } };
}

/** Removes a token file that the configuration does not name, because it would be useless. */
function withoutFile(file: string): (error: unknown) => never {
  return (error) => {
    rmSync(file, { force: true });
    throw error;
  };
}
