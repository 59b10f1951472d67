/** One connection to the scripted IMAP server: reads commands and answers them, or does what its fault says. */
import type { Socket } from "node:net";
import { type SecureContextOptions, TLSSocket } from "node:tls";
import { burst, junkTexts } from "../junk-texts.ts";
import { type Folder, type Folders, searchIn } from "./imap-folders.ts";
import { fetched } from "./imap-mail.ts";

/** What becomes of a command, of the `greeting`, or of a mail that is `APPENDED` already. */
export interface Fault {
  readonly at: string;
  readonly kind: "cut" | "hang" | "NO" | "BAD" | "long-literal" | "nothing" | "flood" | "junk";
  /** Default once. */
  readonly times?: number;
}

export interface Offer {
  readonly idle: boolean;
  /** Whether it says which number the next mail of a folder will have. */
  readonly uidNext: boolean;
  readonly startTls: boolean;
  readonly mechanisms: readonly string[];
}

/** What all connections of a server share. */
export interface Shared {
  readonly folders: Folders;
  readonly tls?: SecureContextOptions | undefined;
  offer(): Offer;
  isRinging(): boolean;
  /** Whether these credentials log in. */
  admits(mechanism: string, credentials: string): boolean;
  /** The fault that is due, which it uses up. */
  faultAt(at: string): Fault["kind"] | undefined;
  count(command: string): void;
}

export interface Session {
  /** Says how many mails there are now, to a client that waits for it. */
  ring(): void;
  /** Answers nothing more. */
  mute(): void;
}

