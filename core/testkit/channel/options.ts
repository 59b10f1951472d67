/** What an author of a channel hands to `channelContract`. */
import type { Json } from "../../contract/index.ts";
import type { ChannelInbound, Part, PluginDefinition } from "../../sdk/contract.ts";

/**
 * What a platform of the author can do on demand.
 *
 * - `away`: no call reaches it any more, as after a broken network.
 * - `cut`: it takes the next send, and the connection breaks before its answer.
 * - `hang`: it takes the next send, and never answers.
 * - `limit`: it refuses the next send, and asks for a wait of two seconds.
 * - `refuse`: it refuses every send into the chat for good, as after a block.
 * - `repeat`: it delivers the last event of the person once more.
 * - `unconfirmed`: it delivers an event again that the channel did not confirm, without being asked.
 */
export type PlatformAbility = "away" | "cut" | "hang" | "limit" | "refuse" | "repeat" | "unconfirmed";

/** A platform that runs for one test: an emulator, or the other end of the channel's protocol. One person uses it. */
export interface ChannelPlatform {
  /** Options of the account beside those of the contract, such as the address of an emulator. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The person writes to the bot; `thread`: in a thread. Resolves when the platform has it. */
  write(text: string, where?: { readonly thread?: boolean }): Promise<void>;
  /** What the person sees of the bot, oldest first; `thread`: in that thread. */
  read(where?: { readonly thread?: boolean }): readonly string[];
  /** Does what `can` promises. The ability `unconfirmed` is never asked for here. */
  fail?(ability: Exclude<PlatformAbility, "unconfirmed">): void | Promise<void>;
  close(): Promise<void>;
}

/** How to open a platform, and what it can do. */
export interface ChannelPlatformSource {
  /** The tests of an ability exist only where it is listed. */
  readonly can: readonly PlatformAbility[];
  /** Opens a platform of its own for each test. */
  open(): Promise<ChannelPlatform>;
}

/** Events as the platform sends them, and what each is. */
export interface ChannelFixtures {
  /** At least one message; with the capability `threads` at least one in a thread. `expect` is compared by `toMatchObject`. */
  readonly messages: readonly { readonly raw: Json; readonly expect: Partial<ChannelInbound> }[];
  /** Events that the bot itself caused. An empty list says that the platform sends none. */
  readonly own: readonly Json[];
  /** Pairs of messages of one person before and after a change of name. An empty list says that people have no names there. */
  readonly renamed: readonly (readonly [before: Json, after: Json])[];
  /** The text of a part as a person reads it. Default: the body, or its `text`. */
  textOf?(part: Part): string;
}

/** A test of the contract that a channel cannot pass, and why that is right. */
export interface ContractSkip {
  /** Its whole title, such as `parse > never throws`. */
  readonly test: string;
  /** One sentence. A skip without one fails. */
  readonly reason: string;
}

/** What `channelContract` tests, and with what. */
export interface ChannelContractOptions {
  /** What `defineChannel` returned. */
  readonly channel: PluginDefinition;
  /** Options of one account, as in the configuration; those of the platform are added. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Without a platform, only what needs none is tested. */
  readonly platform?: ChannelPlatformSource;
  readonly fixtures: ChannelFixtures;
  readonly skip?: readonly ContractSkip[];
}
