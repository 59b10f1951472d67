/**
 * The door for authors of plugins: `service-gateway/sdk`.
 *
 * The bundled plugins use exactly this. Everything exported here is the contract, versioned by `sdkVersion`; a plugin says in `host`
 * which versions it was written for. `core/host/README.md` holds a plugin and a channel that run as they stand, the order in which
 * things happen, the table of stations and what a failure does at each. Times are epoch milliseconds, durations end in their unit.
 *
 * `Type` is TypeBox, for schemas of options: https://github.com/sinclairzx81/typebox
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
  sdkVersion,
  type Thinking,
  type Transform,
  type TurnEvent,
} from "../contract/index.ts";
import { type Sniffed, sniff } from "../media/index.ts";
import type { HookName, HookTable, TapOrder } from "../stations/index.ts";

export type { Transform, TransformContext, TransformResult } from "../contract/index.ts";
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
 * A log of one plugin. Every line carries the plugin's id; secrets of the configuration are removed by value. Lines go to
 * `logs/gateway.log` and to the terminal, from `log.level` on. Texts of messages belong to `trace` only.
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
 * Durable key-value data in a namespace of its own: one for each plugin, one for each channel account. Values are JSON; keys are any text.
 * Every call rejects with `HostError` when the state cannot be read or written (`state_full`: no room on the disk).
 *
 * @example
 * await host.store.set("greeted:42", true, { ttlSeconds: 86_400 });
 */
export interface PluginStore {
  /** `null` when there is none, or when its time is over. */
  get(key: string): Promise<Json | null>;
  /** Replaces. `ttlSeconds`: after that the key is gone; absent: never. Survives a killed process; with `durable` also a power cut. */
  set(key: string, value: Json, options?: { readonly ttlSeconds?: number; readonly durable?: boolean }): Promise<void>;
  /** `false` when there was none. */
  delete(key: string): Promise<boolean>;
  /** Sorted by key. */
  list(options?: { readonly prefix?: string; readonly limit?: number }): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  /**
   * Changes a value in one atomic step. `change` receives the value (`null`: none) and returns the next one; `null` deletes it, `undefined`
   * leaves it as it is. Resolves with the value afterwards. `change` runs again when another writer was faster, so it must be pure.
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
 * Who may use a command. A sender whom the access policy refuses can use none, and neither can a webhook.
 *
 * - `anyone`: every sender whom the access policy admits.
 * - `allowed`: of those, every sender with an identity; not one who writes as a chat, such as an anonymous administrator.
 * - `owner`: a sender listed in `commands.ownerAllowFrom` if that is set, otherwise in the account's `allowFrom`, or made owner by pairing.
 */
export type CommandRole = "anyone" | "allowed" | "owner";

/** What a command is handed. */
export interface CommandCall {
  /** Without the slash, in lower case. */
  readonly name: string;
  /** What stands behind the command's name on the first line, trimmed; empty when nothing does. */
  readonly args: string;
  readonly inbound: Inbound;
  readonly route: Route;
}

/**
 * A chat command, such as `/pair`. It is listed by `/help` and in the menus of channels. A name that is taken is refused, and logged.
 *
 * @example
 * host.command({ name: "ping", summary: "Answers.", role: "allowed", run: ({ args }) => `Pong ${args}` });
 */
export interface CommandDefinition {
  /** `a-z`, `0-9`, `_`; 1 to 32 characters, without the slash. */
  readonly name: string;
  /** One line for the menu. */
  readonly summary: string;
  /** Shown in help, such as `[approve [ID]]`; absent when the command takes nothing. */
  readonly args?: string;
  readonly role: CommandRole;
  /** True: it never waits behind a turn of its chat. For what answers at once, such as a status. */
  readonly control?: boolean;
  /** Returns what is answered, as Markdown; an empty text answers nothing. A throw, and no answer within 120 s, is an apology to the sender and `failed` in the trace. */
  run(call: CommandCall): string | Promise<string>;
}

/**
 * Who may call a route: `gateway` a holder of the gateway token (`Authorization: Bearer ...`), `device` also a device that a plugin vouches
 * for (`PluginHost.devices`), `public` every client. Requests from web pages of other sites are always refused.
 */
export type RouteAccess = "gateway" | "device" | "public";

/** An HTTP request as a route's handler sees it. */
export interface RouteRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Values of the `:name` parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. The credentials that opened the route are left out, unless it is `public`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON (`{}` when there is none), or a `Buffer` when the route asked for `rawBody`. */
  readonly body: unknown;
  /** Client address, after `gateway.trustedProxies`. */
  readonly clientAddress: string;
  /** The client as attempts are counted: its address, of IPv6 the /64 network. */
  readonly client: string;
}

/** An HTTP answer. Texts, bytes and streams are sent as they are, with `type`; any other body as JSON; none without one. */
export interface RouteAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Content type of a text, bytes or stream body. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Server-sent events: lines of `data:` until the iterable ends or the client leaves. */
  readonly events?: AsyncIterable<Json>;
}

/**
 * An HTTP route under `/plugins/<id>/`. A throw, and no answer within 120 s, is answered 500 without its text, and logged. A stream as body
 * is cut where it gives nothing for 120 s; events may be silent for as long as they like. One whose address is taken is logged and left out.
 *
 * @example
 * host.route({ method: "GET", path: "things/:id", access: "gateway", handler: ({ params }) => ({ body: { id: params.id } }) });
 */
