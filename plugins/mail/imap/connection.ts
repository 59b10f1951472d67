/** One connection to an IMAP server, with limits on what it may send. The library is loaded with the first one. */
import type { ImapFlow } from "imapflow";
import { onEvent } from "service-gateway/sdk/channel";
import type { ImapSettings } from "../settings.ts";
import { answeredIn } from "./deadline.ts";
import { type Encryption, transportOf } from "./encryption.ts";
import { faultOf } from "./faults.ts";

export type Credentials = { readonly pass: string } | { readonly accessToken: string };

/** Time limit for handshake, greeting and login together. */
const connectMs = 30_000;

export async function connect(
  { host, port, user }: ImapSettings,
  { credentials, encryption }: { readonly credentials: Credentials; readonly encryption: Encryption },
): Promise<ImapFlow> {
  const { ImapFlow } = await import("imapflow");
  const { mode } = encryption;
  const client = new ImapFlow({
    host,
    port,
    secure: mode === "tls",
    // Without this option the library would continue in plain text if the server offers no STARTTLS.
    ...(mode === "tls" ? {} : { doSTARTTLS: mode === "starttls" }),
    transport: transportOf(encryption),
    auth: { user, ...credentials },
    logger: false,
    // By default it would wait for 15 s before the server may send notifications.
    autoIdleDelay: 100,
    maxIdleTime: 4 * 60_000,
    socketTimeout: 5 * 60_000,
    connectionTimeout: 20_000,
    greetingTimeout: 10_000,
    maxLiteralSize: 1_048_576,
    maxResponseSize: 524_288,
    // Reading this many takes about 60 ms.
    maxResponseTokens: 30_000,
  });
  // The waiting call reports the error; without a listener it would end the process.
  onEvent(client, "error", { source: `the mail server ${host}`, handle() {} });
  try {
    await answeredIn(connectMs, { client, host }, client.connect());
    return client;
  } catch (error) {
    client.close();
    throw faultOf(error, host);
  }
}
