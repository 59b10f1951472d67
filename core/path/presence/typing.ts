/** Shows in a chat that something is being written, from a moment after the beginning. */
import type { LiveAccount } from "../../channels/index.ts";
import type { Address } from "../../contract/index.ts";
import type { CalledConnection } from "../../host/index.ts";

/** A quick reply needs no typing before it. */
const typingAfterMs = 300;
const usualTypingEverySeconds = 5;
/** How long a turn without progress is shown as typing. */
const typingWithoutProgressMs = 120_000;

/** After two refusals in a row, the platform will probably refuse again and may object to more requests. */
const mostTypingErrors = 2;

export interface TypingOptions {
  readonly now: () => number;
  /** The message that is answered. */
  readonly trigger?: string | undefined;
  readonly onError: (error: unknown, what: string) => void;
}

export interface TypingShown {
  /** There was progress. */
  progress(): void;
  stop(): void;
}

/** Shows typing, from a moment after the beginning until nothing has happened for long, or the platform rejects it. */
class Typing implements TypingShown {
  readonly #connection: CalledConnection;
  readonly #address: Address;
  readonly #options: TypingOptions;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout;
  #lastProgress: number;
  #errors = 0;

  constructor(
    { connection, capabilities }: Pick<LiveAccount, "capabilities" | "connection">,
    address: Address,
    options: TypingOptions,
  ) {
    const { typingEverySeconds = usualTypingEverySeconds } = capabilities;
    this.#everyMs = typingEverySeconds * 1_000;
    this.#connection = connection;
    this.#address = address;
    this.#options = options;
    this.#lastProgress = options.now();
    this.#timer = setTimeout(type, typingAfterMs, this);
  }

  type(): void {
    if (this.#options.now() - this.#lastProgress > typingWithoutProgressMs || this.#errors >= mostTypingErrors) return;
    this.#timer = setTimeout(type, this.#everyMs, this);
    const { trigger } = this.#options;
    this.#connection.typing?.(this.#address, trigger === undefined ? {} : { trigger }).then(
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

/** `undefined` if the channel cannot show it. */
export function showTyping(
  account: Pick<LiveAccount, "capabilities" | "connection">,
  address: Address,
  options: TypingOptions,
): TypingShown | undefined {
  const { capabilities, connection } = account;
  return capabilities.typing && connection.typing !== undefined ? new Typing(account, address, options) : undefined;
}
