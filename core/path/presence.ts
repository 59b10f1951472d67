/** What people see while a turn runs: the acknowledging reaction, typing, and the preview that grows. None of it may fail a turn. */

import type { LiveAccount } from "../channels/index.ts";
import type { Address, Inbound } from "../contract/index.ts";
import type { ChannelConnection, ChannelPreview } from "../sdk/contract.ts";
import type { Acknowledgement } from "./acknowledging.ts";

/** A quick answer needs no typing before it. */
const typingAfterMs = 300;
const typingEveryMs = 5_000;
/** How long a turn without progress is shown as typing. */
const typingWithoutProgressMs = 120_000;

/** A platform that refuses it twice in a row will go on to refuse it, and may mind being asked. */
const mostTypingErrors = 2;

export interface Presence {
  /** Whether anybody sees the answer grow. */
  readonly shows: boolean;
  /** The whole text so far, as people may see it. */
  show(text: string): void;
  /** Something could not be shown. */
  failed(error: unknown): void;
  /** The turn goes on. */
  progress(): void;
  /**
   * The turn is over: nothing more is shown. The preview's message ids, which the reply takes over or which are removed; at once where
   * there is none.
   */
  close(): readonly string[] | Promise<readonly string[]>;
  /** The answer is there, or none will come: the reaction that says "seen" is no longer needed. */
  done(): void;
}

interface PresenceOptions {
  readonly now: () => number;
  readonly inbound: Inbound;
  /** Says "seen" by a reaction on the message that is answered. */
  readonly acknowledge?: ((messageId: string) => Acknowledgement) | undefined;
  /** The message that is answered. */
  readonly trigger: string | undefined;
  /** Messages of a preview that a killed process left. */
  readonly resume: readonly string[];
  readonly onPreviewMessage: (messageIds: readonly string[]) => void;
  readonly onError: (error: unknown, what: string) => void;
}

/** For turns whose answer goes nowhere, or only at the end. */
export const noPresence: Presence = { shows: false, show() {}, failed() {}, progress() {}, close: () => [], done() {} };

/** Typing, from a moment after the beginning until nothing has happened for long, or the platform does not want it. */
class Typing {
  readonly #connection: ChannelConnection;
  readonly #address: Address;
  readonly #options: PresenceOptions;
  #timer: NodeJS.Timeout;
  #lastProgress: number;
  #errors = 0;

  constructor(connection: ChannelConnection, address: Address, options: PresenceOptions) {
    this.#connection = connection;
    this.#address = address;
    this.#options = options;
    this.#lastProgress = options.now();
    this.#timer = setTimeout(type, typingAfterMs, this);
  }

  type(): void {
    if (this.#options.now() - this.#lastProgress > typingWithoutProgressMs || this.#errors >= mostTypingErrors) return;
    this.#timer = setTimeout(type, typingEveryMs, this);
    this.#connection.typing?.(this.#address).then(
      () => {
        this.#errors = 0;
      },
      (error: unknown) => {
        this.#errors += 1;
        this.#options.onError(error, "typing");
      },
    );
  }

  progress(): void {
    this.#lastProgress = this.#options.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function type(typing: Typing): void {
  typing.type();
}

/**
 * What the account can show of a turn: all of it where a person waits, nothing but the end where a machine asked. Hundreds of turns may be
 * under way at once: hence methods of a class, and not a closure for each of them.
 */
export class LivePresence implements Presence {
  readonly shows: boolean;
  readonly #connection: ChannelConnection;
  readonly #address: Address;
  readonly #options: PresenceOptions;
  readonly #typing: Typing | undefined;
  readonly #acknowledgement: Acknowledgement | undefined;
  #preview: ChannelPreview | undefined;

  constructor({ capabilities, connection }: LiveAccount, address: Address, options: PresenceOptions) {
    const { inbound, trigger, acknowledge } = options;
    // A person waits; a machine that asked wants the end only.
    const waits = inbound.authority === "channel";
    this.#connection = connection;
    this.#address = address;
    this.#options = options;
    this.shows = waits && capabilities.edits === true && connection.preview !== undefined;
    this.#typing = waits && capabilities.typing && connection.typing !== undefined ? new Typing(connection, address, options) : undefined;
    this.#acknowledgement = trigger !== undefined && capabilities.reactions ? acknowledge?.(trigger) : undefined;
  }

  show(text: string): void {
    const { resume, onPreviewMessage, trigger } = this.#options;
    this.#preview ??= this.#connection.preview?.(this.#address, {
      resume,
      onMessage: onPreviewMessage,
      ...(trigger === undefined ? {} : { trigger }),
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

  done(): void {
    this.#acknowledgement?.done();
  }
}
