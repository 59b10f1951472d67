/**
 * The entry point for plugin authors: `service-gateway/sdk`.
 *
 * The bundled plugins use nothing else. Everything exported here is the contract, versioned by `sdkVersion`; a plugin
 * states in `host` which versions it was written for. `core/host/README.md` contains a plugin and a channel that run as
 * shown, the order of calls, and what a failure does at each station. Times are epoch milliseconds; the name of a
 * duration ends in its unit.
 *
 * `Type` is TypeBox, for option schemas: https://github.com/sinclairzx81/typebox
 */
import type { IncomingMessage } from "node:http";
import Type, { type Static, type TObject, type TSchema } from "typebox";
import {
  type Accepted,
  type Address,
  type Button,
  ChannelError,
  type CodeDefinition,
  EngineError,
  type Inbound,
  type InboundChat,
  type InboundMedia,
  type InboundSender,
  type Json,
  type OutboundMedia,
  type Outcome,
  type Part,
  type RawEvent,
  type Receipt,
  type Reply,
  type Route,
  type Silent,
  type SkippedModel,
  sdkVersion,
  type Thinking,
  type Transform,
  type TurnEvent,
} from "../contract/index.ts";
import { type Sniffed, sniff } from "../media/index.ts";
import type { HookName, HookTable, TapOrder } from "../stations/index.ts";
import type { StoreDefinition } from "./store.ts";
import type { ToolDefinition, ToolSource } from "./tool-types.ts";

export type { Transform, TransformContext } from "../contract/index.ts";
export type {
  SourcedTool,
  ToolCall,
  ToolDefinition,
  ToolOffer,
  ToolOutcome,
  ToolOutput,
  ToolResult,
  ToolSource,
  ToolTurn,
  ToolWords,
} from "./tool-types.ts";
export type {
  Accepted,
  Address,
  Button,
  CodeDefinition,
  HookName,
  HookTable,
  Inbound,
  InboundChat,
  InboundMedia,
  InboundSender,
  Json,
  OutboundMedia,
  Part,
  RawEvent,
  Receipt,
  Reply,
  Route,
  Silent,
  Sniffed,
  Static,
  TapOrder,
  Thinking,
  TObject,
  TSchema,
  TurnEvent,
};
export { ChannelError, EngineError, sdkVersion, sniff, Type };

/**
 * The log of one plugin. Every line carries the plugin's id; secrets of the configuration are removed by value. Lines
 * at or above `log.level` go to `logs/gateway.log` and to the terminal. Log message texts at `trace` only.
 *
 * @example
 * host.log.warn({ chat: "42", status: 502 }, "the platform did not answer");
 */
export interface PluginLog {
  trace(fields: object, message: string): void;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Durable key-value data in its own namespace: one for each plugin, one for each channel account. Values are JSON; any
 * text is a valid key. Every call rejects with `HostError` when the state cannot be read or written (`state_full`: the
 * disk is full).
 *
 * @example
 * await host.store.set("greeted:42", true, { ttlSeconds: 86_400 });
 */
export interface PluginStore {
  /** `null` if the key does not exist or has expired. */
  get(key: string): Promise<Json | null>;
  /**
   * Replaces the value. With `ttlSeconds` the key expires after that time; without it, never. The value survives a
   * killed process; with `durable` also a power cut.
   */
  set(key: string, value: Json, options?: { readonly ttlSeconds?: number; readonly durable?: boolean }): Promise<void>;
  /** `false` if the key did not exist. */
  delete(key: string): Promise<boolean>;
  /** Sorted by key. */
  list(options?: {
    readonly prefix?: string;
    readonly limit?: number;
  }): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  /**
   * Changes a value in one atomic step. `change` receives the value (`null` if there is none) and returns the next one;
   * `null` deletes it, `undefined` leaves it unchanged. Resolves with the resulting value. `change` runs again if
   * another writer was faster, so it must be pure.
   *
   * @example
   * await host.store.update("visits", (count) => Number(count ?? 0) + 1);
   */
  update(
    key: string,
    change: (value: Json | null) => Json | null | undefined,
    options?: { readonly ttlSeconds?: number },
  ): Promise<Json | null>;
}

/**
 * Who may use a command. Senders whom the access policy refuses and webhooks can use none.
 *
 * - `anyone`: every sender whom the access policy admits.
 * - `allowed`: every admitted sender with an identity; not a sender who writes as a chat, such as an anonymous
 * administrator.
 * - `owner`: a sender listed in `commands.ownerAllowFrom` if that is set, otherwise in the account's `allowFrom`, or a
 * sender who became
 *   owner by pairing.
 */
export type CommandRole = "anyone" | "allowed" | "owner";

/** What a command receives. */
export interface CommandCall {
  /** Without the slash, in lower case. */
  readonly name: string;
  /** The text after the command's name on the first line, trimmed; empty if there is none. */
  readonly args: string;
  readonly inbound: Inbound;
  readonly route: Route;
}

/**
 * A chat command, such as `/pair`. It is listed by `/help` and in the menus of channels. A name that is already taken
 * is refused, and logged.
 *
 * @example
 * host.command({ name: "ping", summary: "Answers.", role: "allowed", run: ({ args }) => `Pong ${args}` });
 */
export interface CommandDefinition {
  /** `a-z`, `0-9`, `_`; 1 to 32 characters, without the slash. */
  readonly name: string;
  /** One line for the menu. */
  readonly summary: string;
  /** Shown in help, such as `[approve [ID]]`; absent if the command takes no arguments. */
  readonly args?: string;
  readonly role: CommandRole;
  /** True for commands that reply at once, such as a status: they do not wait for a running turn of their chat. */
  readonly control?: boolean;
  /**
   * Returns the reply, as Markdown; an empty text sends no reply. If it throws or does not resolve within 120 s, the
   * sender gets an apology and the trace says `failed`.
   */
  run(call: CommandCall): string | Promise<string>;
}

/**
 * Who may call a route. `gateway`: holders of the gateway token (`Authorization: Bearer ...`). `device`: also devices
 * that a plugin vouches for (`PluginHost.devices`). `public`: every client. Requests from web pages of other sites are
 * always refused.
 */
export type RouteAccess = "gateway" | "device" | "public";

/** An HTTP request as a route's handler receives it. */
export interface RouteRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Values of the `:name` parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. Without the credentials that authorized the request, unless the route is `public`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON (`{}` if there is no body), or a `Buffer` if the route sets `rawBody`. */
  readonly body: unknown;
  /** Client address, with `gateway.trustedProxies` applied. */
  readonly clientAddress: string;
  /** The client to which failed attempts are attributed: its address, or the /64 network of an IPv6 address. */
  readonly client: string;
}

/**
 * An HTTP answer. A text, bytes or stream body is sent unchanged, with `type`; any other body is sent as JSON. Without
 * `body` the answer has none.
 */
export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Content type of a text, bytes or stream body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Server-sent events: one `data:` line for each value, until the iterable ends or the client disconnects. */
  readonly events?: AsyncIterable<Json>;
}

