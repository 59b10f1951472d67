/** A scripted IMAP server on a real socket: only what the mailboxes of the gateway ask, and every fault that a server may have. */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type SecureContextOptions, TLSSocket } from "node:tls";
import { fetched, headerOf, type StoredMail } from "./imap-mail.ts";
import type { MailServer } from "./mail-server.ts";

/** What becomes of a command, or of the `greeting`. */
export interface Fault {
  readonly at: string;
  readonly kind: "cut" | "hang" | "NO" | "BAD" | "long-literal";
  readonly times?: number;
}

export interface ScriptedServer extends MailServer {
  /** Changes what the server offers to connections that begin later. */
  offer(what: { readonly idle?: boolean; readonly startTls?: boolean; readonly mechanisms?: readonly string[] }): void;
  /** False: mail comes in without a word to those who wait for it. */
  rings(whether: boolean): void;
  fail(fault: Fault): void;
  /** From now on the connections that are open are read and never answered. */
  mute(): void;
  deliverAll(mails: readonly string[], options?: { readonly structure?: string }): void;
  /** Tokens that XOAUTH2 accepts. */
  readonly tokens: Set<string>;
  readonly connections: { readonly now: number; readonly most: number; readonly all: number };
  /** Every command so far, by its name. */
  count(command: string): number;
}

interface Folder {
  validity: number;
  next: number;
  mails: StoredMail[];
}

interface Session {
  readonly write: (...pieces: readonly (string | Buffer)[]) => void;
  folder?: Folder;
  shown: number;
  idle: string | undefined;
}

