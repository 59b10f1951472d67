/** Tries mappings on deliveries in the running gateway, before they are saved: nothing is stored, and no agent runs. */
import { checkConfig, type Problem, parsePath } from "../../config/index.ts";
import { partText, withPart } from "../../config/page-editing.ts";
import { HttpProblem } from "../../http/index.ts";
import { type ListedHooks, listedHooks } from "../../reports/index.ts";
import type { MappedDeps } from "../../webhooks/index.ts";
import { type DryRun, dryRun } from "../../webhooks/trying.ts";
import type { Base } from "../base.ts";
import { compileHooks } from "../hook-problems.ts";
import type { Runtime } from "../runtime.ts";
import type { ConfigEditing, ConfigResult } from "./config-editing.ts";

type Delivery = Parameters<typeof dryRun>[1];

/** An edited mapping: its text with placeholders for secrets, and the text of the configuration that it is part of. */
export interface EditedMapping {
  /** Digest of the configuration. */
  readonly base: string;
  /** `hooks.mappings[2]`; the next index adds a mapping. */
  readonly at: string;
  readonly text: string;
}

export interface HookWorkbench {
  list(): Promise<ListedHooks>;
  /** The mappings of the file, as text. */
  mappings(): Promise<{
    readonly digest: string;
    readonly mappings: readonly { readonly at: string; readonly text: string }[];
  }>;
  /** With `edited`, as if that mapping were saved. `problems`: those of the edited mapping. */
  test(
    delivery: Delivery,
    edited?: EditedMapping,
  ): Promise<{ readonly result: DryRun; readonly problems: readonly Problem[] }>;
  /** Throws as `ConfigEditing.replace`. */
  save(edited: EditedMapping, how?: { readonly dryRun?: boolean }): Promise<ConfigResult>;
}

const place = /^hooks\.mappings\[\d{1,4}\]$/;

export function createHookWorkbench(
  base: Pick<Base, "current" | "configFile" | "environment">,
  {
    runtime,
    editing,
    mapped,
  }: { readonly runtime: Pick<Runtime, "registry">; readonly editing: ConfigEditing; readonly mapped: MappedDeps },
): HookWorkbench {
  const { current, environment: env, configFile: file } = base;
  const plugins = () => [...runtime.registry.plugins.values()];

  async function spliced({
    base: digest,
    at,
    text,
  }: EditedMapping): Promise<{ readonly base: string; readonly text: string }> {
    const path = place.test(at) ? parsePath(at) : undefined;
    if (path === undefined)
      throw new HttpProblem("invalid_payload", "at must be a mapping, such as hooks.mappings[2].");
    const read = await editing.read();
    return { base: digest, text: withPart(read.text, path, text) };
  }

  /** What the gateway would compile; the one that is written is compiled as well while the hook server is off. */
  async function compiled(edited: EditedMapping | undefined) {
    if (edited === undefined) return { checked: current.loaded, own: [] };
    const { after } = await editing.unmask(await spliced(edited));
    const checked = checkConfig({ text: after, file, env, ...(current.schemas && { schemas: current.schemas }) });
    const isOwn = ({ path }: Problem) => path === edited.at || path.startsWith(`${edited.at}.`);
    return { checked, own: checked.problems.filter(isOwn), isOwn };
  }

  return {
    async list() {
      const { table } = await compileHooks(plugins(), current.loaded, env);
      return listedHooks(current.loaded, table);
    },
    async mappings() {
      const { digest, text } = await editing.read();
      const mappings: { readonly at: string; readonly text: string }[] = [];
      for (;;) {
        const found = partText(text, ["hooks", "mappings", mappings.length]);
        if (found === undefined) return { digest, mappings };
        mappings.push({ at: `hooks.mappings[${mappings.length}]`, text: found });
      }
    },
    async test(delivery, edited) {
      const { checked, own, isOwn } = await compiled(edited);
      const { table, policies } = await compileHooks(plugins(), checked, env);
      const channels = { ...policies.channels, hasLastRecipient: mapped.channels.hasLastRecipient };
      const settings = () => checked.config.hooks;
      const result = await dryRun(table, delivery, { ...mapped, ...policies, channels, settings });
      const problems = isOwn === undefined ? [] : [...own, ...table.problems.filter(isOwn)];
      return { result, problems };
    },
    save: async (edited, how) => await editing.replace(await spliced(edited), how),
  };
}