/**
 * An HTTP route under `/plugins/<id>/`. If the handler throws or does not resolve within 120 s, the answer is 500
 * without the error's text, and the error is logged. A stream body is cut off after 120 s without data; events may
 * pause for any time. A route whose address is already taken is logged and left out.
 *
 * @example
 * host.route({
 *   method: "GET",
 *   path: "things/:id",
 *   access: "gateway",
 *   handler: ({ params }) => ({ body: { id: params.id } }),
 * });
 */
export interface RouteDefinition {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/plugins/<id>/`, with `:name` parts; from the root if it begins with `/`. */
  readonly path: string;
  readonly access: RouteAccess;
  /** TypeBox schema of the JSON body. A body that does not match is answered with 400 before the handler runs. */
  readonly schema?: TSchema;
  /** True: the handler receives the bytes, whatever their content type; for checking signatures. */
  readonly rawBody?: boolean;
  /** Bytes; default 262,144. A larger body is answered with 413. */
  readonly maxBodyBytes?: number;
  handler(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

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

/**
 * A self-test of the plugin for the operator: a verdict, the reason, and what to do. `service doctor` runs it in the
 * running gateway, for at most 10 s; a throw is a `fail`.
 *
 * @example
 * host.check({
 *   name: "archive",
 *   explain: async () => ({ verdict: "warn", reason: "It is nearly full.", fix: "Empty it." }),
 * });
 */
export interface CheckDefinition {
  /** One or two words, such as `archive`. */
  readonly name: string;
  explain(): Promise<{ readonly verdict: "ok" | "warn" | "fail"; readonly reason: string; readonly fix?: string }>;
  /** Repairs what `explain` found, if the operator passes `--fix`. Returns one sentence that says what was done. */
  fix?(): Promise<string>;
}

/** The state of one thing that a plugin watches, such as a feed. */
interface WatchedStatus {
  /** The kind of source and the account's name, such as `imap` and `ada`. */
  readonly source: string;
  readonly account: string;
  /** `standby`: another gateway on the same store watches it. Like `ok`, it does not make this gateway degraded. */
  readonly state: "ok" | "standby" | "retrying" | "paused" | "needs_login" | "needs_setup";
  /** One sentence; empty if all is well. */
  readonly reason: string;
  /** What to do; empty if all is well. */
  readonly fix: string;
  /** The last item that arrived: what it is, in one word such as `message`, and when, in epoch milliseconds. */
  readonly last?: { readonly what: string; readonly at: number };
  /** When the source was last read to its end, in epoch milliseconds. */
  readonly lastSync?: number;
  /** When the server's notifications end, in epoch milliseconds; absent if they do not end, or if there are none. */
  readonly expires?: number;
}

/** How a delivery that a plugin submitted has ended. */
interface HookResult {
  /** False while it waits or runs. */
  readonly ended: boolean;
  /** The outcome and its reason code; set once the delivery has ended. */
  readonly outcome?: Outcome;
  readonly reason?: string;
  /**
   * The agent's reply in Markdown, whether or not it was sent. Absent without `keepReply`, if no agent ran, if the turn
   * failed, or if the agent chose not to reply.
   */
  readonly reply?: string;
}

/** A problem in the plugin's section of the configuration that no schema can express. */
interface SectionProblem {
  /** Keys below the section, such as `["morning", "cron"]`. */
  readonly path: readonly string[];
  /**
   * What is wrong, to follow its path and without a full stop, such as `names no time`. It does not contain the present
   * time.
   */
  readonly message: string;
  readonly hint: string;
  /** True: the value is used all the same. */
  readonly warning?: true;
}

/** What a check of a section may look at besides the section. */
interface SectionSurroundings {
  /** The ids of the agents and of the configured channels. */
  readonly agents: readonly string[];
  readonly channels: readonly string[];
  /** `agents.defaults.timezone`, else the time zone of the host. */
  readonly timezone: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The settings of a plugin in the configuration: those of one of its presets, or its section. */
interface PluginSection<T = Json> {
  /**
   * The current settings; `undefined` if there are none, if they have an error, or for a preset while the hook server
   * is off.
   */
  settings(): T | undefined;
  /**
   * Resolves a secret of the section: `value` is the configured value, `key` its place, such as
   * `accounts.ada.password`. Throws an error that names the place and never the value. Every secret read this way is
   * removed from the log.
   */
  secret(value: unknown, key: string): string;
  /** Called after every edit of the configuration, whatever was changed. Only in `setup`. */
  onChange(fn: () => void): void;
}

/** The section that a plugin declares. */
interface DeclaredSection<T> extends PluginSection<T> {
  /**
   * For a section of agents: what applies to an agent, which is what `agents.defaults` and then the agent itself
   * configure. `path` is the place of each; the keys of `secret` begin with it.
   */
  ofAgent(agent: string): readonly { readonly path: string; readonly settings: T }[];
  /** The agents and channels of the configuration, by their ids: what settings may name. */
  names(): { readonly agents: readonly string[]; readonly channels: readonly string[] };
}

/**
 * A section of the configuration that belongs to a plugin. Users write it beside the gateway's own: it is checked,
 * shown and completed like them, and an edit takes effect without a restart.
 *
 * @example
 * section: {
 *   key: "notes",
 *   schema: Type.Object(
 *     { folder: Type.String({ default: "notes", description: "Where notes are stored." }) },
 *     { default: {}, description: "Notes that people dictate." },
 *   ),
 * },
 */
interface SectionDefinition<S extends TSchema> {
  /**
   * The top-level key: `a-z`, `A-Z` and `0-9`, beginning with a lower-case letter. Neither the gateway nor another
   * plugin may have it.
   */
  readonly key: string;
  /** `agents`: not a top-level key, but one of `agents.defaults` and of each agent of `agents.list`. */
  readonly of?: "agents";
  /**
   * Gives each key a description. `default` makes a section optional; without one, `settings` is `undefined` where the
   * user configures nothing. A text with `secret: true` may be a reference in the file (`{ env }`, `{ file }`), is
   * hidden wherever the configuration is shown, and is read with `secret`. A map (`Type.Record`) has entries that do
   * not depend on each other: an error in one leaves the others in effect.
   */
  readonly schema: S;
  /**
   * Keys at the top of the file that mean this section, such as those of other programs: the warning about them names
   * the right key.
   */
  readonly otherNames?: readonly string[];
  /**
   * Finds what the schema cannot: `config validate` shows it, and an edit that causes an error is not written. In a
   * running gateway the last valid settings stay in effect; at a start the plugin receives the settings as they are,
   * and leaves out what it cannot use.
   */
  check?(
    settings: Static<NoInfer<S>>,
    around: SectionSurroundings,
  ): readonly SectionProblem[] | Promise<readonly SectionProblem[]>;
}

/**
 * Everything a plugin may use; `setup` receives it. Methods that register something (`tap`, `command`, `channel`,
 * `engine`, `tool`, `toolSource`, `route`, `devices`, `check`, `status`, `onReady`) work only until `setup` is done,
 * and throw `plugin_invalid` afterwards. If `setup` fails, every registration is undone.
 */
export interface PluginHost<S extends TSchema = TSchema> {
  /** The plugin's id. */
  readonly id: string;
  readonly log: PluginLog;
  readonly store: PluginStore;
  /** Aborted at the end of a close, after every `onClose`. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  now(): number;
  /** A new unique id, sortable by time. */
  newId(): string;
  /**
   * Takes a duty that one gateway at a time fulfils for the plugin, such as reading a feed. Resolves with whether this
   * gateway has it: always `true` unless several gateways share a store. A gateway keeps its duties until it closes, or
   * until it cannot renew its lease. Another one can take them at once after a clean stop, and within 12 s after a
   * crash. So ask each second, both while you wait for the duty and while you fulfil it: the answer is nearly always
   * known without the store. Rejects (`database_away`) while it is not; then the duty may be lost.
   *
   * @example
   * if (await host.takeDuty("feed:news")) await readFeed();
   */
  takeDuty(name: string): Promise<boolean>;
  /**
   * Submits an event of the plugin's own. Resolves when the event is on the disk: acknowledge its source then. Rejects
   * (`state_full`) if it could not be stored; then nothing was accepted. `source` is the plugin's id, and an `ingress`
   * tap of the plugin turns the event into an `Inbound`.
   */
  receive(event: RawEvent): Promise<Accepted>;
  /**
   * Sends a text to an address through the outbox, like any reply; resolves when it is on the disk. No agent sees the
   * text. Rejects (`state_full`) if it could not be stored. Of two texts with the same `key` the second is not sent.
   *
   * @example
   * host.command({ name: "backup", summary: "Makes a backup.", role: "owner", run: ({ route }) => {
   *   void backup().then(() => route.to && host.notify(route.to, "The backup is done."));
   *   return "It begins.";
   * } });
   */
  notify(address: Address, text: string, options?: { readonly key?: string }): Promise<Accepted>;
  /**
   * Sends a text to an owner through the outbox, like any reply: to the place of the default agent's last conversation
   * if that was with an owner, else to the direct chat of an owner whose id is known; where there are no owners at all,
   * to that last conversation. Resolves with `true` when the text is on the disk, and with `false` if there is no place
   * to send it to. Of two texts with the same `key` the second is not sent.
   *
   * @example
   * const sent = await host.notifyOwner("The feed needs a new password.");
   * if (!sent) host.log.warn("There is no chat to say it in.");
   */
  notifyOwner(text: string, options?: { readonly key?: string }): Promise<boolean>;
  /**
   * Submits a delivery to the mappings at a path below `hooks.path`, as if it had come over HTTP, but without a token.
   * Available once `onReady` has run. Resolves when the event is on the disk. A second delivery with the same `key`
   * within seven days has no effect and resolves with `duplicate`; keys are separate for each plugin and path. `origin`
   * is one line about the sender that the agent reads before the content, such as whether the sender was verified. With
   * `keepReply`, `hookResult` can return the agent's reply. Rejects with an error that has the `code` and `status` of
   * the HTTP answer (`examples/reference/http.md`). At status 500 and above the same delivery may be accepted later;
   * below 500 the configuration or the payload is wrong.
   *
   * @example
   * const origin = "The author is not verified.";
   * const { duplicate } = await host.hook("news", { items: [item] }, { key: item.id, origin });
   */
  hook(
    path: string,
    payload: Json,
    options: {
      readonly key: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly origin?: string;
      readonly keepReply?: boolean;
    },
  ): Promise<Accepted>;
  /**
   * How a delivery ended that the plugin submitted with `hook`, or an event that it submitted with `receive`, by the
   * `eventId` of its acceptance. Also works after a restart, for as long as the event is kept (seven days). Resolves
   * with `undefined` if the event is no longer kept, or if another plugin or a client sent it. A `settled` tap says
   * when to ask.
   *
   * @example
   * host.tap("settled", async ({ eventId }) => {
   *   const result = await host.hookResult(eventId);
   *   if (result?.reply !== undefined) await keep(eventId, result.reply);
   * });
   */
  hookResult(eventId: string): Promise<HookResult | undefined>;
  /**
   * What the user configured in `hooks.<id>` for a preset that the plugin declares. Call it in `setup`.
   *
   * @example
   * const section = host.preset("imap");
   * section.onChange(() => follow(section.settings()));
   */
  preset(id: string): PluginSection;
  /**
   * What the user configured in the section that the plugin declares, with the defaults of its schema. Call it in
   * `setup`, and `settings` whenever you need them.
   *
   * @example
   * const notes = host.section("notes");
   * const run = () => notes.settings()?.folder ?? "";
   * host.command({ name: "where", summary: "Says where notes are.", role: "owner", run });
   */
  section(key: string): DeclaredSection<Static<S>>;
  /**
   * The time zone for people who chose none: `agents.defaults.timezone`, else that of the host, such as
   * `Europe/Berlin`.
   */
  timezone(): Promise<string>;
  /**
   * Whether several gateways may share the store, so that another one may have changed what this plugin keeps there.
   */
  sharesStore(): Promise<boolean>;
  /**
   * Taps a station. The table in `core/host/README.md` lists order, deadlines and the effect of a failure.
   *
   * @example
   * host.tap("gating", ({ text }) => (text.length > 5_000 ? { code: "too_long", hint: "Write less." } : undefined));
   */
  tap<N extends HookName>(hook: N, fn: HookTable[N], options?: { readonly order?: TapOrder }): void;
  command(definition: CommandDefinition): void;
  channel(definition: ChannelDefinition): void;
  engine(definition: EngineDefinition): void;
  /**
   * Offers a tool to the agents, which the model can call in any turn of an engine that uses tools. The configuration
   * says which agents have it (`agents.*.tools`) and whether an owner is asked first.
   *
   * @example
   * host.tool({
   *   name: "roll_dice",
   *   description: "Rolls dice and returns the numbers.",
   *   parameters: Type.Object({
   *     count: Type.Integer({ minimum: 1, maximum: 20, default: 1, description: "How many dice." }),
   *   }),
   *   run: ({ args }) => Array.from({ length: args.count }, () => 1 + Math.floor(Math.random() * 6)),
   * });
   */
  tool<P extends TObject>(definition: ToolDefinition<P>): void;
  /**
   * Offers tools that are known only while the gateway runs, such as those of another program.
   *
   * @example
   * host.toolSource({ id: "lab", offer: ({ agentId }) => ({ tools: instruments.of(agentId) }) });
   */
  toolSource(definition: ToolSource): void;
  route(definition: RouteDefinition): void;
  /**
   * Vouches for device tokens. On routes with access `device`, `check` receives each token that is not the gateway's
   * own. It is called for each request, so a revoked token stops working at once. Compare digests, never texts. An
   * error refuses the token, and is logged.
   *
   * @example
   * const keyOf = (token: string) => `device:${createHash("sha256").update(token).digest("hex")}`;
   * host.devices(async (token) => (await host.store.get(keyOf(token))) !== null);
   */
  devices(check: (token: string) => boolean | Promise<boolean>): void;
  check(definition: CheckDefinition): void;
  /**
   * Reports the state of what the plugin watches: for `service status`, with `--json` under the plugin's id, and for
   * the details of `/readyz`. It is called often, so answer from memory. The report must contain no secret.
   *
   * @example
   * host.status(() => [{ source: "imap", account: "ada", state: "ok", reason: "", fix: "" }]);
   */
  status(report: () => readonly WatchedStatus[]): void;
  /** Base address of the gateway's HTTP server, such as `http://127.0.0.1:18789`; available once `onReady` has run. */
  address(): string;
  /**
   * Runs after all plugins are up and the server listens, for at most 10 s each. A failure is logged; the plugin stays
   * up.
   */
  onReady(fn: () => void | Promise<void>): void;
  /**
   * Runs when the gateway closes, in reverse order of registration, for at most 5 s each. Also allowed after `setup`.
   */
  onClose(fn: () => void | Promise<void>): void;
}

