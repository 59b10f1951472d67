/** What a channel's author passes to `channelContract`. */
import type { Json } from "../../contract/index.ts";
import type { ChannelInbound, Part, PluginDefinition } from "../../sdk/contract.ts";

/**
 * A fault or behaviour that an author's platform can produce on demand.
 *
 * - `away`: no call reaches it any longer, as with a broken network.
 * - `cut`: it accepts the next send, and the connection breaks before its answer.
 * - `hang`: it accepts the next send, and never answers.
 * - `limit`: it rejects the next send, and requires a wait of two seconds.
 * - `refuse`: it rejects every send into the chat permanently, as after a block.
 * - `repeat`: it delivers the person's last event once more.
 * - `unconfirmed`: without a request, it redelivers an event that the channel did not confirm.
 */
export type PlatformAbility = "away" | "cut" | "hang" | "limit" | "refuse" | "repeat" | "unconfirmed";

/** A platform that runs for one test: an emulator, or the other end of the channel's protocol. It has one user. */
export interface ChannelPlatform {
  /** Options of the account in addition to those of the contract, such as the address of an emulator. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The person writes to the bot; with `thread`, in a thread. Resolves when the platform has accepted the message. */
  write(text: string, where?: { readonly thread?: boolean }): Promise<void>;
  /** What the person sees from the bot, oldest first; with `thread`, in that thread. */
  read(where?: { readonly thread?: boolean }): readonly string[];
  /** Produces the fault or behaviour. Called only with abilities listed in `can`, and never with `unconfirmed`. */
  fail?(ability: Exclude<PlatformAbility, "unconfirmed">): void | Promise<void>;
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
  /** At least one message; with the capability `threads`, at least one in a thread. `expect` is compared with `toMatchObject`. */
  readonly messages: readonly { readonly raw: Json; readonly expect: Partial<ChannelInbound> }[];
  /** Events caused by the bot itself. An empty list states that the platform sends none. */
  readonly own: readonly Json[];
  /** Pairs of messages from one person, before and after a change of name. An empty list states that the platform has no names. */
  readonly renamed: readonly (readonly [before: Json, after: Json])[];
  /** The text of a part as a person reads it. Default: the body, or its `text`. */
  textOf?(part: Part): string;
}

/** A test of the contract that a channel cannot pass, and why that is correct. */
export interface ContractSkip {
  /** The full title, such as `parse > never throws`. */
  readonly test: string;
  /** One sentence. A skip without one fails. */
  readonly reason: string;
}

/** What `channelContract` tests, and with what data. */
export interface ChannelContractOptions {
  /** The result of `defineChannel`. */
  readonly channel: PluginDefinition;
  /** Options of one account, as in the configuration; the platform's options are added. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Without a platform, only the rules that need none are tested. */
  readonly platform?: ChannelPlatformSource;
  readonly fixtures: ChannelFixtures;
  readonly skip?: readonly ContractSkip[];
}
