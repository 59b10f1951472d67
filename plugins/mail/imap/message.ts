/** One mail over IMAP: its envelope, the relevant header fields, and its text. Attachments are not fetched. */
import type { FetchMessageObject, ImapFlow, MessageAddressObject, MessageStructureObject } from "imapflow";
import { readContents } from "../parts/contents.ts";
import type { Depth, Header, Mail, Mailbox } from "../source.ts";
import { structureOf } from "./structure.ts";

const headerNames = [
  ...["from", "authentication-results", "auto-submitted", "list-id", "list-unsubscribe", "precedence"],
  ...["x-auto-response-suppress", "return-path", "content-type", "references"],
];

/** A trusted server writes its fields at the top of the header, so the rest is ignored. */
const maxHeaderBytes = 131_072;

interface Asked {
  readonly id: string;
  readonly folder: string;
  readonly uid: number;
  readonly depth: Depth;
  readonly maxBytes: number;
}

/** `undefined` if it is gone. */
export async function readMail(client: ImapFlow, asked: Asked): Promise<Mail | undefined> {
  const { id, folder, uid, depth, maxBytes } = asked;
  const nothing: Mail = {
    id,
    folder,
    from: [],
    to: [],
    cc: [],
    replyTo: [],
    subject: "",
    headers: [],
    attachments: [],
  };
  if (depth === "nothing") return { ...nothing, bodyError: "the mail could not be read" };
  const query = {
    uid: true,
    envelope: true,
    internalDate: true,
    ...(depth === "whole" ? { bodyStructure: true, headers: headerNames } : {}),
  };
  const fetched = await client.fetchOne(String(uid), query, { uid: true });
  if (fetched === false) return undefined;
  const mail = { ...nothing, ...envelopeOf(fetched) };
  if (depth === "envelope") return { ...mail, bodyError: "the parts of the mail could not be read" };
  const headers = readHeaders(fetched.headers?.subarray(0, maxHeaderBytes).toString("latin1") ?? "");
  if (fetched.bodyStructure === undefined) return { ...mail, headers };
  const read = (part: MessageStructureObject, most: number) => download(client, { uid, part: part.part ?? "1", most });
  return { ...mail, headers, ...(await readContents(structureOf(fetched.bodyStructure), { maxBytes, read })) };
}

/** The server sends a part without its encoding; the library decodes its characters. */
async function download(
  client: ImapFlow,
  { uid, part, most }: { readonly uid: number; readonly part: string; readonly most: number },
) {
  const downloaded = await client.download(String(uid), part, { uid: true, maxBytes: most });
  if (!("content" in downloaded) || downloaded.content === undefined) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of downloaded.content as AsyncIterable<Buffer>) {
    if (size < most) pieces.push(piece);
    size += piece.length;
  }
  return { value: Buffer.concat(pieces).toString("utf8"), cut: size >= most };
}

function envelopeOf({
  envelope,
  internalDate,
}: FetchMessageObject): Pick<Mail, "subject" | "from" | "to" | "cc" | "replyTo" | "date" | "messageId" | "inReplyTo"> {
  const { subject = "", date, messageId, inReplyTo } = envelope ?? {};
  const sent = new Date(internalDate ?? date ?? Number.NaN);
  return {
    subject,
    from: mailboxes(envelope?.from),
    to: mailboxes(envelope?.to),
    cc: mailboxes(envelope?.cc),
    replyTo: mailboxes(envelope?.replyTo),
    ...(Number.isNaN(sent.getTime()) ? {} : { date: sent.toISOString() }),
    ...(messageId === undefined || messageId === "" ? {} : { messageId }),
    ...(inReplyTo === undefined || inReplyTo === "" ? {} : { inReplyTo }),
  };
}

function mailboxes(list: readonly MessageAddressObject[] = []): readonly Mailbox[] {
  return list.map(({ name, address }) => ({ ...(name ? { name } : {}), ...(address ? { address } : {}) }));
}

/** RFC 5322, 2.2.3: a line that begins with a space continues the field before it. */
function readHeaders(text: string): readonly Header[] {
  const lines = text.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return lines.flatMap((line) => {
    const colon = line.indexOf(":");
    return colon < 1 ? [] : [{ name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1).trim() }];
  });
}