/** A plugin: its data first, then its function. The host checks the data before any of the code runs. */
export interface PluginDefinition<O extends TObject = TObject, S extends TSchema = TSchema> {
  /**
   * Config key, log field, store namespace and preferably the folder's name: `a-z`, `0-9`, `-`, starting with a letter,
   * at most 64 characters.
   */
  readonly id: string;
  /** The plugin's own semantic version, such as `1.0.0`. */
  readonly version: string;
  /** The range of SDK versions it was written for, such as `^0.1.0`. */
  readonly host: string;
  /** Ids of plugins that must be set up first. If one is missing, this plugin is left out. */
  readonly requires?: readonly string[];
  /**
   * Schema of `plugins.entries.<id>.options`; `setup` receives the values with the schema's defaults. If the values do
   * not match, the plugin is left out.
   */
  readonly options?: O;
  /** True: set up only if `plugins.entries.<id>.enabled` is `true`; for plugins that few users need. */
  readonly optIn?: boolean;
  /**
   * The plugin's own section of the configuration; `host.section` hands it over. It is data, read without setting the
   * plugin up.
   */
  readonly section?: SectionDefinition<S>;
  /**
   * Mappings of the hook server that users enable by name in `hooks.presets`. They are data, read without setting the
   * plugin up.
   */
  readonly presets?: readonly PresetDefinition[];
  /** Commands for the command line. They are data, read without setting the plugin up. */
  readonly cli?: CliDefinition;
  /**
   * The codes that the plugin's own decisions and errors carry, by name: `a-z`, `0-9` and `_`. `service why` prints the
   * meaning and the hint if a decision has none of its own. A name that ends in `*` covers all codes that begin with
   * it. The gateway's own codes (`core/CODES.md`), such as `flood_wait`, need no entry. Codes are data, read without
   * setting the plugin up.
   */
  readonly codes?: Readonly<Record<string, CodeDefinition>>;
  /**
   * Set by `defineChannel`: the channel that `setup` will register, so that its options can be checked before anything
   * runs.
   */
  readonly channel?: ChannelDefinition;
  /**
   * A store that `state.store` can name; see `defineStore` of `service-gateway/sdk/store`. It is opened before any
   * plugin is set up.
   */
  readonly store?: StoreDefinition;
  /** Registers everything, within 10 s. If it throws, this plugin is left out and the others run. */
  setup(host: PluginHost<NoInfer<S>>, options: Static<O>): void | Promise<void>;
}

