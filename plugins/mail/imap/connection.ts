/** One connection to an IMAP server, with limits on what it may send. The library is loaded with the first one. */
import type { ImapFlow } from "imapflow";
import type { ImapSettings } from "../settings.ts";
import { faultOf } from "./faults.ts";

export async function connect({ host, port, tls, user }: ImapSettings, password: string): Promise<ImapFlow> {
  const { ImapFlow } = await import("imapflow");
  const client = new ImapFlow({
    host,
    port,
    secure: tls === true,
    ...(tls === "starttls" ? { doSTARTTLS: true } : tls === false ? { doSTARTTLS: false } : {}),
    auth: { user, pass: password },
    logger: false,
    // By default it would wait for 15 s before the server may ring.
    autoIdleDelay: 100,
    maxIdleTime: 4 * 60_000,
    socketTimeout: 5 * 60_000,
    connectionTimeout: 20_000,
    greetingTimeout: 10_000,
    maxLiteralSize: 1_048_576,
    maxResponseSize: 524_288,
  });
  // What goes wrong is seen by the call that waits; without a listener it would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.close();
    throw faultOf(error, host);
  }
}
