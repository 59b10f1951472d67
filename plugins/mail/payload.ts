/** A mail as its mapping sees it: the fields that mail hooks commonly have, and ours. */
import { createHash } from "node:crypto";
import type { Json } from "service-gateway/sdk";
import { automatedBy } from "./automated.ts";
import type { Verdict } from "./sender.ts";
import type { Mail, Mailbox } from "./source.ts";
import { cut, htmlToText, manyLines, oneLine } from "./text.ts";

const snippetLength = 200;

export async function payloadOf(
  mail: Mail,
  {
    source,
    account,
    verdict,
    maxBytes,
  }: { readonly source: string; readonly account: string; readonly verdict: Verdict; readonly maxBytes: number },
): Promise<Json> {
  const { text, date, messageId, inReplyTo, folder, labels, bodyError } = mail;
  const whole = await wholeTextOf(mail);
  const body = cut(whole, maxBytes);
  const references = (mail.headers.find(({ name }) => name === "references")?.value.match(/<[^<>\s]+>/g) ?? []).slice(0, 50);
  const message: { [field: string]: Json } = {
    id: mail.id,
    session: createHash("sha256").update(mail.id).digest("hex").slice(0, 24),
    threadId: mail.threadId ?? references[0] ?? inReplyTo ?? messageId ?? mail.id,
    from: addresses(mail.from),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    replyTo: addresses(mail.replyTo),
    subject: oneLine(mail.subject),
    snippet: [...oneLine(mail.snippet ?? whole)].slice(0, snippetLength).join(""),
    body: body.text,
    bodyTruncated: body.cut || text?.cut === true,
    ...(folder === undefined ? {} : { folder }),
    ...(labels === undefined ? {} : { labels }),
    references: references.map(oneLine),
    attachments: mail.attachments as unknown as Json,
    auth: { ...verdict },
    automated: automatedBy(mail.headers),
  };
  const optional = { date, messageId, inReplyTo, bodyError };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) message[name] = oneLine(value);
  return { source, account, ...mail.beside, messages: [message] };
}

/** The text that its reader would see. */
export async function wholeTextOf({ text }: Pick<Mail, "text">): Promise<string> {
  return text === undefined ? "" : manyLines(text.kind === "html" ? await htmlToText(text.value) : text.value);
}

function addresses(list: readonly Mailbox[]): string {
  return list
    .slice(0, 50)
    .map(({ name, address = "" }) => (name === undefined || name === "" ? oneLine(address) : `${oneLine(name)} <${oneLine(address)}>`))
    .join(", ");
}