/**
 * One mapping of a preset: the fields of `hooks.mappings` that do not depend on the user. Texts are templates over the
 * payload, such as `{{ messages[0].subject }}`; `examples/reference/webhooks.md` describes each field. Settings of the
 * user for the whole preset (`model`, `thinking`, `instructions`, `allowUnsafeExternalContent` in `hooks.<preset id>`)
 * override the values here.
 */
export interface PresetMapping {
  /** Name in logs and in the operator's view. Defaults to the preset's id, with a number from the second mapping on. */
  readonly id?: string;
  /** Which requests at the preset's path the mapping takes. Absent: all. */
  readonly match?: {
    readonly source?: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    readonly where?: Readonly<
      Record<
        string,
        | string
        | number
        | boolean
        | null
        | readonly (string | number | boolean | null)[]
        | { readonly exists: boolean }
        | { readonly matches: string }
      >
    >;
  };
  /** Default `agent`. */
  readonly action?: "wake" | "agent";
  readonly wakeMode?: "now" | "next-heartbeat";
  readonly name?: string;
  readonly sessionKey?: string;
  readonly sessionMode?: "isolated" | "persistent";
  readonly messageTemplate?: string;
  readonly textTemplate?: string;
  /** What the agent should do, in plain words. The model reads it outside the wrapper around the content. */
  readonly instructions?: string;
  readonly deliver?: boolean;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** Payload path of a list. Each element starts a run of its own, which sees it as the only element. */
  readonly forEach?: string;
  readonly deliverOnly?: boolean;
  /** HTTP status of a success, for senders that require a specific one. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Default `json`. */
  readonly body?: "json" | "form" | "text";
}

/** Mappings for the requests of one kind of sender. The user enables them with `hooks.presets: ["<id>"]`. */
export interface PresetDefinition {
  /** The name in `hooks.presets`: `a-z`, `0-9`, `-`, starting with a letter, at most 64 characters. */
  readonly id: string;
  /** Sub-path below `hooks.path`. The user's own mapping for the same path takes precedence. */
  readonly path: string;
  /** In order; the first that matches takes the request. */
  readonly mappings: readonly PresetMapping[];
  /**
   * Keys of `hooks.<id>` beside those that every preset has, such as feeds that the plugin watches itself;
   * `host.preset` hands them over. They are declared like the keys of a section.
   */
  readonly settings?: TObject;
}

/**
 * What a channel can do beyond text. Only `maxChars` is required: `{ maxChars: 400 }` is a channel of plain text. The
 * host calls `remove`, `preview`, `react` and `typing` only if the capability is declared.
 */
export interface ChannelCapabilities {
  /** Maximum characters of one message, as the platform counts them. */
  readonly maxChars: number;
  /** `rich`: Markdown is shown formatted. The model is informed of the setting. Default: `plain`. */
  readonly markup?: "plain" | "rich";
  /** Messages can be edited and removed, so there is a live preview. Each capability defaults to false. */
  readonly edits?: boolean;
  readonly threads?: boolean;
  readonly reactions?: boolean;
  readonly media?: boolean;
  readonly buttons?: boolean;
  readonly typing?: boolean;
  readonly menu?: boolean;
  readonly stickers?: boolean;
  /**
   * The format of message and thread ids, if not every text is valid: a regular expression that matches the whole id,
   * and a description such as "a whole number from 1 on". An action with an invalid id is refused before anything is
   * sent. Default: any text.
   */
  readonly messageIds?: { readonly pattern: string; readonly description: string };
}

/**
 * What `service status` shows of one account. `waiting`: it retries on its own; `failed`: the operator has to fix
 * something.
 */
export interface ChannelStatus {
  readonly state: "connecting" | "connected" | "waiting" | "stopped" | "failed";
  /**
   * If something is wrong: the reason, as a code of the channel's `codes` or one of the gateway's own
   * (`core/CODES.md`). The host adds the meaning and the hint of the code wherever `detail` and `hint` are absent.
   *
   * @example
   * account.status({ state: "failed", code: "unauthorized" });
   */
  readonly code?: string;
  /** If something is wrong: what, as one sentence. Default: the meaning of `code`. */
  readonly detail?: string;
  /**
   * What the operator can do about it, as a sentence. Default: the hint of `code`. Without a code, `detail` may include
   * the remedy.
   */
  readonly hint?: string;
  /**
   * Time of the last completed exchange with the platform, in epoch milliseconds. A reported call (`calling`) sets it
   * as well.
   */
  readonly lastContactAt?: number;
  /** The bot's own name and id, once known. */
  readonly identity?: { readonly id: string; readonly username?: string; readonly name?: string };
}