export interface RouteDefinition {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/plugins/<id>/`, with `:name` parts; when it begins with `/`, from the root. */
  readonly path: string;
  readonly access: RouteAccess;
  /** TypeBox schema of the JSON body; a mismatch is answered 400 before the handler. */
  readonly schema?: TSchema;
  /** True: the handler gets the bytes, of whatever type; for signatures. */
  readonly rawBody?: boolean;
  /** Bytes; default 262,144. A larger body is answered 413. */
  readonly maxBodyBytes?: number;
  handler(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

/** An option of a command of the command line. `--json`, `--help`, `--config` and `--state` are every command's own. */
interface CliOption {
  /** `a-z`, `0-9` and `-`, a letter first; `poll-seconds` is given as `--poll-seconds`. */
  readonly name: string;
  /** What it does, in one line of help. */
  readonly summary: string;
  /** What help calls its value, such as `seconds`. Absent: it is a flag without a value. */
  readonly value?: string;
  /** The values that are allowed; another one is wrong usage. */
  readonly choices?: readonly string[];
  /** True: it may be given several times. */
  readonly repeatable?: boolean;
  /** True: without it the command is wrong usage. */
  readonly required?: boolean;
}

/** Questions to the person at the terminal. Each prints on the standard error output, and rejects when the input ends. */
interface CliTerminal {
  /** One line, trimmed; `preset` where the line is empty. */
  ask(question: string, preset?: string): Promise<string>;
  /** `y` or `yes`; anything else is no. */
  confirm(question: string): Promise<boolean>;
  /** One line that is not shown while it is typed. */
  password(question: string): Promise<string>;
}

/** The gateway that runs on the same state directory. */
interface CliGateway {
  /** Base address of its HTTP server, such as `http://127.0.0.1:18789`. */
  readonly url: string;
  /** What the plugin reports there with `PluginHost.status`. */
  readonly watched: readonly WatchedStatus[];
}

/** Whether deliveries to a preset would be answered. */
interface CliHooks {
  /** `hooks.enabled`. */
  readonly enabled: boolean;
  /** Whether `hooks.token` is set. */
  readonly hasToken: boolean;
  /** The path below the gateway's address, such as `/hooks/imap`. */
  readonly path: string;
  /** What answers there once the section has an account; `undefined`: nothing does, because the plugin is switched off. */
  readonly answeredBy?: "preset" | "mapping";
  /** One sentence on why deliveries are refused all the same, such as a session prefix that is missing, and what to do. */
  readonly problem?: { readonly reason: string; readonly fix: string };
}

/** The section `hooks.<id>` of one of the plugin's presets, as a command reads and changes it. */
interface CliPreset {
  /** The section as the file has it now, checked and with its defaults; `undefined`: there is none. Throws `HostError` when the file cannot be read. */
  settings(): Promise<Json | undefined>;
  /**
   * The text of a secret in the section: `value` is a text, `{ env }` or `{ file }`, `key` says where it is, such as
   * `accounts.ada.password`. Throws an error that names the place and never the value.
   */
  secret(value: unknown, key: string): string;
  /** The hook token, for calls to the webhooks of the gateway. Rejects when none is set. */
  token(): Promise<string>;
  hooks(): Promise<CliHooks>;
  /**
   * Sets a value of the section, or removes it when `value` is `undefined`. `path` begins below `hooks.<id>`; an empty one is the section itself. Comments
   * stay. Nothing is written, and the call rejects with `config_invalid`, when the file would have a new error. Resolves with whether the
   * file has changed; a new file gets mode 0600.
   *
   * @example
   * await call.preset("imap").set(["accounts", "ada", "pollSeconds"], 30);
   */
  set(path: readonly string[], value: Json | undefined): Promise<boolean>;
  /**
   * Switches the hook server on. Without a `hooks.token` it makes one in a file beside the configuration, mode 0600, which is `tokenFile`
   * of the answer. What is set already stays.
   */
  enableHooks(): Promise<{ readonly changed: boolean; readonly tokenFile?: string }>;
}

/** Secrets of the plugin in files of its own in the state directory, each with mode 0600. Names are letters, `0-9`, `-`, `_`, `.` and `@`. */
interface CliSecretFiles {
  /** Where the file of this name is or would be, as an absolute path. */
  path(name: string): Promise<string>;
  /** Replaces the file in one step, and resolves with its path. */
  write(name: string, text: string): Promise<string>;
  /** `false` when there was none. */
  remove(name: string): Promise<boolean>;
}

/** What a command of the command line is handed. It runs in a process of its own, beside a gateway or without one. */
export interface CliCall {
  /** The arguments in the order of the declaration; an optional one that is missing is `undefined`. */
  readonly args: readonly (string | undefined)[];
  /** The options that were given, by name: a text, a list of texts where it is repeatable, or `true` for a flag. */
  readonly options: Readonly<Record<string, string | readonly string[] | true | undefined>>;
  /** How this program is called here, for texts that say what to run next, such as `service`. */
  readonly program: string;
  /** The plugin's own store, the same that a running gateway uses. Its calls reject with `state_missing` before the first start of a gateway, unless the command `prepares`. */
  readonly store: PluginStore;
  /** Aborted at SIGINT and SIGTERM. A command that never reads it is ended by them; one that does has 5 s to end. */
  readonly signal: AbortSignal;
  /** Absent where the input or the output is not a terminal: then options have to say everything. */
  readonly terminal?: CliTerminal;
  /** Prints a line at once, or a row of cells; nothing with `--json`. */
  say(line: string | readonly string[]): void;
  /**
   * Waits for the work. When that takes more than a second, says on the standard error output what is being done.
   *
   * @example
   * const client = await call.progress("Connecting to imap.example.org", connect());
   */
  progress<T>(doing: string, work: Promise<T>): Promise<T>;
  /** The configuration of one of the plugin's presets. */
  preset(id: string): CliPreset;
  readonly secretFiles: CliSecretFiles;
  /** `undefined` where none runs. */
  gateway(): Promise<CliGateway | undefined>;
  now(): number;
  newId(): string;
}

