/** Edits of the configuration file through the gateway: by several people at once, without showing them a secret. */
import { checkConfig, digestOf, type Problem, readConfigText, replaceConfig } from "../../config/index.ts";
import {
  type ConfigChange,
  checkProposed,
  type EditOptions,
  type MaskedText,
  maskText,
  proposeConfig,
  unmaskText,
  wholeSchema,
} from "../../config/page-editing.ts";
import { schemasOf } from "../../host/index.ts";
import { HttpProblem } from "../../http/index.ts";
import type { Base } from "../base.ts";
import { pluginProblems } from "../config-problems.ts";
import type { Reloaded } from "../reload.ts";
import type { Runtime } from "../runtime.ts";

/** What is read to be edited. */
export interface EditableConfig {
  readonly file: string;
  /** False: there is no file yet. */
  readonly found: boolean;
  /** Names this text: an edit of another one is refused. */
  readonly digest: string;
  /** With placeholders for secrets. */
  readonly text: string;
}

/** What a change would do, or has done. */
export interface ConfigResult {
  readonly changed: boolean;
  readonly digest: string;
  /** Warnings that the change introduces. */
  readonly problems: readonly Problem[];
  /** Settings that take effect after a restart. */
  readonly waiting: readonly string[];
}

export interface ConfigEditing {
  read(): Promise<EditableConfig>;
  /** The plugins' schemas and the gateway's own as one. */
  schema(): ReturnType<typeof wholeSchema>;
  /**
   * Replaces the whole text; with `dryRun`, only checks it. Throws `HttpProblem` (`config_changed`) if the file is not
   * the one that was read, and `HostError` with the place if a section would break.
   */
  replace(
    edited: { readonly base: string; readonly text: string },
    how?: { readonly dryRun?: boolean },
  ): Promise<ConfigResult>;
  /** The same for single values: everything else stays byte for byte. */
  change(
    changes: readonly ConfigChange[],
    how: { readonly base?: string | undefined; readonly dryRun?: boolean },
  ): Promise<ConfigResult>;
  /** The text after an edit of its masked form, for other checks. Throws as `replace`. */
  unmask(edited: {
    readonly base: string;
    readonly text: string;
  }): Promise<{ readonly before: string; readonly after: string }>;
}

/** Names a text, so that an edit of another one is noticed. */
const editionOf = digestOf;

const changed = () =>
  new HttpProblem("config_changed", "The configuration was changed since it was read. Nothing was written.");

export function createConfigEditing(
  base: Pick<Base, "configFile" | "environment" | "secrets" | "redact" | "now" | "syncConfig">,
  { runtime, reload }: { readonly runtime: Pick<Runtime, "registry">; readonly reload: () => Promise<object> },
): ConfigEditing {
  const { configFile: file, environment: env, secrets, redact, now, syncConfig } = base;
  const plugins = () => [...runtime.registry.plugins.values()];
  const schemas = () => schemasOf(plugins(), runtime.registry.off.keys());
  const schema = () => wholeSchema(schemas());
  const options = (): EditOptions => ({
    env,
    schemas: schemas(),
    check: (checked) => pluginProblems(plugins(), checked, { env, now }),
  });
  const known = () => ({ schema: schema(), values: secrets.values(), redact });
  const masked = (text: string): MaskedText => maskText(text, known());

  /** The text that an edit began with. */
  async function current(edition: string | undefined): Promise<string | undefined> {
    await syncConfig?.();
    const text = await readConfigText(file);
    if (edition !== undefined && editionOf(text) !== edition) throw changed();
    return text;
  }

  async function unmask({ base: digest, text }: { readonly base: string; readonly text: string }) {
    const before = (await current(digest)) ?? "";
    return { before, after: unmaskText(text, masked(before), known()) };
  }

  /** Writes a text that was checked, and lets it take effect at once. */
  async function write(before: string | undefined, after: string, problems: readonly Problem[]): Promise<ConfigResult> {
    if (!(await replaceConfig(file, before, after))) throw changed();
    await syncConfig?.();
    const { waiting } = (await reload()) as Reloaded;
    return { changed: true, digest: digestOf(after), problems, waiting };
  }

  const unchanged = (text: string | undefined, problems: readonly Problem[] = []): ConfigResult => ({
    ...{ changed: false, digest: digestOf(text), problems, waiting: [] },
  });

  return {
    schema,
    unmask,
    async read() {
      const text = await current(undefined);
      return { file, found: text !== undefined, digest: digestOf(text), text: masked(text ?? "").text };
    },
    async replace(edited, { dryRun = false } = {}) {
      const text = await current(edited.base);
      const { before, after } = await unmask(edited);
      if (after === before) return unchanged(text);
      // A file with an error in its syntax is repaired here, so only the new text must be readable.
      checkConfig({ text: after, file, env: env ?? process.env, schemas: schemas() });
      const problems = await checkProposed({ before: readable(before) ? before : "", after, file }, options());
      return dryRun ? { ...unchanged(text, problems), changed: true } : await write(text, after, problems);
    },
    async change(changes, { base: digest, dryRun = false }) {
      const text = await current(digest);
      const proposed = await proposeConfig(file, changes, options());
      if (proposed.before !== text) throw changed();
      if (proposed.after === (text ?? "")) return unchanged(text, proposed.problems);
      return dryRun
        ? { ...unchanged(text, proposed.problems), changed: true }
        : await write(text, proposed.after, proposed.problems);
    },
  };

  function readable(text: string): boolean {
    try {
      checkConfig({ text, file, env: env ?? process.env, schemas: schemas() });
      return true;
    } catch {
      return false;
    }
  }
}