/** One account of a channel, as the host passes it to `open`. */
export interface ChannelAccount<O = Readonly<Record<string, unknown>>> {
  /** Account id, such as `default`. */
  readonly id: string;
  /** The account's own options, merged and with defaults; secrets are resolved to strings. */
  readonly options: O;
  readonly log: PluginLog;
  /** The store of this account alone. */
  readonly store: PluginStore;
  /** Aborted when the account closes. */
  readonly signal: AbortSignal;
  /** A private directory for the account's files, inside the state directory. */
  readonly directory: string;
  now(): number;
  newId(): string;
  /**
   * Submits one platform event, as the platform sent it, with what `parse` needs and the event lacks, such as `{ line,
   * nick, at }`. Calls are stored in the order in which they are made, also without waiting for each. Resolves when the
   * event is on the disk: confirm it to the platform then. Rejects if it could not be stored, or once the account
   * closes (`account_closed`): do not confirm it.
   *
   * - `id`: the platform's id of the event (an update id). An id that arrives again within seven days is a duplicate
   * and is not processed
   *   again. Default: the `messageId` of a message within its lane; a new id for every other event, so that none is a
   *   duplicate.
   * - `identity`: the owner of these ids, if it is not the account but the bot behind it. Defaults to the account's id.
   * - `lane`: channel, account, chat and thread, such as `irc:default:#room`. Events of one lane run one at a time;
   * control
   *   commands such as `/stop` get a separate lane. Ids may contain colons: if the lane names the chat of `parse`, the
   *   host encodes them.
   *   Default: the lane of the chat and thread that `parse` returns.
   * - `gather`: events of one sender that belong together (an album) and are handled as one; `parse` receives all of
   * them. Never gather
   *   events of several senders: access and rights are those of the one sender that `parse` returns.
   * - `silent`: the reason why the event needs no reply, if that is known already; the event is stored and ends with
   * this reason.
   *
   * @example
   * // The photos of an album come as separate events and belong to one message. `parse` receives the first, and the
   * others as `more`. const gather = { key: `album:${event.album}`, due: account.now() + 500, extend: true } as const;
   * await account.receive(event, { gather });
   */
  receive(
    raw: Json,
    at?: {
      readonly id?: string;
      readonly lane?: string;
      readonly identity?: string;
      readonly gather?: RawEvent["gather"];
      readonly silent?: string;
    },
  ): Promise<Accepted>;
  /**
   * Checks an event that the platform wants answered at once, outside the lanes, such as a button press. The check has
   * no effect: it creates no pairing code and no row. `notice`: one short sentence for a sender who is refused.
   */
  check(
    raw: Json,
  ): Promise<{ readonly allowed: true } | { readonly allowed: false; readonly code: string; readonly notice: string }>;
  /**
   * The current value of `messages.inbound.debounceMs`: messages that one sender writes within this time are combined
   * into one; 0 combines none.
   */
  debounceMs(): number;
  /**
   * Says whether a source that polls for its events should fetch more. `undefined`: yes. With more than 96 units in
   * progress, the promise resolves when there are fewer, or after 100 ms; it never rejects. Events that stay at the
   * source use no memory here. When many arrive at once, check again after every two dozen.
   */
  room(): Promise<void> | undefined;
  /**
   * For a channel's own listener: checks a caller by the secret that the platform sends. `isRight` compares the
   * presented secret with the configured one in constant time; it is not called while the client has failed too often.
   * Answer with `status`, and 429 with `Retry-After`. Clients are distinguished as on the gateway's own routes: by
   * `gateway.trustedProxies`, IPv6 by /64. After 20 failures in 60 s the status is 429. After 200 no secret is
   * compared, unless the client succeeded within the last hour.
   *
   * @example
   * const caller = account.judgeCaller(request, () => timingSafeEqual(digest(given), expected));
   * if (!caller.ok) return answer(response, caller.status, caller.retryAfterSeconds);
   */
  judgeCaller(request: IncomingMessage, isRight: () => boolean): CallerVerdict;
  /**
   * Reports a call to the platform: call it just before the request, and call the returned function when the platform
   * has answered that the call succeeded. A send whose outcome is unknown is repeated only after a later call has
   * succeeded. Report every kind of call, polls included. If a channel reports none, only `send` and `probe` show that
   * the platform answers.
   */
  calling(): () => void;
  /** Reports the current state of the connection. A report without `identity` or `lastContactAt` keeps the last one. */
  status(status: ChannelStatus): void;
  /** The chat commands of the gateway and of all plugins, for a menu. */
  commands(): readonly { readonly name: string; readonly summary: string }[];
}

/** Whether a caller of a channel's own listener is accepted. */
export type CallerVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly status: 401 | 429 /** Whole seconds, with status 429. */;
      readonly retryAfterSeconds?: number;
    };

/** A message that grows while a turn runs. */
export interface ChannelPreview {
  /**
   * The whole text so far, as Markdown. It may be called often; the channel keeps to the platform's rate limits. A text
   * that does not begin like the one before replaces it, because the reply starts over. If that one had several
   * messages, remove all but the first before the new text is shown, so that two texts are never read as one.
   */
  update(text: string): void;
  /** Stops updating and resolves with the ids of the preview's messages, oldest first; idempotent. */
  close(): Promise<readonly string[]>;
}

/**
 * A live connection of one account. `parse` and `render` are pure. Methods that send (`send`, `remove`, `react`,
 * `typing`, `resolve`) throw `ChannelError`. `core/host/README.md` contains a complete small example; `plugins/botchat`
 * is a large one.
 */
