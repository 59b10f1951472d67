/** How a connection to a mail server is encrypted, and which certificate is accepted. */
import { connect as connectPlain } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import type { ImapTransport } from "imapflow";
import { isLoopback, type TlsSetting } from "../settings.ts";
import { SourceError } from "../source.ts";
import { PacedSocket } from "./paced-socket.ts";

export interface Encryption {
  readonly mode: "tls" | "starttls" | "none";
  /** Certificates that sign the server's, as PEM text; if absent, those that Node trusts. */
  readonly ca?: string;
  /** SHA-256 of the server's own certificate, as hexadecimal digits. */
  readonly fingerprint?: string;
}

/** `read` returns the text of a file that the configuration names. Throws if a password would be sent unprotected. */
export function encryptionOf(
  tls: TlsSetting,
  { host, read }: { readonly host: string; readonly read: (file: string) => string },
): Encryption {
  if (tls === false && !isLoopback(host))
    throw new SourceError(
      "setup",
      `tls is false, which would send the password to ${host} unprotected.`,
      'Set tls to true or "starttls".',
    );
  if (tls === false) return { mode: "none" };
  if (tls === true || tls === "starttls") return { mode: tls === true ? "tls" : tls };
  const { mode = "tls", caFile, fingerprint256 } = tls;
  return {
    mode,
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
    ...(fingerprint256 === undefined ? {} : { fingerprint: plainDigits(fingerprint256) }),
  };
}

/**
 * How the library connects. A pinned certificate is compared by its fingerprint before anything is sent: Node cannot
 * accept a certificate that it does not trust.
 */
export function transportOf({ ca, fingerprint }: Encryption): ImapTransport {
  const pinned = fingerprint !== undefined && { rejectUnauthorized: ca !== undefined };
  const options: ConnectionOptions = { ...pinned, ...(ca === undefined ? {} : { ca }) };
  const begin = (to: ConnectionOptions, host: string, onSecure: () => void): TLSSocket => {
    const socket = connectTls({ ...to, ...options }, () => {
      if (fingerprint === undefined) return onSecure();
      const found = plainDigits(socket.getPeerCertificate().fingerprint256 ?? "");
      if (found === fingerprint) onSecure();
      else socket.destroy(otherCertificate(host, found));
    });
    return socket;
  };
  return {
    connect({ host, port, servername, secure }, onConnect) {
      const to = { host, port };
      return new PacedSocket(
        secure ? begin({ ...to, ...named(servername) }, host, onConnect) : connectPlain(to, onConnect),
        host,
      );
    },
    upgrade(socket, { host, port, servername }, onSecure) {
      const plain = (socket as PacedSocket).release();
      return new PacedSocket(begin({ socket: plain, host, port, ...named(servername) }, host, onSecure), host);
    },
  };
}

const named = (servername: string | false | undefined) => (servername ? { servername } : {});

function otherCertificate(host: string, found: string): SourceError {
  const pairs = found.match(/../g)?.join(":") ?? "none";
  return new SourceError(
    "setup",
    `The certificate of ${host} does not match tls.fingerprint256: ${pairs}.`,
    "Set tls.fingerprint256 to the new one if you know that the server has changed its certificate.",
  );
}

function plainDigits(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toUpperCase();
}
