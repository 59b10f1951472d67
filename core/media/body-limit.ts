/**
 * The one reader of response bodies: whatever a server sends, a body takes no more memory and time than its kind may
 * take.
 */

/**
 * A server sent more than its kind of response may have, or took too long. The message names the host and the limit,
 * and nothing else of the address, because the rest may be secret.
 *
 * @example
 * if (error instanceof ResponseLimitError && error.limit === "bytes") return "too much at once";
 */
export class ResponseLimitError extends Error {
  override readonly name = "ResponseLimitError";
  /** Host and port of the server. */
  readonly host: string;
  readonly limit: "bytes" | "time";

  constructor(host: string, limit: "bytes" | "time", most: number) {
    super(
      limit === "bytes"
        ? `${host} sent more than ${renderBytes(most)} in one response`
        : `${host} did not answer within ${most / 1_000} s`,
    );
    this.host = host;
    this.limit = limit;
  }
}

function renderBytes(bytes: number): string {
  return bytes < 1_048_576 ? `${Math.ceil(bytes / 1_024)} kB` : `${Math.ceil(bytes / 1_048_576)} MB`;
}

/**
 * Collects the pieces of a body up to a limit.
 *
 * @example
 * if (!body.add(chunk)) return stop("the response is too large");
 */
export class LimitedBody {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns false if the body is larger than the limit. Nothing of it is kept then. */
  add(piece: Uint8Array): boolean {
    this.#size += piece.byteLength;
    if (this.#size <= this.#maxBytes) this.#pieces.push(piece);
    else this.#pieces = [];
    return this.#size <= this.#maxBytes;
  }

  /** The whole body. */
  bytes(): Buffer {
    const [first, ...more] = this.#pieces;
    if (first === undefined) return Buffer.alloc(0);
    return more.length === 0
      ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
      : Buffer.concat(this.#pieces);
  }
}