/** What a command of the command line says at its end. With `--json`, `data` is printed in place of `lines`. */
export interface CliAnswer {
  /** A text is a line; lists that follow one another are the rows of a table. */
  readonly lines: readonly (string | readonly string[])[];
  readonly data: Json;
  /**
   * True: what was asked for could not be done; the exit code is 1, and with `data` null the lines are the error that `--json` prints. `usage`:
   * the options do not fit together; the lines are the reason, and the exit code is 2.
   */
  readonly failed?: boolean | "usage";
}

/** One command of a plugin, below its group. A throw, and no answer in time, is shown as one line, and ends with 1. */
export interface CliCommand {
  /** `a-z`, `0-9` and `-`, a letter first; or two such words, such as `imap setup`. */
  readonly name: string;
  /** Arguments as help shows them: `<id>` must be there, `[id]` may be. */
  readonly args?: readonly string[];
  readonly options?: readonly CliOption[];
  /** One sentence for help. */
  readonly summary: string;
  /** Shown in help behind the group's name, such as `revoke 7FQ2`. */
  readonly example: string;
  /** Default 120. 0 means no limit, for a command that asks questions or runs until it is stopped. */
  readonly timeoutSeconds?: number;
  /** True: it may run before the first start of a gateway. Its store is empty then, and is made by the first value that it sets. */
  readonly prepares?: boolean;
  run(call: CliCall): CliAnswer | Promise<CliAnswer>;
}

/**
 * Commands that the command line gets, `service <name> <command>`. The code runs without `setup`, in the process of the command line: it
 * has the plugin's store and nothing of a running gateway. The module is also loaded by each gateway, so a large command imports its code
 * when it runs.
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
  /** `a-z`, `0-9` and `-`, a letter first. A name that is taken already is left out. */
  readonly name: string;
  readonly summary: string;
  /** One sentence of help for each first word of commands with two. */
  readonly groups?: Readonly<Record<string, string>>;
  readonly commands: readonly CliCommand[];
}

/**
 * A self-test of the plugin for the operator: a verdict, the reason, and what to do. `service doctor` runs it in the running gateway, 10 s
 * at most; a throw is a `fail`.
 *
 * @example
 * host.check({ name: "mailbox", explain: async () => ({ verdict: "warn", reason: "It is nearly full.", fix: "Empty it." }) });
 */
export interface CheckDefinition {
  /** A word or two, such as `mailbox`. */
  readonly name: string;
  explain(): Promise<{ readonly verdict: "ok" | "warn" | "fail"; readonly reason: string; readonly fix?: string }>;
  /** Mends what `explain` found, when the operator asks for it with `--fix`; returns one sentence: what was done. */
  fix?(): Promise<string>;
}

/** How one thing is that a plugin watches, such as a mailbox. */
interface WatchedStatus {
  /** Kind and name, such as `imap` and `ada`. */
  readonly source: string;
  readonly account: string;
  readonly state: "ok" | "retrying" | "paused" | "needs_login" | "needs_setup";
  /** One sentence; empty while it is well. */
  readonly reason: string;
  /** What to do; empty while it is well. */
  readonly fix: string;
  /** When something last came from it, and when it was last read to its end; epoch milliseconds. */
  readonly lastMail?: number;
  readonly lastSync?: number;
  /** Until when its server announces something new, epoch milliseconds; absent: without an end, or it does not announce. */
  readonly expires?: number;
}

/** How a delivery ended that a plugin handed in. */
interface HookResult {
  /** False: it waits or runs. */
  readonly ended: boolean;
  /** With the reason code; set once it has ended. */
  readonly outcome?: Outcome;
  readonly reason?: string;
  /**
   * What the agent replied, in Markdown, whether or not it was sent anywhere. Absent without `keepReply`, when no agent ran, when the turn
   * failed, and when the agent chose to say nothing.
   */
  readonly reply?: string;
}

/** The section of the configuration that belongs to a preset of a plugin. */
interface PluginPreset {
  /** As it is now; `undefined`: there is none, or the hook server is off. */
  settings(): Json | undefined;
  /**
   * The text of a secret in the section: `value` is what stands there, `key` says where, such as `accounts.ada.password`. Throws an error that
   * names the place and never the value. The log leaves out every text that was read this way.
   */
  secret(value: unknown, key: string): string;
  /** Called after the configuration was edited, whatever was changed in it. Only in `setup`. */
  onChange(fn: () => void): void;
}

/**
 * Everything a plugin may touch; handed to `setup`. What registers (`tap`, `command`, `channel`, `engine`, `route`, `devices`, `check`, `status`, `onReady`) works
 * only until `setup` is done, and throws `plugin_invalid` afterwards; all of it is taken back when `setup` fails.
 */
