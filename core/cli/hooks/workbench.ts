/** Compiles mappings as a gateway would, from the files alone, for commands that list or test them. */
import { randomUUID } from "node:crypto";
import { mainSessionKey } from "../../agents/conversation/sessions.ts";
import { defaultAgentId } from "../../config/agents.ts";
import type { LoadedConfig } from "../../config/reading/load.ts";
import { compileHooks } from "../../gateway/hook-problems.ts";
import { withPlace } from "../../transforms/error.ts";
import { trimSlashes } from "../../webhooks/mapping/address.ts";
import type { HookMethod, Mapping, MappingTable } from "../../webhooks/mapping/compiled-mapping.ts";
import type { MappedDeps } from "../../webhooks/mapping/plan-runs.ts";
import type { CommandContext } from "../context.ts";
import { loadDeclared, readyPlugins } from "../plugins/declarations.ts";
import { openSandbox } from "../sandbox.ts";

export interface Workbench {
  readonly loaded: LoadedConfig;
  readonly table: MappingTable;
  readonly deps: MappedDeps;
  /** Stops what transforms have left running. */
  close(): Promise<void>;
}

export async function openWorkbench(context: CommandContext): Promise<Workbench> {
  const { loaded, declared } = await loadDeclared(context);
  const { config } = loaded;
  const { table, policies } = await compileHooks(readyPlugins(declared), loaded, context.env);
  const transforms = openSandbox(context, loaded);
  const deps: MappedDeps = {
    ...policies,
    channels: { ...policies.channels, hasLastRecipient: (id) => hasLastRecipient(context, loaded, id) },
    settings: () => config.hooks,
    newId: randomUUID,
    transform: (call) => transforms.run(call).catch((error: unknown) => Promise.reject(withPlace(error))),
  };
  return { loaded, table, deps, close: () => transforms.close() };
}

/** The method of a delivery: that of the recording, else GET if all mappings of the path require it. */
export function chooseMethod(table: MappingTable, path: string, { method }: { readonly method?: "GET" }): HookMethod {
  const { methods } = table.way(path);
  return method ?? (methods.length === 1 && methods[0] === "GET" ? "GET" : "POST");
}

/** What a command's NAME stands for: a sub-path, else the id of a mapping or the name of a preset. */
export function findNamed(table: MappingTable, name: string): { readonly path: string; readonly mapping?: Mapping } {
  const given = trimSlashes(name);
  if (table.mappings.some(({ match }) => match.path === given)) return { path: given };
  const mapping = table.mappings.find(
    ({ id, preset, match }) => (id === name || preset === name) && match.path !== undefined,
  );
  return { path: mapping?.match.path ?? given, ...(mapping && { mapping }) };
}

async function hasLastRecipient(context: CommandContext, { config }: LoadedConfig, channel: string): Promise<boolean> {
  if (!(await context.hasState())) return false;
  const store = await context.openState();
  try {
    return (await store.session(mainSessionKey(defaultAgentId(config))))?.lastRecipient?.channel === channel;
  } finally {
    await store.close();
  }
}