export function serve(socket: Socket, shared: Shared, { encrypted }: { readonly encrypted: boolean }): Session {
  const { folders } = shared;
  let waiting: Buffer = Buffer.alloc(0);
  let expecting: ((line: string) => void) | undefined;
  let folder: Folder | undefined;
  let shown = 0;
  let idleTag: string | undefined;
  let muted = false;
  let inner: Session | undefined;

  function write(...pieces: readonly (string | Buffer)[]): void {
    if (!muted && socket.writable) socket.write(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
  }

  function announce(): void {
    const count = folder?.mails.length ?? 0;
    if (folder !== undefined && count !== shown) write(`* ${count} EXISTS\r\n`);
    shown = count;
  }

  function authenticate(tag: string, mechanism: string, payload: string): void {
    if (shared.admits(mechanism, Buffer.from(payload, "base64").toString())) write(`${tag} OK logged in\r\n`);
    else if (mechanism === "PLAIN") write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
    else {
      write(`+ ${Buffer.from('{"status":"400","schemes":"bearer"}').toString("base64")}\r\n`);
      expecting = () => write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
    }
  }

  function capabilities(): string {
    const { idle, startTls, mechanisms } = shared.offer();
    const names = [
      "IMAP4rev1",
      "SPECIAL-USE",
      ...(idle ? ["IDLE"] : []),
      ...(startTls && !encrypted ? ["STARTTLS"] : []),
    ];
    return [...names, ...mechanisms.map((name) => `AUTH=${name}`)].join(" ");
  }

  function startTls(): void {
    socket.removeAllListeners("data");
    inner = serve(new TLSSocket(socket, { isServer: true, ...shared.tls }), shared, { encrypted: true });
  }

  function list(pattern: string): void {
    for (const name of folders.names()) {
      const use = name === "Drafts" ? " \\Drafts" : "";
      if (pattern === "*" || pattern === name) write(`* LIST (\\HasNoChildren${use}) "/" "${name}"\r\n`);
    }
  }

  function select(name: string): boolean {
    folder = folders.get(name);
    if (folder === undefined) return false;
    shown = folder.mails.length;
    write(`* FLAGS (\\Seen \\Draft)\r\n* ${shown} EXISTS\r\n`);
    write(`* OK [UIDVALIDITY ${folder.validity}] is\r\n`);
    if (shared.offer().uidNext) write(`* OK [UIDNEXT ${folder.next}] is\r\n`);
    return true;
  }

  function fetch(uid: number, items: string, claim: number): void {
    const place = folder?.mails.findIndex((mail) => mail.uid === uid) ?? -1;
    const mail = folder?.mails[place];
    if (mail !== undefined) write(`* ${place + 1} FETCH `, fetched(mail, items, { claim }), "\r\n");
  }

  /** Up to 200 MB of lines that no command asked for, as fast as the client takes them. */
  function flood(): void {
    const lines = Buffer.from("* 5 EXISTS\r\n".repeat(5_000));
    let left = 200 * 1_048_576;
    const more = (): void => {
      while (left > 0 && socket.writable) {
        left -= lines.length;
        if (!socket.write(lines)) return void socket.once("drain", more);
      }
    };
    more();
  }

  function obey(tag: string, name: string, rest: string, literal: Buffer): void {
    shared.count(name);
    const fault = shared.faultAt(name);
    if (fault === "cut") socket.destroy();
    else if (fault === "hang") muted = true;
    else if (fault === "flood") flood();
    else if (fault === "junk") {
      write(...junkTexts.map((text) => `* ${text}\r\n`), "* 5 EXISTS\r\n".repeat(burst), "* null\r\n".repeat(burst));
      answer(tag, name, rest, { literal, claim: 0 });
    } else if (fault === "nothing") write(`${tag} OK done\r\n`);
    else if (fault === "NO" || fault === "BAD") write(`${tag} ${fault} not now\r\n`);
    else answer(tag, name, rest, { literal, claim: fault === "long-literal" ? 10_000 : 0 });
  }

  function answer(
    tag: string,
    name: string,
    rest: string,
    { literal, claim }: { readonly literal: Buffer; readonly claim: number },
  ): void {
    const words = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s"]+)/g)].map(([, text, word]) => text ?? word ?? "");
    const [first = "", second = ""] = words;
    const done = (text = "done"): void => write(`${tag} OK ${text}\r\n`);
    const commands: Readonly<Record<string, () => void>> = {
      CAPABILITY() {
        write(`* CAPABILITY ${capabilities()}\r\n`);
        done();
      },
      STARTTLS() {
        done();
        startTls();
      },
      LOGIN() {
        if (shared.admits("PLAIN", `\0${first}\0${second}`)) done();
        else write(`${tag} NO [AUTHENTICATIONFAILED] refused\r\n`);
      },
      AUTHENTICATE() {
        if (words.length > 1) return authenticate(tag, first, second);
        write("+ \r\n");
        expecting = (line) => authenticate(tag, first, line);
      },
      LIST() {
        list(second);
        done();
      },
      EXAMINE() {
        if (select(first)) done("[READ-ONLY] done");
        else write(`${tag} NO [NONEXISTENT] no such folder\r\n`);
      },
      "UID SEARCH"() {
        write(`* SEARCH ${(folder === undefined ? [] : searchIn(folder, rest)).join(" ")}\r\n`);
        done();
      },
      FETCH() {
        fetch(folder?.mails[Number(first) - 1]?.uid ?? 0, rest.slice(rest.indexOf(" ")), claim);
        done();
      },
      "UID FETCH"() {
        const [from = 0, to = from] = first.split(":").map(Number);
        for (const { uid } of folder?.mails ?? [])
          if (uid >= from && uid <= to) fetch(uid, rest.slice(rest.indexOf(" ")), claim);
        done();
      },
      APPEND() {
        folders.put(first, literal, { flags: /\((.*?)\)/.exec(rest)?.[1]?.split(" ") ?? [] });
        if (shared.faultAt("APPENDED") === undefined) done();
        else socket.destroy();
      },
      IDLE() {
        idleTag = tag;
        write("+ idling\r\n");
        if (shared.isRinging()) announce();
      },
      NOOP() {
        announce();
        done();
      },
      LOGOUT() {
        write("* BYE\r\n");
        done();
        socket.end();
      },
    };
    const run = commands[name];
    if (run === undefined) write(`${tag} BAD unknown\r\n`);
    else run();
  }

  function heed(line: string, literal: Buffer): void {
    const expected = expecting;
    expecting = undefined;
    if (expected !== undefined) expected(line);
    else if (idleTag !== undefined && line.toUpperCase() === "DONE") {
      write(`${idleTag} OK done\r\n`);
      idleTag = undefined;
    } else {
      const [, tag = "*", name = "", rest = ""] = /^(\S+) (UID \w+|\w+) ?(.*)$/s.exec(line) ?? [];
      obey(tag, name.toUpperCase(), rest, literal);
    }
  }

  function read(): void {
    for (let end = waiting.indexOf("\r\n"); end >= 0 && !muted; end = waiting.indexOf("\r\n")) {
      const line = waiting.subarray(0, end).toString("latin1");
      const size = /\{(\d+)(\+?)\}$/.exec(line);
      const begin = end + 2;
      const bytes = Number(size?.[1] ?? 0);
      const used = size === null ? begin : begin + bytes + 2;
      if (waiting.length < used) {
        if (size?.[2] === "" && waiting.length === begin) write("+ go on\r\n");
        return;
      }
      const literal = waiting.subarray(begin, begin + bytes);
      waiting = waiting.subarray(used);
      heed(line, literal);
    }
  }

  socket.on("data", (piece: Buffer) => {
    waiting = Buffer.concat([waiting, piece]);
    read();
  });
  socket.on("error", () => {});
  return {
    ring() {
      inner?.ring();
      if (idleTag !== undefined) announce();
    },
    mute() {
      inner?.mute();
      muted = true;
    },
  };
}
