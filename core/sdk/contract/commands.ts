/** Chat commands. */
import type { Inbound, Route } from "../../contract/index.ts";

/**
 * Who may use a command. A sender whom the access policy refuses can use none, and neither can a webhook.
 *
 * - `anyone`: every sender whom the access policy admits.
 * - `allowed`: every admitted sender with an identity. A sender who writes as a chat, such as an anonymous
 *   administrator, has none.
 * - `owner`: a sender listed in `commands.ownerAllowFrom` if that is set, otherwise in the account's `allowFrom`, or
 *   one who became owner by pairing.
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