export interface PluginHost {
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
   * Hands in an event of the plugin's own; resolves when it is on the disk: acknowledge its source then. Rejects (`state_full`) when it
   * could not be stored: then nothing was accepted. `source` is the plugin's id, and an `ingress` tap of the plugin makes an `Inbound` of it.
   */
  receive(event: RawEvent): Promise<Accepted>;
  /**
   * Has a text sent to an address, by the outbox like any answer; resolves when it is on the disk. No agent sees it. Rejects (`state_full`)
   * when it could not be stored. Of two with one `key` the second is not sent.
   *
   * @example
   * host.command({ name: "backup", summary: "Makes a backup.", role: "owner", run: ({ route }) => {
   *   void backup().then(() => route.to && host.notify(route.to, "The backup is done."));
   *   return "It begins.";
   * } });
   */
  notify(address: Address, text: string, options?: { readonly key?: string }): Promise<Accepted>;
  /**
   * Has a text sent to the owner, by the outbox like any answer: where the default agent last had a conversation. Resolves with `true` when it
   * is on the disk, and with `false` when nothing was ever written to that agent, so that there is no place to send it to. Of two with one
   * `key` the second is not sent.
   *
   * @example
   * if (!(await host.notifyOwner("The mailbox needs a new password."))) host.log.warn("There is no chat to say it in.");
   */
  notifyOwner(text: string, options?: { readonly key?: string }): Promise<boolean>;
  /**
   * Hands a delivery to the mappings at a path below `hooks.path`, as if it had come over HTTP, but without a token; works from `onReady` on.
   * Resolves when the event is on the disk. Of two deliveries with one `key` the second leads to nothing and resolves with `duplicate`, for
   * seven days; the key counts for this plugin and this path. `origin` is one line about the sender that the agent reads before the content,
   * such as whether the sender was verified. `keepReply`: `hookResult` may return what the agent replied. Rejects with an error that has the `code` and `status` of the HTTP answer
   * (`core/http/README.md`): from status 500 on the same delivery may be accepted later, below it the configuration or the payload is wrong.
   *
   * @example
   * const { duplicate } = await host.hook("imap", { messages: [mail] }, { key: mail.id, origin: "The sender is not verified." });
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
   * How a delivery ended that the plugin handed in by `hook`, by the `eventId` that it was accepted with; also after a restart, for as long as
   * the event is kept (seven days). Resolves with `undefined` when the event is not kept any more, or another plugin or a client sent it. A
   * `settled` tap says when to ask.
   *
   * @example
   * host.tap("settled", async ({ eventId }) => {
   *   const result = await host.hookResult(eventId);
   *   if (result?.reply !== undefined) await keep(eventId, result.reply);
   * });
   */
  hookResult(eventId: string): Promise<HookResult | undefined>;
  /**
   * What the user wrote in `hooks.<id>` for a preset that the plugin declares. Call it in `setup`.
   *
   * @example
   * const section = host.preset("imap");
   * section.onChange(() => follow(section.settings()));
   */
  preset(id: string): PluginPreset;
  /**
   * Takes part at a station. Order, deadlines and what a failure does: the table in `core/host/README.md`.
   *
   * @example
   * host.tap("gating", (inbound) => (inbound.text.length > 5_000 ? { code: "too_long", hint: "Write less at once." } : undefined));
   */
  tap<N extends HookName>(hook: N, fn: HookTable[N], options?: { readonly order?: TapOrder }): void;
  command(definition: CommandDefinition): void;
  channel(definition: ChannelDefinition): void;
  engine(definition: EngineDefinition): void;
  route(definition: RouteDefinition): void;
  /**
   * Vouches for tokens of devices: `check` is asked about a token that is not the gateway's, for routes with access `device`. Asked for each
   * request, so a revoked token stops working at once. Compare digests, never texts. An error refuses the token, and is logged.
   *
   * @example
   * host.devices(async (token) => (await host.store.get(`device:${createHash("sha256").update(token).digest("hex")}`)) !== null);
   */
  devices(check: (token: string) => boolean | Promise<boolean>): void;
  check(definition: CheckDefinition): void;
  /**
   * Says how the things are that the plugin watches: for `service status`, with `--json` under the plugin's id, and for the details of
   * `/readyz`. Asked often, so it answers from memory. It must hold no secret.
   *
   * @example
   * host.status(() => [{ source: "imap", account: "ada", state: "ok", reason: "", fix: "" }]);
   */
  status(report: () => readonly WatchedStatus[]): void;
  /** Base address of the gateway's HTTP server, such as `http://127.0.0.1:18789`; known from `onReady` on. */
  address(): string;
  /** Runs after all plugins are up and the server listens; 10 s each. A failure is logged, the plugin stays up. */
  onReady(fn: () => void | Promise<void>): void;
  /** Runs when the gateway closes, last in first out; 5 s each. Also allowed after `setup`. */
  onClose(fn: () => void | Promise<void>): void;
}

/** A plugin: data first, function second. The host checks the data before any of the code runs. */
export interface PluginDefinition<O extends TObject = TObject> {
  /** Config key, log field and store namespace, best also the folder: `a-z`, `0-9`, `-`, a letter first, at most 64. */
  readonly id: string;
  /** Its own, semantic: `1.0.0`. */
  readonly version: string;
  /** SDK range that it was written for, such as `^0.1.0`. */
  readonly host: string;
  /** Ids of plugins that must be up first; without one of them this plugin is left out. */
  readonly requires?: readonly string[];
  /** Schema of `plugins.entries.<id>.options`; `setup` is handed the values with its defaults. What does not fit leaves the plugin out. */
  readonly options?: O;
  /** True: set up only when `plugins.entries.<id>.enabled` is `true`; for what is of use to few. */
  readonly optIn?: boolean;
  /** Mappings of the hook server that users switch on by name, in `hooks.presets`. Data: they are read without setting the plugin up. */
  readonly presets?: readonly PresetDefinition[];
  /** Commands for the command line. Data as well: read without setting the plugin up. */
  readonly cli?: CliDefinition;
  /**
   * The codes of its own that decisions and errors of the plugin carry, by name: `a-z`, `0-9` and `_`. `service why` prints the meaning and
   * the hint where a decision comes without. A name that ends in `*` covers all codes with this beginning. The gateway's own codes
   * (`core/CODES.md`), such as `flood_wait`, need no entry. Data: they are read without setting the plugin up.
   */
  readonly codes?: Readonly<Record<string, CodeDefinition>>;
  /** Set by `defineChannel`: what `setup` will register, so that its options can be checked while nothing runs. */
  readonly channel?: ChannelDefinition;
  /** Registers everything, within 10 s. A throw leaves the plugin out; the rest runs. */
  setup(host: PluginHost, options: Static<O>): void | Promise<void>;
}

