/** The declaration of a channel. */
import type { Static, TObject } from "typebox";
import type { CodeDefinition } from "../../contract/index.ts";
import type { ChannelAccount } from "./channel-account.ts";
import type { ChannelConnection } from "./channel-connection.ts";
import type { SharedChannelRoute } from "./channel-route.ts";
import type { CliDefinition } from "./cli.ts";

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
  /**
   * Buttons below a message; an object if the platform limits them. The gateway divides rows and cuts labels to fit. If
   * there are more buttons than `perMessage`, or a value is longer than `valueBytes`, a message is sent with its text
   * alone, which always says what to type; an action that asks for such buttons is refused.
   *
   * @example
   * buttons: { perRow: 5, perMessage: 25, labelChars: 80, valueBytes: 100 },
   */
  readonly buttons?:
    | boolean
    | {
        readonly perRow?: number;
        readonly perMessage?: number;
        /** Characters of a label. */
        readonly labelChars?: number;
        /** Bytes of a value in UTF-8; the gateway's own values have at most 64. */
        readonly valueBytes?: number;
      };
  /**
   * Can show a message in a group to one person alone, in answer to what that person wrote or pressed: `part.onlyFor`
   * says to whom. `"interactions"`: only if `parse` has set `interaction`, for platforms that show such a message in
   * answer to a press or a slash command. Answers of commands and refusals then do not fill the group.
   *
   * @example
   * capabilities: { maxChars: 40_000, ephemeral: true },
   */
  readonly ephemeral?: boolean | "interactions";
  readonly typing?: boolean;
  /** How often `typing` is called while a turn runs, in seconds: shorter than the platform shows it. Default: 5. */
  readonly typingEverySeconds?: number;
  readonly menu?: boolean;
  readonly stickers?: boolean;
  /**
   * The platform shows a message once although it is sent again with the same `part.key`: for good, or for this many
   * seconds after the first attempt. A send of unknown fate is then repeated at once and is not reported as possibly
   * repeated; without this, once, after the platform answers again. Declare less than the platform promises, because
   * a request takes time. The receipt of a repetition names the message that is there.
   *
   * @example
   * // The platform remembers the key of a message for at least five minutes.
   * capabilities: { maxChars: 2_000, repeats: { withinSeconds: 240 } },
   */
  readonly repeats?: "ever" | { readonly withinSeconds: number };
  /**
   * Whether the platform delivers what people write while the bot is away, once and in order, when it is back: for
   * good, or within this many hours. `false`: it is lost, and `service doctor` and `channels status` say so. Default:
   * it is not known.
   *
   * @example
   * capabilities: { maxChars: 4_096, keepsWhileAway: { hours: 24 } },
   */
  readonly keepsWhileAway?: false | "ever" | { readonly hours: number };
  /**
   * The format of message and thread ids, if not every text is valid: a regular expression that matches the whole id,
   * and a description such as "a whole number from 1 on". An action with an invalid id is refused before anything is
   * sent. Default: any text.
   */
  readonly messageIds?: { readonly pattern: string; readonly description: string };
}

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
   * pure, and receives ids in the form of `fold`. Default: none.
   */
  readonly weak?: boolean | ((id: string) => boolean);
}

/**
 * What `init` asks an operator for, so that an account exists without an editor.
 *
 * @example
 * const onboarding: ChannelOnboarding = {
 *   steps: ["Open acme.example/bots, and choose New bot. Its page shows the token."],
 *   credential: "botToken",
 *   name: "token",
 * };
 *
 * @example
 * // Without a credential: the account reports what the operator has to do (`ChannelStatus.action`).
 * const linked: ChannelOnboarding = { steps: ["You need your phone with the app."] };
 */
export interface ChannelOnboarding {
  /** Where the operator gets the credential, in at most two sentences. Each begins a line. */
  readonly steps: readonly string[];
  /** The option that receives the credential, one of `secrets`. Absent if a person signs the bot in. */
  readonly credential?: string;
  /** What the platform calls the credential, such as `token`. Needed with `credential`. */
  readonly name?: string;
  /** The option with the address of the platform, if operators can run a server of their own. */
  readonly address?: string;
}

