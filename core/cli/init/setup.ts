/** What the steps of `init` share: the answers so far, which are written together, and the person who gives them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { getPath, renderPath, type Segment, setPath } from "../../config/path.ts";
import { type LoadedConfig, loadConfig, withSchemas } from "../../config/reading/load.ts";
import { createSecrets } from "../../config/secrets.ts";
import { HostError } from "../../contract/errors.ts";
import { visibleLine } from "../../log/visible.ts";
import type { CommandContext } from "../context.ts";
import { type NewSecret, newSecret, secretDirectory } from "../new-secret.ts";
import type { Questions } from "../output/questions.ts";
import { wrapped } from "../output/wrap.ts";
import { type Declared, declaredSchemas, loadDeclared } from "../plugins/declarations.ts";

export interface InitOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly channel?: string;
  readonly tokenFile?: string;
  readonly platformAddress?: string;
  readonly model?: string;
  readonly keyFile?: string;
  readonly modelAddress?: string;
  readonly owner?: string;
  readonly webhook?: boolean;
  readonly boot?: boolean;
}

/** A value for the configuration. */
export interface Wanted {
  readonly path: readonly Segment[];
  readonly value: unknown;
  /** The line above it in a new file. */
  readonly comment?: string;
  /** The value as a text, if the file only names where the text is. */
  readonly secret?: NewSecret;
}

/** What was set up, for `--json`. */
export interface InitResult {
  bot?: { readonly channel: string; readonly account: string; readonly username?: string; readonly id?: string };
  model?: { readonly model: string; readonly firstWordMs?: number; readonly totalMs?: number };
  owner?: { readonly channel: string; readonly senderId: string };
  /** It was installed as a service. */
  boot?: true;
  webhook?: { readonly url: string; readonly tokenFile?: string };
}

interface OwnFile {
  readonly text: string;
  readonly wanted: readonly Wanted[];
}

export interface Setup {
  readonly context: CommandContext;
  readonly options: InitOptions;
  /** The plugins and the configuration, as they are in the file. */
  readonly declared: readonly Declared[];
  readonly loaded: LoadedConfig;
  /** Absent: everything comes from the options. */
  readonly ask?: Questions;
  readonly result: InitResult;
  /** Set if a person has to sign the bot in once the gateway runs. */
  needsSignIn?: true;
  wanted(): readonly Wanted[];
  want(...wanted: readonly Wanted[]): void;
  /** Everything wanted is in the file now. `text`: all of the file, if this command has made it. */
  written(text?: string): Promise<void>;
  hasWritten(): boolean;
  /** The text of the file that this command has created. Another program may have changed the file since. */
  readonly ownFile: OwnFile | undefined;
  /** The configuration as it would be with these values as well; nothing is written. */
  tried(more?: readonly Wanted[]): Promise<LoadedConfig>;
  /** A file for a secret, and the value that names it. Two secrets of one run need two names. */
  secret(path: readonly Segment[], named: { readonly name: string; readonly text: string }): Wanted;
  /** A sentence for the person at the terminal. */
  say(text: string, options?: { readonly sign?: "good" | "bad" | "note" }): void;
  /** A line that must not be broken, such as a command. */
  show(line: string): void;
  /** Names of which the person chooses one by its number. */
  list(names: readonly string[], note?: string): void;
  /** A title above a step. */
  title(text: string): void;
  /** A directory that is removed at the end, for what has to be tried before there is a state. */
  scratch(): Promise<string>;
  /** Ends the gateway that this command has started; part of the cleanup. */
  readonly gateways: AsyncDisposableStack;
  readonly cleanup: AsyncDisposableStack;
}

const signs = {
  good: { style: "green", mark: "✓" },
  bad: { style: "red", mark: "✗" },
  note: { style: "yellow", mark: "!" },
} as const;

export async function createSetup(context: CommandContext, options: InitOptions, ask?: Questions): Promise<Setup> {
  const { terminal, configFile, env } = context;
  let current = await loadDeclared(context);
  const wanted: Wanted[] = [];
  let own: OwnFile | undefined;
  let isWritten = false;
  const cleanup = new AsyncDisposableStack();
  const gateways = cleanup.use(new AsyncDisposableStack());
  let scratch: Promise<string> | undefined;
  const configDirectory = dirname(configFile.file);
  const secretsAt = secretDirectory(configDirectory, await context.stateDirectory());
  const isQuiet = options.json === true;
  const secrets = createSecrets({ env, directory: configDirectory });
  const textOf = (value: unknown, path: readonly Segment[]): string | undefined => {
    try {
      return secrets.resolve(value, renderPath(path));
    } catch {
      return undefined;
    }
  };
  const columns = () => process.stdout.columns;
  return {
    ...{ context, options, cleanup, gateways, result: {} },
    ...(ask && { ask }),
    get declared() {
      return current.declared;
    },
    get loaded() {
      return current.loaded;
    },
    wanted: () => wanted,
    want: (...more) => void wanted.push(...more),
    async written(text) {
      isWritten = true;
      const all = [...(own?.wanted ?? []), ...wanted.splice(0)];
      if (text !== undefined) own = { text, wanted: all };
      current = await loadDeclared(context);
    },
    hasWritten: () => isWritten,
    get ownFile() {
      return own;
    },
    async tried(more = []) {
      const all = [...wanted, ...more];
      const override = (written: unknown) => {
        const value = structuredClone(written ?? {});
        for (const { path, value: next, secret } of all) setPath(value, path, secret?.text ?? next);
        return value;
      };
      const trial = await loadConfig({ file: configFile.file, named: false, env, override });
      return withSchemas(trial, declaredSchemas(current.declared));
    },
    secret(path, named) {
      const before = getPath(current.loaded.written, path);
      // Run again with the same secret, the command changes nothing.
      if (before !== undefined && textOf(before, path) === named.text) return { path, value: before };
      const secret = newSecret(secretsAt, named);
      const file = secretsAt === configDirectory ? relative(configDirectory, secret.file) : secret.file;
      return { path, value: { file }, secret };
    },
    say(text, { sign } = {}) {
      if (isQuiet) return;
      const first = sign === undefined ? "  " : `${terminal.style(signs[sign].style, signs[sign].mark)} `;
      terminal.line(wrapped(visibleLine(text, 2_000), { columns: columns(), first }));
    },
    show(line) {
      if (!isQuiet) terminal.line(`  ${line}`);
    },
    list(names, note = "") {
      if (isQuiet) return;
      const rows = names.map((name, index) => [
        terminal.style("cyan", String(index + 1)),
        visibleLine(name, 80),
        terminal.style("dim", note),
      ]);
      terminal.table(rows, { indent: "  " });
    },
    title(text) {
      if (isQuiet) return;
      terminal.line();
      terminal.line(wrapped(terminal.style("bold", text), { columns: columns() }));
    },
    scratch: () =>
      (scratch ??= mkdtemp(join(tmpdir(), "service-init-")).then((directory) => {
        cleanup.defer(() => rm(directory, { recursive: true, force: true }));
        return directory;
      })),
  };
}

/** The error of an answer that does not work and cannot be corrected, because no questions are asked. */
export const unfinished = (reason: string, fix = "Nothing was written.") =>
  new HostError("init_unfinished", { reason: reason.replace(/\.$/, ""), fix });