export interface ChannelConnection {
  /**
   * Connects. Resolves when connected, and reconnects on its own afterwards. While the platform is away, report
   * `waiting` with the reason and keep trying; the promise may resolve then or stay pending. A rejection is final and
   * is shown as `failed`: reject only for what the operator has to change, such as a wrong password. `keepConnected`
   * does all of this.
   */
  start(): Promise<void>;
  /**
   * Called instead of `start` while another node of the same store receives for the account; `start` follows when this
   * node takes over, perhaps while this call is still pending. Prepares what turns of the account need on this node,
   * and accepts what the platform posts to any node, such as a webhook: hand it to `account.receive`. What one node
   * alone may do is left to `start`: polling, registering a webhook or a menu. Reported statuses have no effect. A
   * rejection is shown as `failed`.
   *
   * @example
   * async standBy() {
   *   await openListener();
   * },
   */
  standBy?(): Promise<void>;
  /**
   * Pure and total. Returns an `Inbound`, `{ silent }` (mine, no reply needed, and why), `null` (the same without a
   * reason) or `undefined` (not mine). The bot's own messages are silent; junk never throws. Runs twice for each event:
   * alone when it arrives, and again when its turn begins, perhaps in a later process, with the rest of its unit.
   * `more` are the other events gathered with it, oldest first.
   *
   * A direct chat has the id of the person, even if the platform sends to another address, such as a nick: keep the
   * address in `account.store`, and look it up in `send`. Otherwise the next person who takes the address continues the
   * conversation.
   */
  parse(raw: Json, more?: readonly Json[]): Parsed;
  /**
   * Pure: turns Markdown, media and buttons into parts, each within the platform's limits. `inbound` is the message
   * being answered, for channels that address its sender in a group; absent if no message of this chat is answered, as
   * for a webhook. `trigger` is its id, for channels that can reply to it. If it throws, the host calls it again with
   * the text alone, without files, buttons and markup.
   */
  render(
    reply: Reply,
    address: Address,
    about?: { readonly trigger?: string; readonly inbound?: Inbound },
  ): readonly Part[];
  /**
   * Sends one part, or edits the message that `part.replaces` names. Throws `ChannelError`, whose `fate` decides about
   * retries: `not-sent` and `retryable` is retried for a day, `unknown` once, after the platform answers again
   * (`ChannelAccount.calling`). Any other throw is treated as `unknown`. Deadline 15 minutes.
   */
  send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt>;
  /**
   * Applies the platform's rate limits to each part before it is marked as being sent. `undefined`: the part may go
   * now. Otherwise the promise resolves when it may, or when the signal aborts; it never rejects. In both cases the
   * part uses up its share of the limit. After 120 s the part is sent anyway. A part with `replaces` is an edit.
   */
  admit?(part: Part, address: Address, signal: AbortSignal): Promise<void> | undefined;
  /** Idempotent; leaves no socket and no timer open. The host waits at most 10 s. */
  close(): Promise<void>;
  /** Stops accepting events before a close; running turns still send. The gateway waits at most 5 s. */
  pause?(): Promise<void>;
  /**
   * Receives the account's options after an edit of the configuration that left `connectionOptions` unchanged. They
   * apply from the next call on.
   */
  update?(options: Readonly<Record<string, unknown>>): void;
  /** Capability `edits`: removes a message. */
  remove?(messageId: string, address: Address, signal: AbortSignal): Promise<void>;
  /**
   * Capability `edits`: a preview. `resume` are message ids that a killed process left behind, `trigger` is the message
   * being answered; `onMessage` receives all ids each time one is added. Call `onUncertain` if a send of the preview
   * ended with an unknown outcome, because the message may remain beside the reply.
   */
  preview?(
    address: Address,
    options: {
      readonly resume: readonly string[];
      readonly trigger?: string;
      onMessage(messageIds: readonly string[]): void;
      onUncertain?(): void;
    },
  ): ChannelPreview;
  /**
   * Capability `reactions`: sets the bot's reaction; `null` removes it. Once `patience` is aborted, a reaction that
   * still waits for the platform's rate limits is given up and rejects with a `ChannelError` `aborted`, `not-sent`; a
   * call in progress continues.
   */
  react?(messageId: string, emoji: string | null, address: Address, patience?: AbortSignal): Promise<void>;
  /** Capability `typing`: shows for a few seconds that a reply is being written. */
  typing?(address: Address): Promise<void>;
  /**
   * Capability `menu`: an edit of the configuration has changed the commands. The channel registers its first menu
   * itself, in `start`, from `account.commands()`.
   */
  menu?(commands: readonly { readonly name: string; readonly summary: string }[]): Promise<void>;
  /**
   * Capability `stickers`: finds stickers that this bot can send by what they show. Returns matches only, the best
   * first.
   */
  findMedia?(kind: "sticker", query: string, limit: number): Promise<readonly MediaFound[]>;
  /** Resolves a name such as `@name`, which webhooks may use in `to`, to a chat id. */
  resolve?(target: string): Promise<string>;
  /**
   * Checks with the platform whether the account works; also called without `start`, on a connection that is closed
   * right after. It changes nothing there. While a send whose outcome is unknown waits for the platform to answer, it
   * is called after 2, 10 and 60 s and then every minute.
   */
  probe?(): Promise<ChannelProbe>;
  /** Checks with the platform whether the bot is in a chat. It changes nothing there; also called without `start`. */
  members?(chat: string): Promise<ChannelMembership>;
  /**
   * Streams a file of an accepted message into the folder `media` of the account's directory, and detects its type from
   * the content. The host sets the limit (`mediaMaxMb`) and removes the file after seven days. Throws `ChannelError`;
   * the agent reads its `detail`. `describe` returns a description of what an image shows, if a model can see images;
   * it rejects once `signal` has aborted.
   */
  fetchMedia?(
    media: InboundMedia,
    options: {
      readonly maxBytes: number;
      readonly signal: AbortSignal;
      describe?(image: { readonly path: string; readonly mimeType: string }): Promise<string | undefined>;
    },
  ): Promise<{
    readonly path: string;
    readonly mimeType: string;
    readonly size: number;
    readonly description?: string;
  }>;
}

/** A file that the platform stores. A message can include it by its `ref`, without sending it again. */
export interface MediaFound {
  /** Use it as `OutboundMedia.ref`. */
  readonly ref: string;
  readonly emoji?: string;
  /** The set it belongs to. */
  readonly setName?: string;
  /** A description of what it shows; empty if it has none yet. */
  readonly description: string;
}

/** What the platform reports about one account. */
export interface ChannelProbe {
  readonly ok: boolean;
  /** One sentence: who the bot is and how it receives updates, or what is wrong, with the remedy. */
  readonly detail: string;
  /**
   * The owner of the credential, as far as the credential contains it; also set if the platform refused it. Two
   * accounts must not share it.
   */
  readonly identity?: NonNullable<ChannelStatus["identity"]>;
  /**
   * False: in groups, the platform delivers only messages that address the bot, unless the bot is an administrator
   * there.
   */
  readonly seesAllGroupMessages?: boolean;
  /** Problems of an account that works, each with what to do. */
  readonly findings?: readonly { readonly name: string; readonly reason: string; readonly fix: string }[];
}

/** Whether the bot is in a chat. */
export interface ChannelMembership {
  /** True if it can read and write there. */
  readonly ok: boolean;
  /** The bot's role there, such as `administrator`, or why it is not in the chat. */
  readonly detail: string;
  /** True if it receives every message there, whatever the account's own setting. */
  readonly seesAll?: boolean;
}

/**
 * What `parse` returns for a message: `chat`, `sender` and `text`, and what else the event has. The host adds id,
 * channel, account and authority. Default of `kind`: `message`; of `media`: none; of `mention`: true in a direct chat;
 * of `timestamp`: the time of acceptance.
 *
 * @example
 * return { chat: { id: from, kind: "direct" }, sender: { id: from }, text };
 */
export type ChannelInbound = Omit<
  Inbound,
  "id" | "channel" | "account" | "authority" | "request" | "kind" | "media" | "mention" | "timestamp"
> &
  Partial<Pick<Inbound, "kind" | "media" | "mention" | "timestamp">>;

/** What `parse` returns for a platform event. */
export type Parsed = ChannelInbound | Silent | null | undefined;

/** A problem in an account's options that no schema can express. */
export interface OptionProblem {
  /** Name of the option to change. */
  readonly option: string;
  /**
   * What is wrong with it, to follow its path and without a full stop, such as `is missing, and webhookUrl needs it`.
   */
  readonly message: string;
  readonly hint: string;
  /** The account runs anyway. */
  readonly warning?: true;
}

