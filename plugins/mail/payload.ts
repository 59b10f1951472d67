/** A mail as the payload of its mapping: the fields that mail hooks commonly have, and our own. */
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
  const { date, messageId, inReplyTo, folder, labels, bodyError } = mail;
  const whole = await wholeTextOf(mail);
  const body = cut(whole.text, maxBytes);
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
    snippet: [...oneLine(mail.snippet ?? whole.text.slice(0, snippetLength * 10))].slice(0, snippetLength).join(""),
    body: body.text,
    bodyTruncated: body.cut || whole.cut,
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

/** The text that a reader of the mail would see. */
export async function wholeTextOf({ text }: Pick<Mail, "text">): Promise<{ readonly text: string; readonly cut: boolean }> {
  if (text === undefined) return { text: "", cut: false };
  const shown = text.kind === "html" ? await htmlToText(text.value) : { text: text.value, cut: false };
  return { text: manyLines(shown.text), cut: shown.cut || text.cut };
}

function addresses(list: readonly Mailbox[]): string {
  return list
    .slice(0, 50)
    .map(({ name, address = "" }) => (name === undefined || name === "" ? oneLine(address) : `${oneLine(name)} <${oneLine(address)}>`))
    .join(", ");
}