/**
 * One mapping of a preset: the fields of `hooks.mappings` that make sense without knowing the user. Texts are templates over the payload,
 * such as `{{ messages[0].subject }}`; `core/webhooks/README.md` describes each field. What the user set for the preset as a whole
 * (`model`, `thinking`, `instructions`, `allowUnsafeExternalContent` in `hooks.<preset id>`) takes the place of what stands here.
 */
export interface PresetMapping {
  /** Name in logs and in the operator's view; default the preset's id, with a number from the second mapping on. */
  readonly id?: string;
  /** Which requests at the preset's path it takes; absent: all. */
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
  /** What the agent is to do, in plain words. The model reads it outside of the wrapper around the content. */
  readonly instructions?: string;
  readonly deliver?: boolean;
  readonly thinking?: Thinking;
  readonly timeoutSeconds?: number;
  /** Payload path of a list: one run for each element, each seen as the only one. */
  readonly forEach?: string;
  readonly deliverOnly?: boolean;
  /** Status of a success, for senders that insist on one. */
  readonly status?: 200 | 201 | 202 | 204;
  /** Default `json`. */
  readonly body?: "json" | "form" | "text";
}

/** Mappings for what one kind of sender posts; the user switches them on by `hooks.presets: ["<id>"]`. */
export interface PresetDefinition {
  /** What `hooks.presets` names: `a-z`, `0-9`, `-`, a letter first, at most 64. */
  readonly id: string;
  /** Sub-path below `hooks.path`. A mapping of the user's for the same path comes first. */
  readonly path: string;
  /** In their order; the first that matches takes the request. */
  readonly mappings: readonly PresetMapping[];
}

/**
 * What a channel can do beyond text. Only `maxChars` is required: `{ maxChars: 400 }` is a channel of plain text. The host calls `remove`, `preview`, `react` and `typing` only where the capability is declared.
 */
export interface ChannelCapabilities {
  /** Characters of one message, by the platform's own count. */
  readonly maxChars: number;
  /** `rich`: Markdown is shown formatted. The model learns which. Default: `plain`. */
  readonly markup?: "plain" | "rich";
  /** Messages can be changed and removed: there is a live preview. A capability that is left out is one that the platform lacks. */
  readonly edits?: boolean;
  readonly threads?: boolean;
  readonly reactions?: boolean;
  readonly media?: boolean;
  readonly buttons?: boolean;
  readonly typing?: boolean;
  readonly menu?: boolean;
  readonly stickers?: boolean;
  /**
   * What ids of messages and threads look like, where not every text can be one: a regular expression that fits the whole id, and words for
   * it such as "a whole number from 1 on". An action with another id is refused before anything is sent. Default: any text.
   */
  readonly messageIds?: { readonly pattern: string; readonly description: string };
}

/** What `service status` shows of one account. `waiting`: it retries by itself; `failed`: the operator has to fix something. */
export interface ChannelStatus {
  readonly state: "connecting" | "connected" | "waiting" | "stopped" | "failed";
  /** One sentence when something is wrong, with the remedy. */
  readonly detail?: string;
  /** Epoch milliseconds of the last completed exchange with the platform. */
  readonly lastContactAt?: number;
  /** The bot's own name and id, once known. */
  readonly identity?: { readonly id: string; readonly username?: string; readonly name?: string };
}

/** One account of a channel, as the host hands it to `open`. */
export interface ChannelAccount<O = Readonly<Record<string, unknown>>> {
  /** Account id, such as `default`. */
  readonly id: string;
  /** The account's own options, merged and with defaults; secrets are resolved to strings. */
  readonly options: O;
  readonly log: PluginLog;
  /** Of this account alone. */
  readonly store: PluginStore;
  /** Aborted when the account closes. */
  readonly signal: AbortSignal;
  /** A private directory of this account in the state directory, for files. */
  readonly directory: string;
  now(): number;
  newId(): string;
  /**
   * Hands in one platform event, as the platform sent it. Resolves when it is on the disk: confirm it to the platform then. Rejects when it
   * could not be stored, or once the account closes (`account_closed`): do not confirm it.
   *
   * - `id`: the platform's id of the event (an update id). Seen again within seven days, it is a duplicate and runs no second time.
   * - `identity`: whose ids these are, when that is not the account but the bot behind it; default the account's id.
   * - `lane`: channel, account, chat and thread, such as `irc:default:#room`. What shares a lane runs one after the other; control commands
   *   such as `/stop` get a lane beside it. Ids may contain colons: where the lane names the chat of `parse`, the host encodes them.
   * - `gather`: events that belong together (an album) and are handled as one; `parse` is handed all of them.
   * - `silent`: known by now to change nothing; it is kept, and ends with this reason.
   */
  receive(
    raw: Json,
    at: {
      readonly id: string;
      readonly lane: string;
      readonly identity?: string;
      readonly gather?: RawEvent["gather"];
      readonly silent?: string;
    },
  ): Promise<Accepted>;
  /**
   * Asks the gate about an event that a platform wants answered at once, outside the lanes, such as a press of a button. The question has
   * no effect: no pairing code, no row. `notice`: one short sentence for a sender who is refused.
   */
  check(raw: Json): Promise<{ readonly allowed: true } | { readonly allowed: false; readonly code: string; readonly notice: string }>;
  /** `messages.inbound.debounceMs` as it is now: quick messages of one sender within this time are gathered into one; 0: none are. */
  debounceMs(): number;
  /**
   * For a source that asks for its events: whether to take the next ones in. `undefined`: yes. With more than 96 units of work under way it
   * resolves when they have become fewer, or after 100 ms; never rejects. What waits at the source takes no memory here; of many that came
   * at once, ask again for every two dozen.
   */
  room(): Promise<void> | undefined;
  /**
   * For a listener of the channel's own: judges a caller by the secret that the platform sends. `isRight` compares the presented secret
   * with the configured one, in constant time; it is not called while the client has failed too often. Answer with `status`, and 429 with
   * `Retry-After`. Clients are distinguished as at the gateway's own routes: by `gateway.trustedProxies`, IPv6 by /64. 20 failures in 60 s
   * are answered with 429; after 200, nothing is compared unless the client was right within the last hour.
   *
   * @example
   * const caller = account.judgeCaller(request, () => timingSafeEqual(digest(given), expected));
   * if (!caller.ok) return answer(response, caller.status, caller.retryAfterSeconds);
   */
  judgeCaller(request: IncomingMessage, isRight: () => boolean): CallerVerdict;
  /**
   * Reports a call to the platform: call it just before the request, and call the returned function when the platform has answered that the
   * call succeeded. A send whose fate is unknown is repeated only after a call has succeeded that began after the failure. Report every
   * kind of call, polls included. In a channel that reports none, only `send` and `probe` show that the platform answers.
   */
  calling(): () => void;
  /** Reports the state of the connection, as it is. */
  status(status: ChannelStatus): void;
  /** The chat commands of the gateway and of all plugins, for a menu. */
  commands(): readonly { readonly name: string; readonly summary: string }[];
}