/** The surroundings of an account, for a check that looks at other accounts too. */
export interface AccountSurroundings<Options = unknown> {
  /** Its configuration path, such as `channels.irc.accounts.work`. */
  readonly path: string;
  /** The running accounts before it, whose ports and paths are already in use. */
  readonly before: readonly { readonly path: string; readonly options: Options }[];
}

/**
 * How a platform's user ids are written, how two of them compare, and which can change hands.
 *
 * @example
 * // A platform with names in place of ids, where only a name that begins with `~` is free for the next person.
 * const identity: ChannelIdentity = { fold: (id) => id.toLowerCase(), weak: (id) => id.startsWith("~") };
 */
export interface ChannelIdentity {
  /** Prefixes besides `<id>:` that are stripped in allowlists, such as `tg`. */
  readonly prefixes?: readonly string[];
  /** Regular expression of a whole id, such as `\\d+`; entries that do not match are ignored with a warning. */
  readonly pattern?: string;
  /**
   * Regular expression of a whole group id, such as `-?\\d+`. `doctor` reports other keys of `groups`, because they
   * match no group. Default: every key can be an id.
   */
  readonly groupPattern?: string;
  /**
   * The one form of an id: two ids with the same form are the same person, or the same group. Pure. The host applies it
   * to what `parse` returns (`sender.id`, `chat.id`) and to the ids in the configuration. Where servers differ, choose
   * the form that keeps more ids apart: two people with one form would share their rights. Default: ids compare as they
   * are.
   */
  readonly fold?: (id: string) => string;
  /**
   * Whether another person can take an id over, such as a nick that is free once its holder has left. A weak identity
   * never becomes owner, and an approved pairing code admits it for 24 hours only. `true`: every id. A function is
   * pure, and is handed ids in the form of `fold`. Default: none.
   */
  readonly weak?: boolean | ((id: string) => boolean);
}

/**
 * A channel is a plugin whose whole setup is one definition. Several accounts of it may run at once, each with its own
 * connection.
 */
export interface ChannelDefinition<O extends TObject = TObject> {
  /** Also the config key: `channels.<id>`. */
  readonly id: string;
  /**
   * The name of the platform, such as `Telegram`, if people would look for another key than the id. A configuration or
   * a request that names the channel so, or by a prefix of its `identity`, is refused with a sentence that names the
   * id.
   */
  readonly platform?: string;
  /** The channel's own semantic version, such as `1.0.0`. */
  readonly version: string;
  /** The range of SDK versions it was written for, such as `^0.1.0`. */
  readonly host: string;
  /** The channel's own codes, such as the reasons of its `ChannelError`s; see `PluginDefinition.codes`. */
  readonly codes?: PluginDefinition["codes"];
  /** Options of one account. The host adds the access options (`dmPolicy`, `allowFrom`, `groups`, ...). */
  readonly options: O;
  /**
   * Names of options of the account that contain a secret: a string, `{ env }` or `{ file }` in the configuration, a
   * string in `open`. `secretText` of the SDK declares one in its place, also inside a list or an object.
   */
  readonly secrets?: readonly string[];
  /**
   * Options that name a file with a secret, and the secret option that receives the file's text. A file takes
   * precedence over the option itself; a missing or empty file is an error of the account. Relative paths begin at the
   * configuration's directory.
   */
  readonly secretFiles?: Readonly<Record<string, string>>;
  /**
   * Names of options that a connection depends on. The account restarts when one of them changes; other changes are
   * passed to `update`. Absent: all.
   */
  readonly connectionOptions?: readonly string[];
  /**
   * Names of options that identify the bot. A named account never inherits them from the root, and two accounts never
   * share them. The password of a server that several bots use is a secret, but not a credential.
   */
  readonly credentials?: readonly string[];
  /**
   * The platform's own id of the bot that an account signs in as, if its options contain it, such as the number in a
   * token. Of two accounts with the same id the second is refused, because they would take events from each other. The
   * answer depends on the options only.
   */
  signsInAs?(options: Static<O>): string | undefined;
  /**
   * Finds problems between options that each match the schema, such as two that need each other, or a port that an
   * earlier account uses. `config validate` shows them with the account's path, an edit that causes one is not written,
   * and the account does not open. Never put a secret into the text. The answer depends on the arguments only.
   */
  check?(options: Static<O>, around: AccountSurroundings<Static<O>>): readonly OptionProblem[];
  /**
   * Environment variables that provide options of the account `default` if its configuration contains no credential.
   */
  readonly environment?: Readonly<Record<string, string>>;
  readonly capabilities: ChannelCapabilities;
  /**
   * How the platform's user ids are written and compared. Default: unchanged, and each belongs to one person for good.
   */
  readonly identity?: ChannelIdentity;
  /**
   * Creates the connection and returns it at once; a promise is refused. The connection connects in `start`. If it
   * throws, only this account fails.
   */
  open(account: ChannelAccount<Static<O>>): ChannelConnection;
}

/** A tool that an engine may call. Two calls of one turn may run at the same time. */
export interface EngineTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
  /**
   * Resolves with the result for the model. A refused call resolves too: `{ ok: false, error, code }`. Files for the
   * model, such as images, are in the member `media` of an object that has no other members than those of `ToolOutput`:
   * a list of `{ mimeType, data }` with `data` in base64. A model that cannot be shown them reads the rest.
   *
   * `written` is the JSON text from which the model's `args` were parsed. With it, whole numbers keep all their digits;
   * without it, a call with an integer beyond 2^53 is refused, because digits may have been lost.
   */
  run(args: Json, signal: AbortSignal, written?: string): Promise<Json>;
}

/** One message of a transcript. */
export interface EngineMessage {
  readonly role: "user" | "assistant" | "system";
  readonly text: string;
  readonly media?: readonly InboundMedia[];
}

