/** Commands of a plugin for the command line. */
import type { Static, TSchema } from "typebox";
import type { Json } from "../../contract/index.ts";
import type { AccountSecrets } from "./channel-account.ts";
import type { WatchedStatus } from "./health.ts";
import type { PluginStore } from "./plugin-store.ts";
import type { DeclaredSection } from "./section.ts";

/** An option of a command-line command. Every command already has `--json`, `--help`, `--config` and `--state`. */
interface CliOption {
  /** `a-z`, `0-9` and `-`, starting with a letter; `poll-seconds` is given as `--poll-seconds`. */
  readonly name: string;
  /** What it does, in one line of help. */
  readonly summary: string;
  /** What help calls the option's value, such as `seconds`. Absent for a flag without a value. */
  readonly value?: string;
  /** The allowed values; any other value is a usage error. */
  readonly choices?: readonly string[];
  /** True: the option can be given several times. */
  readonly repeatable?: boolean;
  /** True: a call without the option is a usage error. */
  readonly required?: boolean;
}

/** Asks the person at the terminal. Questions are printed on standard error. Each call rejects when the input ends. */
interface CliTerminal {
  /** Reads one line, trimmed; resolves with `preset` if the line is empty. */
  ask(question: string, preset?: string): Promise<string>;
  /** `y` or `yes` resolves with `true`, anything else with `false`. */
  confirm(question: string): Promise<boolean>;
  /** Reads one line without showing what is typed. */
  password(question: string): Promise<string>;
}

/** The gateway that is running on the same state directory. */
interface CliGateway {
  /** Base address of its HTTP server, such as `http://127.0.0.1:18789`. */
  readonly url: string;
  /** What the plugin reports there with `PluginHost.status`. */
  readonly watched: readonly WatchedStatus[];
  /**
   * Calls one of the plugin's own routes with access `gateway`, and resolves with the JSON answer. `path` is that of
   * the definition. Rejects with the error of the answer, or if none arrives within 30 s.
   *
   * @example
   * const { notes } = (await gateway.call("GET", "notes")) as { notes: string[] };
   */
  call(method: "GET" | "POST", path: string, body?: Readonly<Record<string, Json>>): Promise<Json>;
}

/** Whether deliveries to a preset would be answered. */
interface CliHooks {
  /** `hooks.enabled`. */
  readonly enabled: boolean;
  /** Whether `hooks.token` is set. */
  readonly hasToken: boolean;
  /** The path below the gateway's address, such as `/hooks/imap`. */
  readonly path: string;
  /**
   * What answers at this path once the section has an account. `undefined` if nothing does, because the plugin is
   * switched off.
   */
  readonly answeredBy?: "preset" | "mapping";
  /** Why deliveries are still refused, in one sentence, such as a missing session prefix; and what to do. */
  readonly problem?: { readonly reason: string; readonly fix: string };
}

/** The section `hooks.<id>` of one of the plugin's presets, for a command to read and change. */
interface CliPreset {
  /**
   * The section as it is in the file now, checked and with its defaults; `undefined` if there is none. Throws
   * `HostError` if the file cannot be read.
   */
  settings(): Promise<Json | undefined>;
  /**
   * Resolves a secret of the section. `value` is a text, `{ env }` or `{ file }`; `key` is its place, such as
   * `accounts.ada.password`. Throws an error that names the place and never the value.
   */
  secret(value: unknown, key: string): string;
  /** The hook token, for calls to the gateway's webhooks. Rejects if none is set. */
  token(): Promise<string>;
  hooks(): Promise<CliHooks>;
  /**
   * Sets a value of the section, or removes it if `value` is `undefined`. `path` begins below `hooks.<id>`; an empty
   * path is the section itself. Comments in the file are kept. If the change would cause an error, nothing is written
   * and the call rejects with `config_invalid`. Resolves with whether the file has changed; a new file gets mode 0600.
   *
   * @example
   * await call.preset("imap").set(["accounts", "ada", "pollSeconds"], 30);
   */
  set(path: readonly string[], value: Json | undefined): Promise<boolean>;
  /**
   * Enables the hook server. If `hooks.token` is not set, generates a token in a file beside the configuration, with
   * mode 0600, and returns its path as `tokenFile`. Existing settings are kept.
   */
  enableHooks(): Promise<{ readonly changed: boolean; readonly tokenFile?: string }>;
}

/** The section that the plugin declares, for a command to read and change. */
interface CliSection<T> extends Pick<DeclaredSection<T>, "settings" | "ofAgent" | "secret" | "names"> {
  /**
   * Sets a value of the section, or removes it if `value` is `undefined`. `path` begins below the section, of an
   * agent's key below that of `agents.defaults`; an empty path is the section itself. Comments in the file are kept. If
   * the change would cause an error, nothing is written and the call rejects with `config_invalid`. Resolves with
   * whether the file has changed; a new file gets mode 0600.
   */
  set(path: readonly string[], value: Json | undefined): Promise<boolean>;
}

/**
 * Secrets of the plugin, each in a file of its own in the state directory with mode 0600. Names consist of letters,
 * `0-9`, `-`, `_`, `.` and `@`.
 */
interface CliSecretFiles {
  /** The absolute path of the file with this name, whether or not it exists. */
  path(name: string): Promise<string>;
  /** Replaces the file in one step, and resolves with its path. */
  write(name: string, text: string): Promise<string>;
  /** `false` if the file did not exist. */
  remove(name: string): Promise<boolean>;
}