/** Whether a caller of a channel's own listener is let in. */
export type CallerVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly status: 401 | 429 /** Whole seconds, at 429. */; readonly retryAfterSeconds?: number };

/** A message that grows while a turn runs. */
export interface ChannelPreview {
  /** The whole text so far, as Markdown. Calls may come often; the channel keeps the platform's pace. */
  update(text: string): void;
  /** Stops growing and resolves with the ids of the messages it made, oldest first; idempotent. */
  close(): Promise<readonly string[]>;
}

/**
 * A live connection of one account. `parse` and `render` are pure. What sends (`send`, `remove`, `react`, `typing`, `resolve`) throws `ChannelError`;
 * a whole example is in `core/host/README.md`, the full size in `plugins/botchat`.
 */
export interface ChannelConnection {
  /**
   * Connects; resolves when connected, and keeps trying by itself afterwards. While the platform is away it reports `waiting` with the reason
   * and goes on trying; it may resolve then, or stay pending. A rejection is shown as `failed` and is final: it is for what only the operator
   * can change, such as a wrong password. `keepConnected` does all of this.
   */
  start(): Promise<void>;
  /**
   * Pure and total: `Inbound`, `{ silent }` (mine, nothing to do, and why), `null` (the same without a reason) or `undefined` (not mine).
   * Own messages are silent; junk never throws. Runs twice for each event: when it comes in, alone, and when its turn has come, perhaps
   * in a later process, with the rest of its unit. `more` are the other events that were gathered with it, oldest first.
   */
  parse(raw: Json, more?: readonly Json[]): Parsed;
  /**
   * Pure: Markdown, media and buttons to parts, each within the platform's limits. `inbound` is what is answered, for a channel that
   * addresses the sender in a group; absent where nothing in this chat is, as for a webhook. `trigger` is the id of that message, where an
   * answer may reply to it. When it throws, the host asks again for the words alone, without files, buttons and markup.
   */
  render(reply: Reply, address: Address, about?: { readonly trigger?: string; readonly inbound?: Inbound }): readonly Part[];
  /**
   * Sends one part, or edits the message that `part.replaces` names. Throws `ChannelError`, whose `fate` decides: `not-sent` and `retryable` is
   * tried again for a day, `unknown` once, when the platform answers again (`ChannelAccount.calling`). Any other throw counts as `unknown`.
   * Deadline 15 minutes.
   */
  send(part: Part, address: Address, signal: AbortSignal): Promise<Receipt>;
  /**
   * The platform's limits, asked for each part before it is marked as being sent: `undefined` when it may go now, else it resolves when it
   * may, or when the signal ends it. Either counts the part as sent; never rejects. After 120 s the part goes without it. A part with
   * `replaces` is an edit.
   */
  admit?(part: Part, address: Address, signal: AbortSignal): Promise<void> | undefined;
  /** Idempotent; leaves no socket and no timer. After 10 s it is given up. */
  close(): Promise<void>;
  /** Takes no more events in, before a close; what runs is still sent. After 5 s the gateway closes without it. */
  pause?(): Promise<void>;
  /** The account's options after an edit of the configuration that left `connectionOptions` as they were; they apply from the next call on. */
  update?(options: Readonly<Record<string, unknown>>): void;
  /** Capability `edits`: removes a message. */
  remove?(messageId: string, address: Address, signal: AbortSignal): Promise<void>;
  /**
   * Capability `edits`: a preview. `resume` are message ids that a killed process left, `trigger` is the message that is answered; `onMessage`
   * receives all ids whenever there is a new one.
   */
  preview?(
    address: Address,
    options: { readonly resume: readonly string[]; readonly trigger?: string; onMessage(messageIds: readonly string[]): void },
  ): ChannelPreview;
  /**
   * Capability `reactions`: sets the bot's reaction; `null` removes it. `patience`: once it is aborted, a reaction that still waits for the
   * platform's limits is not set any more, and rejects with a `ChannelError` `aborted`, `not-sent`; a call that is under way goes on to its end.
   */
  react?(messageId: string, emoji: string | null, address: Address, patience?: AbortSignal): Promise<void>;
  /** Capability `typing`: shows that an answer is on its way, for a few seconds. */
  typing?(address: Address): Promise<void>;
  /** Capability `menu`: the commands are others since an edit of the configuration. The first menu a channel registers by itself, in `start`, from `account.commands()`. */
  menu?(commands: readonly { readonly name: string; readonly summary: string }[]): Promise<void>;
  /**
   * Capability `stickers`: stickers that this bot can send, found by what they show; the best first, and only what fits.
   */
  findMedia?(kind: "sticker", query: string, limit: number): Promise<readonly MediaFound[]>;
  /** Turns a name such as `@name`, which webhooks may use in `to`, into a chat id. */
  resolve?(target: string): Promise<string>;
  /**
   * Asks the platform whether all is well; also called without `start`, on a connection that is closed right after. Changes nothing there.
   * While a send of unknown fate waits for the platform to answer, it is called after 2, 10 and 60 s and each minute from then on.
   */
  probe?(): Promise<ChannelProbe>;
  /** Asks the platform whether the bot is in a chat. Changes nothing there; also called without `start`. */
  members?(chat: string): Promise<ChannelMembership>;
  /**
   * Streams a file of an accepted message into the folder `media` of the account's directory, and detects its type from the content. The
   * host sets the limit (`mediaMaxMb`) and removes the file after seven days. Throws `ChannelError`; the agent reads its `detail`.
   * `describe` returns in words what an image shows, if a model can see images; it rejects once `signal` has aborted.
   */
  fetchMedia?(
    media: InboundMedia,
    options: {
      readonly maxBytes: number;
      readonly signal: AbortSignal;
      describe?(image: { readonly path: string; readonly mimeType: string }): Promise<string | undefined>;
    },
  ): Promise<{ readonly path: string; readonly mimeType: string; readonly size: number; readonly description?: string }>;
}

