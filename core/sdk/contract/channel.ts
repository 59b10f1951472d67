/** The declaration of a channel. */
import type { Static, TObject } from "typebox";
import type { CodeDefinition } from "../../contract/index.ts";
import type { ChannelAccount } from "./channel-account.ts";
import type { ChannelConnection } from "./channel-connection.ts";

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
