/**
 * A connection that passes its data on in small slices, one in each round of the event loop. The library handles all
 * lines that it has before it lets other work run, and a server can send a hundred thousand a second. A server that
 * does not stop is disconnected.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { ImapTransportSocket } from "imapflow";
import { asBytes, onEvent, onMessage } from "service-gateway/sdk/channel";
import { SourceError } from "../source.ts";

const sliceLines = 32;
const sliceBytes = 16_384;
/**
 * The most that a server may send until the next command. The longest answer is a mail, or a few thousand lines about
 * mails.
 */
const mostLines = 100_000;
const mostBytes = 64 * 1_048_576;

export class PacedSocket extends Duplex implements ImapTransportSocket {
  readonly #socket: Socket;
  readonly #host: string;
  /** Until the connection is released to TLS. */
  readonly #listening: readonly (() => void)[];
  #waiting: Buffer | undefined;
  #ended = false;
  #wanted = false;
  #scheduled = false;
  #released = false;
  #lines = 0;
  #bytes = 0;

  constructor(socket: Socket, host: string) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    this.#host = host;
    const source = `the mail server ${host}`;
    const end = () => {
      this.#ended = true;
      this.#schedule();
    };
    const take = (piece: Buffer) => {
      this.#waiting = piece;
      socket.pause();
      this.#schedule();
    };
    this.#listening = [
      onMessage(socket, "data", { source, check: asBytes, handle: take }),
      onEvent(socket, "end", { source, handle: end }),
      onEvent(socket, "close", { source, handle: end }),
    ];
    onEvent(socket, "timeout", { source, handle: () => this.emit("timeout") });
    // After the release the TLS socket reports it; without a listener it would end the process.
    onEvent<readonly [Error]>(socket, "error", {
      source,
      handle: (error) => {
        if (!this.#released) this.destroy(error);
        else if (this.listenerCount("error") > 0) this.emit("error", error);
      },
    });
  }

  /** The connection below, for TLS. Throws if the server has sent data that was to be protected. */
  release(): Socket {
    if (this.#waiting !== undefined)
      throw new SourceError("outage", `${this.#host} sent data before TLS began.`, "Check host and port.");
    this.#released = true;
    for (const stop of this.#listening) stop();
    return this.#socket;
  }

  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  setKeepAlive(enable?: boolean, initialDelay?: number): this {
    this.#socket.setKeepAlive(enable, initialDelay);
    return this;
  }

  get authorized(): boolean | undefined {
    return (this.#socket as Partial<TLSSocket>).authorized;
  }

  getCipher(): ReturnType<TLSSocket["getCipher"]> | null {
    return (this.#socket as Partial<TLSSocket>).getCipher?.() ?? null;
  }

  override _read(): void {
    this.#wanted = true;
    this.#schedule();
  }

  override _write(piece: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#lines = 0;
    this.#bytes = 0;
    this.#socket.write(piece, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    this.#waiting = undefined;
    done(error);
  }

  #schedule(): void {
    if (this.#scheduled || !this.#wanted || (this.#waiting === undefined && !this.#ended)) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#handOn();
    });
  }

  #handOn(): void {
    if (this.destroyed || this.#released) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      if (this.#ended) this.push(null);
      return;
    }
    const end = this.#endOfSlice(waiting);
    this.#waiting = end < waiting.length ? waiting.subarray(end) : undefined;
    this.#bytes += end;
    if (this.#lines > mostLines || this.#bytes > mostBytes) {
      const much = this.#lines > mostLines ? `${mostLines.toLocaleString("en")} lines` : `${mostBytes / 1_048_576} MB`;
      const host = this.#host;
      const message = `${host} sent more than ${much} without a command that asks for them, and was disconnected.`;
      this.destroy(new SourceError("outage", message, "It is retried automatically. Ask the operator of the server."));
      return;
    }
    if (this.#waiting === undefined && !this.#ended) this.#socket.resume();
    this.#wanted = this.push(waiting.subarray(0, end));
    this.#schedule();
  }

  #endOfSlice(piece: Buffer): number {
    const most = Math.min(piece.length, sliceBytes);
    let end = 0;
    for (let count = 0; count < sliceLines; count += 1) {
      const at = piece.indexOf(0x0a, end);
      if (at < 0 || at >= most) return most;
      this.#lines += 1;
      end = at + 1;
    }
    return end;
  }
}