/**
 * What the list of channels (`service channels list`) says beside what the rest of the declaration says, so that an
 * operator can choose.
 *
 * @example
 * const listing: ChannelListing = {
 *   name: "Acme Chat",
 *   needs: ["a bot, which an administrator of the workspace has to approve"],
 *   publicAddress: "optional",
 *   tried: ["a stand-in of its HTTP and WebSocket interfaces, checked with the maker's own client"],
 * };
 */
export interface ChannelListing {
  /** The platform's name, such as `Telegram`. */
  readonly name: string;
  /** What the operator has to have: an account, a token, an approval. Each a phrase without a full stop. */
  readonly needs: readonly string[];
  /** Whether the platform has to reach the gateway: `optional` if there is a way without. */
  readonly publicAddress: "no" | "optional" | "yes";
  /** Against what the channel was tried. Each a phrase without a full stop. */
  readonly tried: readonly string[];
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
  /** The range of SDK versions it was written for, such as `^0.2.0`. */
  readonly host: string;
  /** What operators read before they choose the channel. Absent: the list shows the rest of the declaration alone. */
  readonly listing?: ChannelListing;
  /** The channel's own codes, such as the reasons of its `ChannelError`s; see `PluginDefinition.codes`. */
  readonly codes?: Readonly<Record<string, CodeDefinition>>;
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
  /**
   * How `init` sets up an account of this channel. With a credential, the connection must have `probe`. Absent:
   * operators write the section themselves.
   */
  readonly onboarding?: ChannelOnboarding;
  /**
   * Commands of the command line, as `service <name> <command>`, such as to link a device. `call.account` gives them an
   * account. If `definePlugin` registers the channel, its own `cli` has the commands.
   *
   * @example
   * cli: {
   *   name: "acme",
   *   summary: "Link the bot.",
   *   commands: [{ name: "link", summary: "Link an account.", example: "link", args: ["[account]"], run: link }],
   * },
   */
  readonly cli?: CliDefinition;
  /**
   * What its accounts can do. A function if that depends on the options of the account: it is pure, and is called with
   * the options as `open` receives them, before `open` and after each edit of them. Whatever asks what the account can
   * do, such as an action or the instructions of a model, asks the account. If it throws, the account does not open.
   *
   * @example
   * // Buttons need an address that the platform can call.
   * capabilities: ({ callbackUrl }) => ({ maxChars: 4_000, buttons: callbackUrl !== undefined }),
   */
  readonly capabilities: ChannelCapabilities | ((options: Static<O>) => ChannelCapabilities);
  /**
   * What people type before the name of a command, `/` unless the platform's clients take that for their own commands:
   * then `/stop` would never arrive. With `!`, the gateway reads `!stop` as the command, and its help, approvals and
   * notices name commands so. `parse` returns the text as it was typed. A command that arrives with `/`, such as a
   * slash command of the platform that `parse` translates, is read as well. Default: `/`.
   */
  readonly commandPrefix?: "/" | "!";
  /**
   * The schema of what a reply may contain of the platform's own, such as cards or an effect: `render` gets it as
   * `reply.platform[id]`. A plugin adds it in `formatting`, an operator in the action `send`. The gateway checks it, up
   * to 64 KiB as JSON, and looks no further into it, so leave out what the account's settings decide, such as buttons.
   * Default: no fields.
   *
   * @example
   * platformFields: Type.Object({ color: Type.Optional(Type.String({ pattern: "^#[0-9a-f]{6}$" })) }),
   */
  readonly platformFields?: TObject;
  /**
   * How the platform's user ids are written and compared. Default: unchanged, and each belongs to one person for good.
   */
  readonly identity?: ChannelIdentity;
  /**
   * An address on the gateway's port that all accounts share. Most platforms have an address for each account instead:
   * `ChannelAccount.route`.
   */
  readonly route?: SharedChannelRoute<Static<O>>;
  /**
   * Creates the connection and returns it at once; a promise is refused. The connection connects in `start`. If it
   * throws, only this account fails.
   */
  open(account: ChannelAccount<Static<O>>): ChannelConnection;
}
