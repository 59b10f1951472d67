/** Describes a failure of a mail server as a cause that a user can act on. */
import { SourceError } from "../source.ts";
import { oneLine } from "../text.ts";

/** The words of a server. */
export const quoted = (text: string): string => `"${oneLine(text).slice(0, 200).replaceAll('"', "'")}"`;

export function faultOf(error: unknown, host: string): SourceError {
  if (error instanceof SourceError) return error;
  const { code, authenticationFailed, oauthError, tlsFailed, message, responseStatus, responseText } = (error ??
    {}) as {
    /** `NO` or `BAD`, with the words of the server. */
    readonly responseStatus?: string;
    readonly responseText?: string;
    readonly code?: string;
    readonly oauthError?: unknown;
    readonly tlsFailed?: boolean;
    readonly authenticationFailed?: boolean;
    readonly message?: string;
  };
  if (authenticationFailed === true && oauthError !== undefined)
    return new SourceError(
      "login",
      `${host} refused the access token.`,
      "Check user and oauth.scope, and whether the provider allows IMAP for this mailbox.",
    );
  if (authenticationFailed === true)
    return new SourceError(
      "login",
      `${host} refused the user name or the password.`,
      "Correct user and password; many providers require an app password here.",
    );
  if (code !== undefined && /TooLarge|TooMany|NESTING/.test(code))
    return new SourceError(
      "too_large",
      `${host} sent too much data at once (${code}).`,
      "The next request asks for less.",
    );
  if (tlsFailed === true && /STARTTLS/.test(message ?? ""))
    return new SourceError(
      "setup",
      `${host} offers no encryption by STARTTLS.`,
      "Set tls to true and port to 993, or correct host and port. Nothing was sent.",
    );
  if (code !== undefined && /^ClosedAfterConnect|^EConnectionClosed$|^NoConnection$|^ECONNRESET$/.test(code))
    return new SourceError(
      "outage",
      `${host} closed the connection without an answer.`,
      "Check host, port and tls: a server closes a connection that is not encrypted as it expects. It also " +
        "closes too many connections of one mailbox.",
    );
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return new SourceError("outage", `The name ${host} cannot be resolved.`, "Check host and the network.");
  if (code === "ECONNREFUSED")
    return new SourceError("outage", `${host} refused the connection.`, "Check host and port.");
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return new SourceError(
      "outage",
      `${host} does not speak TLS on this port.`,
      "Correct port, mostly 993, or set tls to starttls, for which the port is mostly 143.",
    );
  if (code !== undefined && /CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO_VERIFY/.test(code))
    return new SourceError("outage", `The certificate of ${host} cannot be trusted (${code}).`, "Check host and tls.");
  if (responseStatus !== undefined && responseText !== undefined && responseText !== "")
    return new SourceError(
      "outage",
      `${host} refused a command: ${quoted(responseText)}.`,
      "It is retried automatically.",
    );
  return new SourceError(
    "outage",
    `The connection to ${host} failed: ${message ?? code ?? "unknown error"}.`,
    "It is retried automatically.",
  );
}