/** What an engine receives for one turn. It does not change while the turn runs, even if the configuration does. */
export interface EngineTurn {
  readonly agentId: string;
  readonly sessionKey: string;
  /** What caused the turn, unchanged and untrusted. The last of `messages` contains the same text in its envelope. */
  readonly inbound: Inbound;
  /** `provider/model`; absent if none is configured. */
  readonly model?: string;
  /** Models to try, in order, if the first cannot be reached. */
  readonly fallbacks: readonly string[];
  readonly thinking: Thinking;
  /** System prompt. */
  readonly instructions: string;
  /** Names of the skills of this group or topic. Absent: all; empty: none. */
  readonly skills?: readonly string[];
  /** Oldest first; the last is the current request. */
  readonly messages: readonly EngineMessage[];
  /**
   * What the agent may call: the actions in chats, its skills, and the tools of plugins; see
   * `examples/reference/tools.md`.
   */
  readonly tools: readonly EngineTool[];
  /** Provider settings of `models.providers`, secrets resolved. */
  readonly providers: Readonly<Record<string, EngineProvider>>;
  /**
   * Asks before each call of a model whether the budget allows it, and says afterwards what it used. Call it around
   * every request to a model server, retries and fallbacks included. An engine that does not is accounted for by its
   * `usage` events, and a limit then stops only its next turn. Absent in a host without budgets, such as a test.
   *
   * @example
   * const inputTokens = estimate(messages);
   * const call = await turn.spending?.begin({ model: "acme/large", inputTokens, outputTokens: 4096 });
   * const reply = await ask(messages);
   * if (call !== undefined) await turn.spending?.end(call.id, { inputTokens: reply.in, outputTokens: reply.out });
   */
  readonly spending?: {
    /**
     * `inputTokens` is an estimate, `outputTokens` the longest reply; absent if the server decides. Throws
     * `EngineError`: `budget_exceeded`, `budget_run_exceeded` or `budget_unpriced`. Let it end the turn: no other model
     * and no later try may be asked instead. `last`: the budget of this run has room for one more reply of so many
     * tokens, so offer no tools and ask for a closing sentence.
     */
    begin(call: {
      readonly model: string;
      readonly inputTokens: number;
      readonly outputTokens?: number;
    }): Promise<{ readonly id: string; readonly last?: number }>;
    /**
     * Call it once for each `begin`. `null`: nothing was used, such as when the server refused the request.
     * `estimated`: the server reported no usage, because the call broke off. The counts mean the same as in a `usage`
     * event. Never throws.
     */
    end(
      id: string,
      used: {
        readonly inputTokens: number;
        readonly outputTokens: number;
        readonly cacheRead?: number;
        readonly cacheWrite?: number;
        readonly reasoning?: number;
        readonly estimated?: boolean;
      } | null,
    ): Promise<void>;
  };
}

/** One model server: its protocol, its address and the credentials, secrets resolved. */
export interface EngineProvider {
  readonly api: "openai" | "anthropic" | "google" | "openai-compatible";
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * What the operator says about single models, by the name after the slash. `contextTokens`: the size of the context
   * window, in tokens. `images` and `tools`: whether the model accepts images and calls tools; absent if unknown.
   * `cacheMarks`: its server caches only what a request marks.
   */
  readonly models?: Readonly<
    Record<
      string,
      {
        readonly contextTokens?: number;
        readonly images?: boolean;
        readonly tools?: boolean;
        readonly cacheMarks?: boolean;
      }
    >
  >;
}

/**
 * An engine runs a turn and yields its events: `text` and the others as they come, `done` last. An engine that asks its
 * model again after the reply has begun yields `restart` first, because two beginnings must not be joined. Several
 * turns run at once. `plugins/echo` is a small example, `plugins/ai` a large one.
 */
export interface EngineDefinition {
  /** The name in `agents.defaults.engine`. */
  readonly id: string;
  /**
   * True if it does nothing without a configured model. This decides which engine replies if the configuration names
   * none.
   */
  readonly needsModel?: boolean;
  /** True if a reply depends on the last message alone. Earlier messages are then not loaded. */
  readonly stateless?: boolean;
  /**
   * Called once after the start if an agent uses this engine. Load slow resources here, so that they do not delay the
   * first reply.
   */
  prepare?(): Promise<void>;
  /**
   * Describes in a sentence or two what an image shows; `undefined` if the model cannot see images. Throws as `run`
   * does.
   */
  describe?(
    image: { readonly path: string; readonly mimeType: string },
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers" | "spending">,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * The models that a turn which begins now would pass over, and why, such as one whose quota is used up. Called for
   * `/status`, `service status` and `service doctor`, so answer from memory. If all models are returned, one of them is
   * asked nevertheless.
   */
  skipped?(
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers">,
  ): Promise<readonly SkippedModel[]> | readonly SkippedModel[];
  /**
   * Ends with `done`. Throws `EngineError` if the model fails: the sender gets an apology, the operator the reason.
   * Stops soon after `signal` is aborted (`/stop`, `timeoutSeconds`, a closing gateway); later events are ignored.
   */
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<TurnEvent>;
}

/**
 * Declares a plugin; its module exports it as default. It checks nothing: the host does, before any of the plugin's
 * code runs.
 *
 * @example
 * export default definePlugin({
 *   id: "hello",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   options: Type.Object({ greeting: Type.String({ default: "Hello!" }) }),
 *   setup(host, options) {
 *     host.command({ name: "hello", summary: "Says hello.", role: "allowed", run: () => options.greeting });
 *   },
 * });
 */
export function definePlugin<O extends TObject, S extends TSchema>(
  definition: PluginDefinition<O, S>,
): PluginDefinition<O, S> {
  return definition;
}

/**
 * Declares a channel as a plugin of its own. `core/host/README.md` contains a complete one.
 *
 * @example
 * export default defineChannel({
 *   id: "irc",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   options: Type.Object({
 *     server: Type.String(),
 *     password: Type.Optional(secretText({ description: "Password of the bot." })),
 *   }),
 *   capabilities: { maxChars: 400 },
 *   open: (account) => createConnection(account),
 * });
 */
export function defineChannel<O extends TObject>(definition: ChannelDefinition<O>): PluginDefinition {
  return {
    id: definition.id,
    version: definition.version,
    host: definition.host,
    ...(definition.codes === undefined ? {} : { codes: definition.codes }),
    channel: definition as unknown as ChannelDefinition,
    setup(host) {
      host.channel(definition as unknown as ChannelDefinition);
    },
  };
}

/**
 * Declares an engine as a plugin of its own.
 *
 * @example
 * export default defineEngine({
 *   id: "parrot",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   async *run(turn) {
 *     yield { type: "text", delta: turn.inbound.text };
 *     yield { type: "done" };
 *   },
 * });
 */
export function defineEngine(
  definition: EngineDefinition & {
    readonly version: string;
    readonly host: string;
    readonly codes?: PluginDefinition["codes"];
  },
): PluginDefinition {
  return {
    id: definition.id,
    version: definition.version,
    host: definition.host,
    ...(definition.codes === undefined ? {} : { codes: definition.codes }),
    setup(host) {
      host.engine(definition);
    },
  };
}

/**
 * Declares a preset as a plugin of its own. If a field or template is wrong, the plugin is left out, with the reason.
 *
 * @example
 * export default definePreset({
 *   id: "uptime",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   path: "uptime",
 *   mappings: [
 *     {
 *       name: "Uptime",
 *       messageTemplate: "{{ monitor }} is {{ status }} since {{ since }}",
 *       sessionKey: "hook:uptime:{{ monitor }}",
 *     },
 *   ],
 * });
 */
export function definePreset(
  definition: PresetDefinition & { readonly version: string; readonly host: string },
): PluginDefinition {
  const { id, version, host, path, mappings } = definition;
  return { id, version, host, presets: [{ id, path, mappings }], setup() {} };
}

/**
 * Gives a transform its types; `P` is the expected type of the payload. It returns the function unchanged. It is the
 * only export of `service-gateway/sdk` that is available inside the sandbox.
 *
 * @example
 * interface Payload {
 *   readonly build: { readonly state: string; readonly url: string };
 * }
 *
 * export default defineTransform<Payload>(({ payload }) => {
 *   if (payload.build.state === "passed") return null;
 *   return { message: `The build is ${payload.build.state}: ${payload.build.url}` };
 * });
 */
export function defineTransform<P = Json>(transform: Transform<P>): Transform<P> {
  return transform;
}