/** Something that the platform keeps and that a message can carry by its `ref`, without sending the file again. */
export interface MediaFound {
  /** For `OutboundMedia.ref`. */
  readonly ref: string;
  readonly emoji?: string;
  /** The set that it belongs to. */
  readonly setName?: string;
  /** What it shows, in words; empty where it has no description yet. */
  readonly description: string;
}

/** What the platform says of one account. */
export interface ChannelProbe {
  readonly ok: boolean;
  /** One sentence: who the bot is and how it takes in, or what is wrong, with the remedy. */
  readonly detail: string;
  /** The owner of the credential, also when the platform refused it, as far as the credential contains it. Two accounts must not share it. */
  readonly identity?: NonNullable<ChannelStatus["identity"]>;
  /** False: of groups the platform hands over only what addresses the bot, unless the bot is an administrator there. */
  readonly seesAllGroupMessages?: boolean;
  /** What is amiss although the account works, each with what to do. */
  readonly findings?: readonly { readonly name: string; readonly reason: string; readonly fix: string }[];
}

/** Whether the bot is in a chat. */
export interface ChannelMembership {
  /** True when it can read and write there. */
  readonly ok: boolean;
  /** What it is there, or why it is not, such as `administrator`. */
  readonly detail: string;
  /** True when it is handed every message there, whatever the account's own setting. */
  readonly seesAll?: boolean;
}

/** What `parse` returns: the host adds id, channel, account and authority. */
export type ChannelInbound = Omit<Inbound, "id" | "channel" | "account" | "authority" | "request">;

/** What `parse` makes of a platform's event. */
export type Parsed = ChannelInbound | Silent | null | undefined;

/** Something wrong with the options of an account that no schema can say. */
export interface OptionProblem {
  /** Name of the option to change. */
  readonly option: string;
  /** What is wrong with it, behind its path and without a full stop, such as `is missing, and webhookUrl needs it`. */
  readonly message: string;
  readonly hint: string;
  /** The account runs all the same. */
  readonly warning?: true;
}

/** Where an account stands, for a check that looks beyond it. */
export interface AccountSurroundings<Options = unknown> {
  /** Its configuration path, such as `channels.irc.accounts.work`. */
  readonly path: string;
  /** The accounts before it, of those that run: what they have is taken. */
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
   * The one form of an id: two ids with the same form are the same person, or the same group. Pure. The host applies it to what `parse`
   * returns (`sender.id`, `chat.id`) and to the ids in the configuration. Default: ids compare as they are.
   */
  readonly fold?: (id: string) => string;
  /**
   * Whether another person can take an id over, such as a nick that is free once its holder has left. A weak identity never becomes owner,
   * and an approved pairing code admits it for 24 hours only. `true`: every id. A function is handed ids in the form of `fold`. Default: none.
   */
  readonly weak?: boolean | ((id: string) => boolean);
}

/** A channel is a plugin whose whole setup is one definition. Several accounts of it may run at once; each has a connection of its own. */
export interface ChannelDefinition<O extends TObject = TObject> {
  /** Also the config key: `channels.<id>`. */
  readonly id: string;
  /** Its own, semantic: `1.0.0`. */
  readonly version: string;
  /** SDK range that it was written for, such as `^0.1.0`. */
  readonly host: string;
  /** The channel's own codes, such as the reasons of its `ChannelError`s; see `PluginDefinition.codes`. */
  readonly codes?: PluginDefinition["codes"];
  /** Options of one account; the access options (`dmPolicy`, `allowFrom`, `groups`, ...) are added by the host. */
  readonly options: O;
  /** Names of options that hold a secret: a string, `{ env }` or `{ file }` in the configuration, a string in `open`. */
  readonly secrets?: readonly string[];
  /**
   * Options that name a file with a secret, and the secret option that the file's text becomes. A file that is set wins over the
   * option itself; one that is missing or empty is an error of the account. Relative paths begin at the configuration's directory.
   */
  readonly secretFiles?: Readonly<Record<string, string>>;
  /** Names of options with which a connection is made: the account restarts when one of them changes; the others are handed to `update`. Absent: all. */
  readonly connectionOptions?: readonly string[];
  /** Names of options that say who the bot is: never inherited by a named account from the root, and never shared by two. */
  readonly credentials?: readonly string[];
  /**
   * The platform's own id of whom an account signs in as, when its options tell it, such as the number in a token. Of two accounts with
   * one id the second is refused: they would take each other's events away.
   */
  signsInAs?(options: Static<O>): string | undefined;
  /**
   * Finds problems between options that each match the schema, such as two that need one another, or a port that an earlier account uses.
   * `config validate` shows them with the account's path, an edit that causes one is not written, and the account does not open. Never put a
   * secret into the text.
   */
  check?(options: Static<O>, around: AccountSurroundings<Static<O>>): readonly OptionProblem[];
  /** Environment variables that provide options of the account `default` when it has no credential in the configuration. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly capabilities: ChannelCapabilities;
  /** How the platform's user ids are written and compared; default: as they are, and each belongs to one person for good. */
  readonly identity?: ChannelIdentity;
  /** Makes the connection and returns it at once; a promise is refused. It connects in `start`. A throw fails this account alone. */
  open(account: ChannelAccount<Static<O>>): ChannelConnection;
}

