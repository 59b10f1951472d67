/** What a channel's author passes to `channelContract`. */
import type { Json } from "../../contract/index.ts";
import type { ChannelInbound, Part, PluginDefinition, SignInAction } from "../../sdk/contract.ts";
import type { ContractSkip } from "../skips.ts";

/**
 * What the author's platform can be made to do.
 *
 * - `away`: no call reaches it any more, as after a broken network.
 * - `back`: after `away` it answers again, at the same address.
 * - `cut`: it takes the next send, and the connection breaks before its answer.
 * - `hang`: it takes the next send, and never answers.
 * - `limit`: it refuses the next send, and asks for a wait of two seconds.
 * - `lose`: it no longer has the files that were sent to it.
 * - `nameless`: it takes questions about users and chats, and never answers them.
 * - `refuse`: it refuses every send into the chat for good, as after a block.
 * - `repeat`: it delivers the last event of the person once more.
 * - `reset`: it ends the bot's connection at once, and takes a new one.
 * - `silent`: it takes what the bot sends, and answers nothing any more, as behind a network that drops all packets.
 */
export type PlatformFailure =
  | "away"
  | "back"
  | "cut"
  | "hang"
  | "limit"
  | "lose"
  | "nameless"
  | "refuse"
  | "repeat"
  | "reset"
  | "silent";

/**
 * What the author's platform can do. The rules that need an ability exist only where it is listed.
 *
 * - a `PlatformFailure`: `fail` causes it.
 * - `unconfirmed`: it delivers an event again that the channel did not confirm, without being asked.
 * - `acknowledge`: it counts, with `acknowledged`, the presses that the channel has answered.
 * - `edit`, `delete`, `press`: the person edits or deletes a message, or presses a button.
 * - `forge`: the person sends an event that pretends to come from elsewhere.
 * - `files`: `write` takes a file, and `files` returns those that the bot sent.
 * - `groups`: there is a group; `write` and `read` take `group`, and `groups` names it.
 * - `lasting`: the person's chat lasts while the process of the bot ends and another begins.
 * - `report`: it says what became of the bot's last message, after it had accepted it.
 * - `history`: it records every text that the bot wrote, edits included.
 * - `others`: `others` returns what the other members of the group see.
 * - `posts`: it posts its events, to the account's addresses on the gateway's port (`postTo`) or to the channel's own
 *   listener.
 * - `signIn`: a person has to sign the bot in: `signOut` ends its session, and `signIn` does what the account asks for.
 * - `menu`, `reactions`, `typing`: it shows the bot's menu, reactions and typing.
 */
export type PlatformAbility =
  | PlatformFailure
  | "acknowledge"
  | "delete"
  | "edit"
  | "files"
  | "forge"
  | "groups"
  | "history"
  | "lasting"
  | "menu"
  | "others"
  | "posts"
  | "press"
  | "reactions"
  | "report"
  | "signIn"
  | "typing"
  | "unconfirmed";

/** A place of the platform; default: the person's direct chat with the bot. */
export interface PlatformPlace {
  /** In a thread. */
  readonly thread?: boolean;
  /** In a group, outside threads. */
  readonly group?: boolean;
}

/** A file that the person sends, or that the bot has sent. */
export interface PlatformFile {
  readonly name?: string;
  readonly mimeType?: string;
  readonly bytes: Uint8Array;
}

