/** What a plugin may use in `setup`. */
import type { Static, TObject, TSchema } from "typebox";
import type { Accepted, Address, Json, Outcome, RawEvent } from "../../contract/index.ts";
import type { HookName, HookTable, TapOrder } from "../../stations/index.ts";
import type { ChannelDefinition } from "./channel.ts";
import type { CommandDefinition } from "./commands.ts";
import type { EngineDefinition } from "./engine.ts";
import type { CheckDefinition, WatchedStatus } from "./health.ts";
import type { PanelDefinition } from "./panel.ts";
import type { PluginLog } from "./plugin-log.ts";
import type { PluginStore } from "./plugin-store.ts";
import type { RouteDefinition } from "./routes.ts";
import type { DeclaredSection, PluginSection } from "./section.ts";
import type { ToolDefinition, ToolSource } from "./tools.ts";

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

/**
 * Everything a plugin may use; `setup` receives it. Methods that register something (`tap`, `command`, `channel`,
 * `engine`, `tool`, `toolSource`, `route`, `devices`, `check`, `status`, `panel`, `onReady`) work only until `setup` is
 * done, and throw `plugin_invalid` afterwards. If `setup` fails, every registration is undone.
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
   * Taps a station. `examples/authors/stations.md` lists order, deadlines and the effect of a failure.
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
  /**
   * Adds a list to the console, with buttons for what operators can do. Its entries are also read by programs, at
   * `GET /gateway/v1/panels`.
   */
  panel(definition: PanelDefinition): void;
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
