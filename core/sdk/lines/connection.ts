/** A connection to a platform that speaks in lines of text. */
import { readFileSync } from "node:fs";
import { isIP, connect as overTcp } from "node:net";
import { connect as overTls } from "node:tls";
import { ChannelError, reasonOf } from "../../contract/index.ts";
import { faultText, onEvent } from "../../listeners/index.ts";
import { readLines } from "../../media/read-lines.ts";

/**
 * A connection of lines, as `connectLines` returns it.
 *
 * @example
 * connection.write("PING 1"); // without the end of the line
 */
export interface LineConnection {
  /**
   * Writes a line, and its end. Ignored once the connection is gone. Throws `ChannelError` (`bad_request`) for a line
   * that contains CR, LF or NUL, because what follows them would be a line of its own: a second command.
   */
  write(line: string): void;
  /** Sends the line `goodbye`, if there is one, and closes. Idempotent. */
  close(goodbye?: string): void;
  /** Breaks the connection off; `lost` resolves with the error. */
  fail(error: Error): void;
  /** Resolves when the connection is gone, with the reason. Never rejects. */
  readonly lost: Promise<Error>;
}

/**
 * Connects by TCP, or by TLS with the server's certificate checked (against `caFile`, a PEM file, instead of the public
 * authorities). Returns at once; lines that are written before it is open are sent then. `onLine` is called for each
 * line that comes, decoded as UTF-8, without its end. Only a line feed ends a line, with a carriage return before it or
 * not: other separators, such as U+2028, are part of the text that a person wrote, and must not begin a line of the
 * server. A line of more than `maxChars` (default 16,384) breaks the connection off. Many lines at once are handled in
 * slices of 10 ms, and the server has to wait meanwhile.
 *
 * A certificate that is not trusted is a `ChannelError` (`certificate_refused`) in `lost`. A `caFile` that cannot be
 * read is one that is thrown.
 *
 * @example
 * const connection = connectLines({ host: "irc.example.org", port: 6697, tls: true }, (line) => handle(line));
 * return { lost: connection.lost }; // for keepConnected
 */
export function connectLines(
  options: {
    readonly host: string;
    readonly port: number;
    readonly tls: boolean;
    readonly caFile?: string;
    readonly maxChars?: number;
    /** Returns a promise while no further line can be taken. The server has to wait for it. */
    readonly room?: () => Promise<unknown> | undefined;
  },
  onLine: (line: string) => void,
): LineConnection {
  const { host, port, tls, caFile, maxChars = 16_384, room } = options;
  const ca = caFile === undefined ? {} : { ca: readCertificate(caFile) };
  const socket = tls
    ? overTls({ host, port, ...ca, ...(isIP(host) === 0 && { servername: host }) })
    : overTcp({ host, port });
  const { promise: lost, resolve } = Promise.withResolvers<Error>();
  let failure = new Error("The server closed the connection");
  let isOpen = false;
  const source = `the server ${host}`;
  readLines(
    socket.setEncoding("utf8").setNoDelay(),
    (line) => {
      // What came along with the line that broke the connection off is not handled any more.
      if (!socket.destroyed) onLine(line.replace(/\r$/, ""));
    },
    {
      ...{ source, room },
      // A carriage return before the line feed does not count.
      maxChars: maxChars + 1,
      onTooLong: () => void socket.destroy(new Error("The server sent a line without an end")),
      // A line that cannot be handled breaks the connection off: whether the next ones can be understood without it is
      // unknown.
      fault: (fault) => void socket.destroy(new Error(faultText(fault))),
    },
  );
  onEvent(socket, tls ? "secureConnect" : "connect", {
    ...{ source, once: true },
    handle() {
      isOpen = true;
    },
  });
  onEvent<readonly [Error]>(socket, "error", {
    source,
    handle(error) {
      failure = untrusted(error) ?? withoutTls(error) ?? error;
    },
  });
  onEvent(socket, "close", { source, handle: () => resolve(failure) });
  return {
    lost,
    write(line) {
      if (forbidden.test(line))
        throw new ChannelError("bad_request", { detail: "A line cannot contain a line break or a NUL" });
      socket.write(`${line}\r\n`);
    },
    close(goodbye) {
      if (!isOpen) return void socket.destroy();
      if (!socket.writableEnded) socket.end(goodbye === undefined ? "" : `${goodbye}\r\n`, () => socket.destroy());
    },
    fail: (error) => void socket.destroy(error),
  };
}

const forbidden = /[\r\n\0]/;

function readCertificate(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const detail = `The certificate ${file} cannot be read: ${reasonOf(cause)}`;
    throw new ChannelError("certificate_refused", { detail, hint: "Correct caFile.", cause });
  }
}

const unknownAuthorities: readonly unknown[] = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/** OpenSSL's own message names a file of its source, and the port of another protocol is the commonest mistake. */
function withoutTls(cause: Error): ChannelError | undefined {
  if (!cause.message.includes("wrong version number")) return undefined;
  const hint =
    "Set port to the port for TLS; only a server on this machine or in a network that is yours can do without TLS.";
  return new ChannelError("network", {
    detail: "The server does not speak TLS on this port",
    hint,
    retryable: true,
    cause,
  });
}

/** Node's own message ends in advice about options of Node. */
function untrusted(cause: NodeJS.ErrnoException): ChannelError | undefined {
  if (!unknownAuthorities.includes(cause.code)) return undefined;
  const detail = `The server's certificate is not trusted: ${cause.message.replace(/;.*/s, "")}`;
  return new ChannelError("certificate_refused", { detail, retryable: true, cause });
}