/** A platform that runs for one test: an emulator, or the other end of the channel's protocol. It has one user. */
export interface ChannelPlatform {
  /** Options of the account in addition to those of the contract, such as the address of an emulator. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * The person writes to the bot; with `mention` the text names the bot in a group. With `interaction` it is a command
   * of the platform's own, such as a slash command: only for a channel with `ephemeral: "interactions"`. Resolves when
   * the platform has the message.
   */
  write(
    text: string,
    where?: PlatformPlace & {
      readonly mention?: boolean;
      readonly interaction?: boolean;
      readonly file?: PlatformFile;
    },
  ): Promise<void>;
  /**
   * The texts of the bot's messages as the person sees them now, oldest first; an edit changes a text in its place.
   * Those of a group include what this person alone sees there.
   */
  read(where?: PlatformPlace): readonly string[];
  /**
   * Called once the account is open, before anything else: the addresses to which the platform posts its events. `own`
   * begins those of `account.route`, `shared` that of `route` of the definition: append the path.
   */
  postTo?(base: { readonly own: string; readonly shared: string }): void;
  /** Causes a failure that `can` lists. */
  fail?(failure: PlatformFailure): void | Promise<void>;
  /** The person edits their last message. */
  edit?(text: string): Promise<void>;
  /** The person deletes their last message. */
  delete?(): Promise<void>;
  /**
   * The person presses a button with this value. No message needs to have such a button: an old client can send any
   * value.
   */
  press?(value: string): Promise<void>;
  /**
   * The person writes `text` in their own chat, and names another sender or another chat by what the platform leaves to
   * them, such as a text that looks like an event of its own. Resolves when the platform has the message.
   */
  forge?(text: string): Promise<void>;
  /** The platform reports what became of the last message that the bot has sent to the person. */
  report?(what: "delivered" | "failed" | "read"): Promise<void>;
  /** The platform ends the bot's session, so that a person has to sign it in. */
  signOut?(): Promise<void>;
  /** The person does what the account asks for, such as to scan its code. Resolves when the platform accepts it. */
  signIn?(action: SignInAction): Promise<void>;
  /** How many answers to presses the platform has received from the channel. */
  acknowledged?(): number;
  /** Every text that the bot has sent to the person, edits included, oldest first. */
  history?(): readonly string[];
  /** The texts of the bot's messages in the group as its other members see them, oldest first. */
  others?(): readonly string[];
  /** The files that the bot has sent to the person, oldest first. */
  files?(): readonly PlatformFile[];
  /** The bot's reactions to the person's last message. */
  reactions?(): readonly string[];
  /** How often the bot has shown that it is typing. */
  typing?(): number;
  /** The names of the commands in the bot's menu. */
  menu?(): readonly string[];
  /** The ids of the group that the bot is in, and of one that it is not in. */
  readonly groups?: { readonly inside: string; readonly outside: string };
  close(): Promise<void>;
}

/** How to open a platform, and what it can do. */
export interface ChannelPlatformSource {
  /** Tests that need an ability exist only if it is listed here. */
  readonly can: readonly PlatformAbility[];
  /** Opens a separate platform for each test. */
  open(): Promise<ChannelPlatform>;
}

/** Recorded platform events, with what each one is. */
export interface ChannelFixtures {
  /**
   * At least one message; with the capability `threads`, at least one in a thread. `expect` is compared with
   * `toMatchObject`.
   */
  readonly messages: readonly { readonly raw: Json; readonly expect: Partial<ChannelInbound> }[];
  /** Events caused by the bot itself. An empty list states that the platform sends none. */
  readonly own: readonly Json[];
  /**
   * Pairs of messages from one person, before and after a change of name. An empty list states that the platform has no
   * names.
   */
  readonly renamed: readonly (readonly [before: Json, after: Json])[];
  /** Messages of other bots. Without them, the platform does not report which senders are bots. */
  readonly bots?: readonly Json[];
  /** An example of the platform's own fields of a reply, for a channel that declares `platformFields`. */
  readonly platformFields?: Json;
  /** The text of a part as a person reads it. Default: the body, or its `text`. */
  textOf?(part: Part): string;
  /**
   * What `maxChars` counts, as `unit` of `cutText`: Unicode characters, UTF-16 units, or bytes of UTF-8. Default:
   * `characters`.
   */
  readonly unit?: "characters" | "utf16" | "bytes";
}

/** A function that a connection may have whatever its capabilities are. */
export type OptionalFunction =
  | "admit"
  | "fetchMedia"
  | "members"
  | "pause"
  | "probe"
  | "reaches"
  | "resolve"
  | "standBy"
  | "update";

/** What `channelContract` tests, and with what data. */
export interface ChannelContractOptions {
  /** The result of `defineChannel`. */
  readonly channel: PluginDefinition;
  /** Options of one account, as in the configuration; the platform's options are added. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Without a platform, only the rules that need none are tested. */
  readonly platform?: ChannelPlatformSource;
  readonly fixtures: ChannelFixtures;
  /** The functions of the connection that no capability asks for. Each adds its rules; one that is not listed fails. */
  readonly functions?: readonly OptionalFunction[];
  /**
   * Tries the rules that allow it at the same time, so that the contract takes less time. Set it if several of your
   * platforms can be open at once: each has an address and a state of its own. Default: one rule after the other.
   */
  readonly concurrent?: boolean;
  readonly skip?: readonly ContractSkip[];
}