/** A tool that an engine may call. Two calls of one turn may run at the same time. */
export interface EngineTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Json;
  /** Resolves with what the model reads, also when the call was refused: `{ ok: false, error, code }`. */
  run(args: Json, signal: AbortSignal): Promise<Json>;
}

/** One message of a transcript. */
export interface EngineMessage {
  readonly role: "user" | "assistant" | "system";
  readonly text: string;
  readonly media?: readonly InboundMedia[];
}

/** What an engine is handed for one turn. It stays as it is while the turn runs, also when the configuration changes. */
export interface EngineTurn {
  readonly agentId: string;
  readonly sessionKey: string;
  /** What caused the turn, as it came and untrusted; the last of `messages` says the same with its envelope. */
  readonly inbound: Inbound;
  /** `provider/model`; absent when none is configured. */
  readonly model?: string;
  /** Models to try in order when the first cannot be reached. */
  readonly fallbacks: readonly string[];
  readonly thinking: Thinking;
  /** System prompt. */
  readonly instructions: string;
  /** Names of the skills of this group or topic; absent: all, empty: none. */
  readonly skills?: readonly string[];
  /** Oldest first; the last is what is asked now. */
  readonly messages: readonly EngineMessage[];
  /** What the agent may do in chats besides answering: `core/actions/README.md`. */
  readonly tools: readonly EngineTool[];
  /** Provider settings of `models.providers`, secrets resolved. */
  readonly providers: Readonly<Record<string, EngineProvider>>;
}

/** One model server: its protocol, its address and the credentials, secrets resolved. */
export interface EngineProvider {
  readonly api: "openai" | "anthropic" | "google" | "openai-compatible";
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An engine turns a turn into a stream of events: `text` and the others as they come, `done` last. Several turns run at once.
 * `plugins/echo` is a small one, `plugins/ai` a large one.
 */
export interface EngineDefinition {
  /** What `agents.defaults.engine` names. */
  readonly id: string;
  /** True when it can do nothing without a configured model. Decides which engine answers when the configuration names none. */
  readonly needsModel?: boolean;
  /** True when an answer depends on the last message alone: then no earlier ones are read for its turns. */
  readonly stateless?: boolean;
  /** Called once after the start when an agent uses this engine: load here what takes long, so that the first answer does not. */
  prepare?(): Promise<void>;
  /** Says in a sentence or two what an image shows; `undefined` where the model sees no images. Throws as `run` does. */
  describe?(
    image: { readonly path: string; readonly mimeType: string },
    by: Pick<EngineTurn, "model" | "fallbacks" | "providers">,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /**
   * Ends with `done`; throws `EngineError` when the model fails: the sender reads an apology, the operator the reason. Stops soon after
   * `signal` is aborted (`/stop`, `timeoutSeconds`, a closing gateway); later events are ignored.
   */
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<TurnEvent>;
}

/**
 * Declares a plugin; its module exports it as default. Checks nothing: the host does, before it runs any of it.
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
export function definePlugin<O extends TObject>(definition: PluginDefinition<O>): PluginDefinition<O> {
  return definition;
}

/**
 * Declares a channel as a plugin of its own. `core/host/README.md` has one that runs.
 *
 * @example
 * export default defineChannel({
 *   id: "irc",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   options: Type.Object({ server: Type.String(), password: Type.Optional(Type.String()) }),
 *   secrets: ["password"],
 *   capabilities: { maxChars: 400, markup: "plain", edits: false, threads: false, reactions: false, media: false, buttons: false, typing: false, menu: false },
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
  definition: EngineDefinition & { readonly version: string; readonly host: string; readonly codes?: PluginDefinition["codes"] },
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
 * Declares a preset as a plugin of its own. A wrong field or template leaves the plugin out, with the reason.
 *
 * @example
 * export default definePreset({
 *   id: "uptime",
 *   version: "1.0.0",
 *   host: "^0.1.0",
 *   path: "uptime",
 *   mappings: [{ name: "Uptime", messageTemplate: "{{ monitor }} is {{ status }} since {{ since }}", sessionKey: "hook:uptime:{{ monitor }}" }],
 * });
 */
export function definePreset(definition: PresetDefinition & { readonly version: string; readonly host: string }): PluginDefinition {
  const { id, version, host, path, mappings } = definition;
  return { id, version, host, presets: [{ id, path, mappings }], setup() {} };
}

/**
 * Gives a transform its types; `P` is what the author expects the payload to be. It returns the function as it is, and is the one thing
 * that `service-gateway/sdk` offers inside the sandbox.
 *
 * @example
 * export default defineTransform<{ readonly build: { readonly state: string; readonly url: string } }>(({ payload }) => {
 *   if (payload.build.state === "passed") return null;
 *   return { message: `The build is ${payload.build.state}: ${payload.build.url}` };
 * });
 */
export function defineTransform<P = Json>(transform: Transform<P>): Transform<P> {
  return transform;
}
