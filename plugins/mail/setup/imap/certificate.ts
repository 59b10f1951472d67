/** The certificate of a server on this machine that no authority has signed, such as Proton Mail Bridge's. */
import { once } from "node:events";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { onEvent } from "service-gateway/sdk/channel";
import type { ImapSettings } from "../../settings.ts";
import { SourceError } from "../../source.ts";

const answerMs = 10_000;

/** The encryption of the settings, with the server's current certificate as the only one accepted from now on. */
export async function pinnedTls({
  host,
  port,
  tls,
}: Pick<ImapSettings, "host" | "port" | "tls">): Promise<ImapSettings["tls"] | undefined> {
  if (typeof tls === "object" || tls === false) return undefined;
  const socket = connectPlain({ host, port, timeout: answerMs });
  onEvent(socket, "timeout", { source: host, handle: () => socket.destroy(new Error("no answer")), once: true });
  try {
    await once(socket, "connect");
    if (tls === "starttls") await startTls(socket);
    // Only the fingerprint is read; nothing is sent over this connection.
    const secure = connectTls({ socket, rejectUnauthorized: false });
    await once(secure, "secureConnect");
    const { fingerprint256 } = secure.getPeerCertificate();
    return { mode: tls === "starttls" ? tls : "tls", fingerprint256 };
  } catch {
    throw new SourceError("setup", `The certificate of ${host}:${port} cannot be read.`, "Check --tls and --port.");
  } finally {
    socket.destroy();
  }
}

async function startTls(socket: Socket): Promise<void> {
  await lineOf(socket);
  socket.write("a STARTTLS\r\n");
  if (!/^a OK/i.test(await lineOf(socket))) throw new Error("refused");
}

async function lineOf(socket: Socket): Promise<string> {
  let text = "";
  while (!text.includes("\r\n")) {
    const [piece] = (await once(socket, "data")) as [Buffer];
    text += piece.toString("latin1");
  }
  return text;
}
