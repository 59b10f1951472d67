/**
 * How the scripted server shows a mail: its envelope, its structure and its parts, in the syntax of IMAP (RFC 9051,
 * 7.5.2).
 */

export interface StoredMail {
  readonly uid: number;
  readonly text: Buffer;
  readonly flags: readonly string[];
  readonly at: Date;
  /** In place of what the text would give. */
  readonly structure?: string;
}

const quoted = (text: string | undefined) => (text === undefined ? "NIL" : `"${text.replace(/[\\"]/g, "\\$&")}"`);
const literal = (bytes: Buffer, size = bytes.length) => Buffer.concat([Buffer.from(`{${size}}\r\n`), bytes]);

const headOf = ({ text }: StoredMail) => {
  const end = text.indexOf("\r\n\r\n");
  return end < 0 ? text : text.subarray(0, end + 4);
};
const bodyOf = (mail: StoredMail) => mail.text.subarray(headOf(mail).length);

export function headerOf(mail: StoredMail, name: string): string | undefined {
  const unfolded = headOf(mail)
    .toString("latin1")
    .replace(/\r\n[ \t]+/g, " ");
  return new RegExp(`^${name}:[ \\t]*(.*)$`, "im").exec(unfolded)?.[1]?.trimEnd();
}

function address(field: string | undefined): string {
  if (field === undefined) return "NIL";
  const [, name, local, domain] = /^(?:"?([^"<]*?)"?\s*<)?([^<>@\s]+)@([^<>\s]+?)>?$/.exec(field) ?? [];
  return local === undefined ? "NIL" : `((${quoted(name)} NIL ${quoted(local)} ${quoted(domain)}))`;
}

function envelopeOf(mail: StoredMail): string {
  const [from, replyTo, to] = ["From", "Reply-To", "To"].map((name) => headerOf(mail, name));
  const fields = [quoted(headerOf(mail, "Date")), quoted(headerOf(mail, "Subject"))];
  fields.push(address(from), address(from), address(replyTo ?? from), address(to), "NIL", "NIL");
  return `(${[...fields, quoted(headerOf(mail, "In-Reply-To")), quoted(headerOf(mail, "Message-ID"))].join(" ")})`;
}

/** One part: what is longer than that is given by `structure`. */
function structureOf(mail: StoredMail): string {
  if (mail.structure !== undefined) return mail.structure;
  const [, kind = "plain", charset = "utf-8"] =
    /^text\/(\w+)(?:.*charset="?([^";]+))?/i.exec(headerOf(mail, "Content-Type") ?? "") ?? [];
  const encoding = headerOf(mail, "Content-Transfer-Encoding") ?? "8bit";
  return (
    `("text" ${quoted(kind)} ("charset" ${quoted(charset)}) NIL NIL ${quoted(encoding)} ` +
    `${bodyOf(mail).length} 1 NIL NIL NIL NIL)`
  );
}

function sectionOf(mail: StoredMail, section: string): Buffer {
  const names = /^HEADER\.FIELDS \((.*)\)$/i.exec(section)?.[1]?.toLowerCase().split(" ");
  if (names !== undefined) {
    const lines = headOf(mail)
      .toString("latin1")
      .split(/\r\n(?![ \t])/);
    const wanted = lines.filter((line) => names.includes(line.slice(0, line.indexOf(":")).toLowerCase()));
    return Buffer.from(`${wanted.map((line) => `${line}\r\n`).join("")}\r\n`, "latin1");
  }
  if (section === "") return mail.text;
  return /MIME$|^HEADER$/i.test(section) ? headOf(mail) : bodyOf(mail);
}

/** The data items of one FETCH; `claim`: bytes that each literal claims beyond those that it has. */
export function fetched(mail: StoredMail, asked: string, { claim = 0 }: { readonly claim?: number } = {}): Buffer {
  const items: (string | Buffer)[] = [];
  for (const [whole, item = "", section = "", from, count] of asked.matchAll(
    /([A-Z][A-Z0-9.]*)(?:\[([^\]]*)\](?:<(\d+)\.?(\d*)>)?)?/gi,
  )) {
    const name = item.toUpperCase();
    if (name === "UID") items.push(`UID ${mail.uid}`);
    else if (name === "FLAGS") items.push(`FLAGS (${mail.flags.join(" ")})`);
    else if (name === "INTERNALDATE")
      items.push(`INTERNALDATE "${mail.at.toUTCString().slice(5, 25).replace(/ /, "-").replace(/ /, "-")} +0000"`);
    else if (name === "RFC822.SIZE") items.push(`RFC822.SIZE ${mail.text.length}`);
    else if (name === "ENVELOPE") items.push(`ENVELOPE ${envelopeOf(mail)}`);
    else if (name === "BODYSTRUCTURE") items.push(`BODYSTRUCTURE ${structureOf(mail)}`);
    else if (/^BODY(\.PEEK)?$/.test(name) && whole.includes("[")) {
      const all = sectionOf(mail, section);
      const bytes = from === undefined ? all : all.subarray(Number(from), Number(from) + Number(count || all.length));
      items.push(
        Buffer.concat([
          Buffer.from(`BODY[${section}]${from === undefined ? "" : `<${from}>`} `),
          literal(bytes, bytes.length + claim),
        ]),
      );
    }
  }
  const joined = items.flatMap((item, at) => [
    Buffer.from(at === 0 ? "" : " "),
    typeof item === "string" ? Buffer.from(item) : item,
  ]);
  return Buffer.concat([Buffer.from("("), ...joined, Buffer.from(")")]);
}