/** An account of the channel whose command runs. */
interface CliAccount {
  readonly id: string;
  /** Its configuration path, such as `channels.irc.accounts.work`. */
  readonly path: string;
  /** As `ChannelAccount.options`. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * As `ChannelAccount.secrets`: a running gateway reads what a command has written when its connection asks for it
   * next.
   */
  readonly secrets: AccountSecrets;
}

/** What a command-line command receives. It runs in a process of its own, whether or not a gateway is running. */
export interface CliCall {
  /** The arguments in the order of the declaration; a missing optional one is `undefined`. */
  readonly args: readonly (string | undefined)[];
  /** The given options by name: a text, a list of texts for a repeatable option, or `true` for a flag. */
  readonly options: Readonly<Record<string, string | readonly string[] | true | undefined>>;
  /** The name under which this program was called, such as `service`, for texts that say what to run next. */
  readonly program: string;
  /**
   * The plugin's own store, shared with a running gateway. Its calls reject with `state_missing` before the first start
   * of a gateway, unless the command sets `prepares`.
   */
  readonly store: PluginStore;
  /**
   * Aborted at SIGINT and SIGTERM. A command that never reads the signal ends at once; one that does has 5 s to end.
   */
  readonly signal: AbortSignal;
  /** Absent if the input or the output is not a terminal; then every answer must come from options. */
  readonly terminal?: CliTerminal;
  /** Prints a line, or a row of cells, at once. With `--json` it prints nothing. */
  say(line: string | readonly string[]): void;
  /**
   * Waits for the work. If it takes more than a second, prints what is being done on standard error.
   *
   * @example
   * const client = await call.progress("Connecting to imap.example.org", connect());
   */
  progress<T>(doing: string, work: Promise<T>): Promise<T>;
  /** The configuration of one of the plugin's presets. */
  preset(id: string): CliPreset;
  /**
   * What the user configured in the section that the plugin declares, read from the file now and checked, as
   * `PluginHost.section` returns it. Rejects with `HostError` if the file cannot be read.
   *
   * @example
   * const section = await call.section<typeof notes>("notes");
   * await section.set(["folder"], "~/notes");
   */
  section<S extends TSchema = TSchema>(key: string): Promise<CliSection<Static<S>>>;
  /** As `PluginHost.timezone`, by the file as it is now. */
  timezone(): Promise<string>;
  readonly secretFiles: CliSecretFiles;
  /**
   * For commands of a channel: an account of it as the file is now, by default `default`. Rejects with an error that
   * says which accounts there are, or what keeps this one from opening.
   *
   * @example
   * const { options, secrets } = await call.account(call.args[0]);
   * await secrets.set("session", await link(options.server));
   */
  account(id?: string): Promise<CliAccount>;
  /** `undefined` if no gateway is running. */
  gateway(): Promise<CliGateway | undefined>;
  now(): number;
  newId(): string;
}

/** What a command-line command prints at its end. With `--json`, `data` is printed in place of `lines`. */
export interface CliAnswer {
  /** A text is a line; consecutive lists are the rows of a table. */
  readonly lines: readonly (string | readonly string[])[];
  readonly data: Json;
  /**
   * True: the command could not do what was asked. The exit code is 1; if `data` is null, `--json` prints the lines as
   * the error. `usage`: the options do not fit together; the lines give the reason, and the exit code is 2.
   */
  readonly failed?: boolean | "usage";
}

/**
 * One command of a plugin, below its group. A command that throws or exceeds its time limit prints one line and exits
 * with 1.
 */
export interface CliCommand {
  /** `a-z`, `0-9` and `-`, starting with a letter; or two such words, such as `imap setup`. */
  readonly name: string;
  /** Arguments as shown in help: `<id>` is required, `[id]` is optional. */
  readonly args?: readonly string[];
  readonly options?: readonly CliOption[];
  /** One sentence for help. */
  readonly summary: string;
  /** Shown in help after the group's name, such as `revoke 7FQ2`. */
  readonly example: string;
  /** Default 120. 0 means no limit, for a command that asks questions or runs until it is stopped. */
  readonly timeoutSeconds?: number;
  /**
   * True: the command may run before the first start of a gateway. Its store is then empty and is created when the
   * command first sets a value.
   */
  readonly prepares?: boolean;
  run(call: CliCall): CliAnswer | Promise<CliAnswer>;
}

/**
 * Commands that a plugin adds to the command line, as `service <name> <command>`. They run without `setup`, in the
 * process of the command line, and can use the plugin's store but nothing of a running gateway. Each gateway loads the
 * module too, so a large command should import its code when it runs.
 *
 * @example
 * const cli: CliDefinition = {
 *   name: "notes",
 *   summary: "Look at notes.",
 *   commands: [
 *     {
 *       name: "list",
 *       options: [{ name: "tag", value: "tag", summary: "only notes with this tag", repeatable: true }],
 *       summary: "List notes.",
 *       example: "list --tag urgent",
 *       run: async (call) => (await import("./list.ts")).listNotes(call),
 *     },
 *   ],
 * };
 */
export interface CliDefinition {
  /** `a-z`, `0-9` and `-`, starting with a letter. A name that is already taken is left out. */
  readonly name: string;
  readonly summary: string;
  /** One sentence of help for the first word of two-word commands. */
  readonly groups?: Readonly<Record<string, string>>;
  readonly commands: readonly CliCommand[];
}