export async function startImapServer(options: { readonly tls?: SecureContextOptions; readonly secure?: boolean } = {}): Promise<ScriptedServer> {
  const folders = new Map<string, Folder>();
  const sockets = new Set<Socket>();
  const sessions = new Map<Socket, Session>();
  const muted = new WeakSet<Socket>();
  const commands = new Map<string, number>();
  const tokens = new Set<string>();
  let faults: Fault[] = [];
  let offered = { idle: true, startTls: false, mechanisms: ["PLAIN"] as readonly string[] };
  let secret = "secret-of-ada";
  let ringing = true;
  let validities = 1_000;
  const seen = { now: 0, most: 0, all: 0 };
  const folderOf = (name: string): Folder => {
    const folder = folders.get(name) ?? { validity: (validities += 1), next: 1, mails: [] };
    folders.set(name, folder);
    return folder;
  };
  folderOf("INBOX");
  folderOf("Drafts");

  function put(name: string, text: Buffer, more: { readonly flags?: readonly string[]; readonly structure?: string } = {}): void {
    const folder = folderOf(name);
    folder.mails.push({ uid: folder.next, text, flags: [], at: new Date(), ...more });
    folder.next += 1;
  }

  function ring(): void {
    if (ringing) for (const session of sessions.values()) if (session.idle !== undefined) announce(session);
  }

  function announce(session: Session): void {
    const count = session.folder?.mails.length ?? 0;
    if (session.folder !== undefined && count !== session.shown) session.write(`* ${count} EXISTS\r\n`);
    session.shown = count;
  }

  function faultAt(at: string): Fault["kind"] | undefined {
    const index = faults.findIndex((fault) => fault.at === at);
    const fault = faults[index];
    if (fault === undefined) return undefined;
    const times = (fault.times ?? 1) - 1;
    faults = faults.flatMap((other, place) => (place !== index ? [other] : times > 0 ? [{ ...fault, times }] : []));
    return fault.kind;
  }

  function search(folder: Folder, criteria: string): readonly number[] {
    const [, from, to] = /\bUID (\d+):(\d+|\*)/i.exec(criteria) ?? [];
    const [, header, value] = /\bHEADER "?([\w-]+)"? "?<?([^">]*)>?"?/i.exec(criteria) ?? [];
    const since = /\bSINCE "?([\w-]+)"?/i.exec(criteria)?.[1];
    const last = folder.mails.at(-1)?.uid;
    return folder.mails
      .filter((mail) => {
        // The last mail is in a range to the end whatever its number.
        if (from !== undefined) return (mail.uid >= Number(from) && (to === "*" || mail.uid <= Number(to))) || (to === "*" && mail.uid === last);
        if (header !== undefined) return headerOf(mail, header)?.includes(value ?? "") === true;
        return since === undefined || mail.at.getTime() >= Date.parse(`${since} UTC`);
      })
      .map(({ uid }) => uid);
  }

  const capabilities = (encrypted: boolean) =>
    ["IMAP4rev1", offered.idle ? "IDLE" : "", offered.startTls && !encrypted ? "STARTTLS" : "", "SPECIAL-USE"]
      .concat(offered.mechanisms.map((name) => `AUTH=${name}`))
      .filter((name) => name !== "")
      .join(" ");

  function permits(mechanism: string, payload: string): boolean {
    const text = Buffer.from(payload, "base64").toString();
    if (mechanism === "PLAIN") return text === `\0ada\0${secret}`;
    const [, user, token] = /^user=(.*?)\x01auth=Bearer (.*?)\x01\x01$/.exec(text) ?? [];
    return user === "ada" && token !== undefined && tokens.has(token);
  }

  function serve(socket: Socket, { encrypted }: { readonly encrypted: boolean }): void {
    let waiting: Buffer = Buffer.alloc(0);
    let expecting: ((line: string) => void) | undefined;
    const session: Session = {
      write: (...pieces) => {
        if (!muted.has(socket) && socket.writable) socket.write(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
      },
      shown: 0,
      idle: undefined,
    };
    sessions.set(socket, session);
    const { write } = session;

    function authenticate(tag: string, mechanism: string, payload: string): void {
      if (permits(mechanism, payload)) return write(`${tag} OK logged in\r\n`);
      if (mechanism === "PLAIN") return write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
      write(`+ ${Buffer.from('{"status":"400","schemes":"bearer"}').toString("base64")}\r\n`);
      expecting = () => write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
    }

    function obey(tag: string, name: string, rest: string, literal: Buffer): void {
      commands.set(name, (commands.get(name) ?? 0) + 1);
      const fault = faultAt(name);
      if (fault === "cut") return void socket.destroy();
      if (fault === "hang") return void muted.add(socket);
      if (fault === "NO" || fault === "BAD") return write(`${tag} ${fault} not now\r\n`);
      const done = (text = "done") => write(`${tag} OK ${text}\r\n`);
      const words = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s"]+)/g)].map(([, text, word]) => text ?? word ?? "");
      switch (name) {
        case "CAPABILITY":
          write(`* CAPABILITY ${capabilities(encrypted)}\r\n`);
          return done();
        case "STARTTLS":
          done();
          sessions.delete(socket);
          socket.removeAllListeners("data");
          serve(new TLSSocket(socket, { isServer: true, ...options.tls }), { encrypted: true });
          return;
        case "LOGIN":
          return words[0] === "ada" && words[1] === secret ? done() : write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
        case "AUTHENTICATE": {
          const [mechanism = "", payload] = words;
          if (payload !== undefined) return authenticate(tag, mechanism, payload);
          write("+ \r\n");
          expecting = (line) => authenticate(tag, mechanism, line);
          return;
        }
        case "LIST":
          for (const folder of folders.keys()) {
            const [, pattern = ""] = words;
            const use = folder === "Drafts" ? " \\Drafts" : "";
            if (pattern === "*" || pattern === folder) write(`* LIST (\\HasNoChildren${use}) "/" "${folder}"\r\n`);
          }
          return done();
        case "SELECT":
        case "EXAMINE": {
          const folder = folders.get(words[0] ?? "");
          if (folder === undefined) return write(`${tag} NO [NONEXISTENT] no such folder\r\n`);
          Object.assign(session, { folder, shown: folder.mails.length });
          write(`* FLAGS (\\Seen \\Draft)\r\n* ${folder.mails.length} EXISTS\r\n* OK [UIDVALIDITY ${folder.validity}] is\r\n`);
          write(`* OK [UIDNEXT ${folder.next}] is\r\n`);
          return done(name === "EXAMINE" ? "[READ-ONLY] done" : "[READ-WRITE] done");
        }
        case "UID SEARCH":
          write(`* SEARCH ${search(session.folder ?? folderOf("INBOX"), rest).join(" ")}\r\n`);
          return done();
        case "UID FETCH": {
          const mail = session.folder?.mails.find(({ uid }) => uid === Number(words[0]));
          const place = mail === undefined ? 0 : (session.folder?.mails.indexOf(mail) ?? 0) + 1;
          const claim = fault === "long-literal" ? 10_000 : 0;
          if (mail !== undefined) write(`* ${place} FETCH `, fetched(mail, rest.slice(rest.indexOf(" ")), { claim }), "\r\n");
          return done();
        }
        case "APPEND":
          put(words[0] ?? "", literal, { flags: /\((.*?)\)/.exec(rest)?.[1]?.split(" ") ?? [] });
          // The mail is there, and its sender never learns of it.
          if (faultAt("APPENDED") !== undefined) return void socket.destroy();
          return done();
        case "IDLE":
          session.idle = tag;
          write("+ idling\r\n");
          if (ringing) announce(session);
          return;
        case "NOOP":
          announce(session);
          return done();
        case "LOGOUT":
          write("* BYE\r\n");
          done();
          return void socket.end();
        default:
          return write(`${tag} BAD unknown\r\n`);
      }
    }

    function read(): void {
      for (;;) {
        const end = waiting.indexOf("\r\n");
        if (end < 0 || muted.has(socket)) return;
        const line = waiting.subarray(0, end).toString("latin1");
        const size = /\{(\d+)\+?\}$/.exec(line);
        let literal: Buffer = Buffer.alloc(0);
        let used = end + 2;
        if (size !== null) {
          const bytes = Number(size[1]);
          if (waiting.length < used + bytes + 2) {
            if (waiting.length === used && !line.endsWith("+}")) write("+ go on\r\n");
            return;
          }
          literal = waiting.subarray(used, used + bytes);
          used += bytes + 2;
        }
        waiting = waiting.subarray(used);
        const expected = expecting;
        if (expected !== undefined) {
          expecting = undefined;
          expected(line);
        } else if (session.idle !== undefined && line.toUpperCase() === "DONE") {
          write(`${session.idle} OK done\r\n`);
          session.idle = undefined;
        } else {
          const [, tag = "*", name = "", rest = ""] = /^(\S+) (UID \w+|\w+) ?(.*)$/s.exec(line) ?? [];
          obey(tag, name.toUpperCase(), rest, literal);
        }
      }
    }

    socket.on("data", (piece: Buffer) => {
      waiting = Buffer.concat([waiting, piece]);
      read();
    });
    socket.on("error", () => {});
    socket.once("close", () => sessions.delete(socket));
  }

  function accept(socket: Socket): void {
    sockets.add(socket);
    seen.all += 1;
    seen.most = Math.max(seen.most, sockets.size);
    socket.once("close", () => sockets.delete(socket));
    const fault = faultAt("greeting");
    if (fault === "cut") return void socket.destroy();
    serve(socket, { encrypted: options.secure === true });
    if (fault === "hang") muted.add(socket);
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
    for (const socket of sockets) socket.destroy();
  }
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    await kick();
    await closed;
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
      put(folder, asSent(mail));
      ring();
    },
    deliverAll(mails, more) {
      for (const mail of mails) put("INBOX", asSent(mail), more);
      ring();
    },
    kick,
    async renew(folder, mails) {
      folders.delete(folder);
      for (const mail of mails) put(folder, asSent(mail));
      folderOf(folder);
    },
    flags: async (folder = "INBOX") => folderOf(folder).mails.map(({ flags }) => flags),
    mails: async (folder = "INBOX") => folderOf(folder).mails.map(({ text }) => text.toString()),
    offer: (what) => {
      offered = { ...offered, ...what };
    },
    rings: (whether) => {
      ringing = whether;
    },
    fail: (fault) => void faults.push(fault),
    mute() {
      for (const socket of sessions.keys()) muted.add(socket);
    },
    tokens,
    get connections() {
      return { ...seen, now: sockets.size };
    },
    count: (command) => commands.get(command) ?? 0,
    stop,
    start,
    close: stop,
  };
}
