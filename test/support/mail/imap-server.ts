/**
 * A scripted IMAP server on a real socket: only what the mailboxes of the gateway ask, and every fault that a server
 * may have.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type SecureContextOptions } from "node:tls";
import { createFolders } from "./imap-folders.ts";
import { type Fault, type Offer, type Session, type Shared, serve } from "./imap-session.ts";
import type { MailServer } from "./mail-server.ts";

export interface ScriptedServer extends MailServer {
  /** Changes what the server offers to connections that begin later. */
  offer(what: Partial<Offer>): void;
  /** False: mail comes in without a word to those who wait for it. */
  rings(whether: boolean): void;
  fail(...faults: readonly Fault[]): void;
  /** Takes back the faults that have not happened. */
  heal(): void;
  /** From now on the connections that are open are read and never answered. */
  mute(): void;
  deliverAll(
    mails: readonly string[],
    options?: { readonly structure?: string; readonly at?: Date; readonly folder?: string },
  ): void;
  /** Tokens that XOAUTH2 accepts. */
  readonly tokens: Set<string>;
  /** Connections that are open, the most that were open at once, and all so far. */
  connections(): { readonly now: number; readonly most: number; readonly all: number };
  /** How often a command came so far. */
  count(command: string): number;
}

export async function startImapServer(
  options: { readonly tls?: SecureContextOptions; readonly secure?: boolean } = {},
): Promise<ScriptedServer> {
  const folders = createFolders();
  for (const name of ["INBOX", "Drafts"]) folders.open(name);
  const sessions = new Map<Socket, Session>();
  const commands = new Map<string, number>();
  const tokens = new Set<string>();
  let faults: readonly Fault[] = [];
  let offered: Offer = { idle: true, uidNext: true, startTls: false, mechanisms: ["PLAIN"] };
  let secret = "secret-of-ada";
  let ringing = true;
  let most = 0;
  let all = 0;

  const shared: Shared = {
    folders,
    tls: options.tls,
    offer: () => offered,
    isRinging: () => ringing,
    admits(mechanism, credentials) {
      if (mechanism === "PLAIN") return credentials === `\0ada\0${secret}`;
      const [user, bearer = ""] = credentials.split("\u0001");
      return user === "user=ada" && tokens.has(bearer.replace("auth=Bearer ", ""));
    },
    faultAt(at) {
      const due = faults.find((fault) => fault.at === at);
      const left = due === undefined || (due.times ?? 1) === 1 ? [] : [{ ...due, times: (due.times ?? 1) - 1 }];
      faults = faults.flatMap((fault) => (fault === due ? left : [fault]));
      return due?.kind;
    },
    count: (command) => void commands.set(command, (commands.get(command) ?? 0) + 1),
  };

  function accept(socket: Socket): void {
    // An answer goes out in several pieces, and the second must not wait until the client has acknowledged the first.
    socket.setNoDelay();
    all += 1;
    const session = serve(socket, shared, { encrypted: options.secure === true });
    sessions.set(socket, session);
    most = Math.max(most, sessions.size);
    socket.once("close", () => sessions.delete(socket));
    const fault = shared.faultAt("greeting");
    if (fault === "cut") socket.destroy();
    else if (fault === "hang") session.mute();
    else socket.write("* OK ready\r\n");
  }

  let server: Server | undefined;
  let port = 0;
  async function start(): Promise<void> {
    const fresh: Server = options.secure === true ? createTlsServer({ ...options.tls }, accept) : createServer(accept);
    // A client that does not trust the certificate ends its connection in the middle of the handshake.
    fresh.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => fresh.listen(port, "127.0.0.1", resolve));
    port = (fresh.address() as { readonly port: number }).port;
    server = fresh;
  }
  async function kick(): Promise<void> {
    for (const socket of sessions.keys()) socket.destroy();
  }
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    await kick();
    await closed;
  }
  function ring(): void {
    if (ringing) for (const session of sessions.values()) session.ring();
  }
  const asSent = (mail: string) => Buffer.from(mail.replace(/\r?\n/g, "\r\n"));
  await start();
  return {
    get port() {
      return port;
    },
    user: "ada",
    password(next = secret) {
      secret = next;
      return secret;
    },
    async deliver(mail, folder = "INBOX") {
      folders.put(folder, asSent(mail));
      ring();
    },
    deliverAll(mails, { folder = "INBOX", ...more } = {}) {
      for (const mail of mails) folders.put(folder, asSent(mail), more);
      ring();
    },
    kick,
    async renew(folder, mails) {
      folders.remove(folder);
      folders.open(folder);
      for (const mail of mails) folders.put(folder, asSent(mail));
      // A folder that is made anew ends the sessions in the old one.
      await kick();
    },
    flags: async (folder = "INBOX") => folders.open(folder).mails.map(({ flags }) => flags),
    mails: async (folder = "INBOX") => folders.open(folder).mails.map(({ text }) => text.toString()),
    offer(what) {
      offered = { ...offered, ...what };
    },
    rings(whether) {
      ringing = whether;
    },
    fail(...more) {
      faults = [...faults, ...more];
    },
    heal() {
      faults = [];
    },
    mute() {
      for (const session of sessions.values()) session.mute();
    },
    tokens,
    connections: () => ({ now: sessions.size, most, all }),
    count: (command) => commands.get(command) ?? 0,
    stop,
    start,
    close: stop,
  };
}
