/**
 * What people see while a turn runs: the acknowledging reaction, typing, and the growing preview. None of it may fail a
 * turn.
 */

import type { LiveAccount } from "../../channels/index.ts";
import type { Address, Inbound } from "../../contract/index.ts";
import type { CalledConnection } from "../../host/index.ts";
import type { ChannelPreview } from "../../sdk/contract.ts";
import type { Acknowledgement } from "./acknowledging.ts";
import { showTyping, type TypingShown } from "./typing.ts";

export interface Presence {
  /** Whether the reply is shown while it grows. */
  readonly shows: boolean;
  /** The whole text so far, as people may see it. */
  show(text: string): void;
  /** Something could not be shown. */
  failed(error: unknown): void;
  /** The turn has made progress. */
  progress(): void;
  /**
   * The turn is over and nothing more is shown. Returns the ids of the preview's messages, which the reply replaces or
   * which are removed; synchronously if there is no preview.
   */
  close(): readonly string[] | Promise<readonly string[]>;
  /** Puts a reaction on the message in place of the one that says "seen". Resolves with false if there can be none. */
  react(emoji: string): Promise<boolean>;
  /** The reply has arrived, or none will come: the reaction that says "seen" is no longer needed. */
  done(): void;
}

interface PresenceOptions {
  readonly now: () => number;
  readonly inbound: Inbound;
  /** Sets the "seen" reaction on the message being answered. */
  readonly acknowledge?: ((messageId: string) => Acknowledgement) | undefined;
  /** The message being answered. */
  readonly trigger: string | undefined;
  readonly key: string;
  /** Preview messages that a killed process left behind. */
  readonly resume: readonly string[];
  readonly onPreviewMessage: (messageIds: readonly string[]) => void;
  /** It is unknown whether a message of the preview was sent. */
  readonly onUncertain: () => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** For turns whose reply goes nowhere, or only at the end. */
export const noPresence: Presence = {
  shows: false,
  show() {},
  failed() {},
  progress() {},
  close: () => [],
  react: async () => false,
  done() {},
};

/**
 * What the account can show of a turn: everything if a person waits, only the end if a program asked. It is a class
 * because hundreds of turns may run at once, and closures for each would cost more memory.
 */
export class LivePresence implements Presence {
  readonly shows: boolean;
  readonly #connection: CalledConnection;
  readonly #address: Address;
  readonly #options: PresenceOptions;
  readonly #typing: TypingShown | undefined;
  readonly #acknowledgement: Acknowledgement | undefined;
  readonly #canReact: boolean;
  #preview: ChannelPreview | undefined;

  constructor({ capabilities, connection }: LiveAccount, address: Address, options: PresenceOptions) {
    const { inbound, trigger, acknowledge } = options;
    // A person waits; a program wants only the end.
    const waits = inbound.authority === "channel";
    this.#connection = connection;
    this.#address = address;
    this.#options = options;
    this.shows = waits && capabilities.edits === true && connection.preview !== undefined;
    this.#typing = waits ? showTyping({ capabilities, connection }, address, options) : undefined;
    this.#canReact = capabilities.reactions === true;
    this.#acknowledgement = trigger !== undefined && capabilities.reactions ? acknowledge?.(trigger) : undefined;
  }

  show(text: string): void {
    const { resume, onPreviewMessage, onUncertain, trigger, key } = this.#options;
    this.#preview ??= this.#connection.preview?.(this.#address, {
      resume,
      onMessage: onPreviewMessage,
      onUncertain,
      trigger,
      key,
    });
    this.#preview?.update(text);
  }

  failed(error: unknown): void {
    this.#options.onError(error, "preview");
  }

  progress(): void {
    this.#typing?.progress();
  }

  close(): readonly string[] | Promise<readonly string[]> {
    this.#typing?.stop();
    return this.#preview === undefined ? this.#options.resume : this.#closePreview(this.#preview);
  }

  async #closePreview(preview: ChannelPreview): Promise<readonly string[]> {
    try {
      return await preview.close();
    } catch (error) {
      this.failed(error);
      return this.#options.resume;
    }
  }

  async react(emoji: string): Promise<boolean> {
    const { trigger, onError } = this.#options;
    if (trigger === undefined || !this.#canReact || this.#connection.react === undefined) return false;
    await this.#acknowledgement?.giveWay();
    try {
      await this.#connection.react(trigger, emoji, this.#address);
      return true;
    } catch (error) {
      onError(error, "refusal");
      return false;
    }
  }

  done(): void {
    this.#acknowledgement?.done();
  }
}
