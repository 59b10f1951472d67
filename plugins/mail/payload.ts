/** A mail as the payload of its mapping: the fields that mail hooks commonly have, and our own. */
import { createHash } from "node:crypto";
import type { Json } from "service-gateway/sdk";
import { automatedBy } from "./automated.ts";
import { notesOf } from "./parts/notes.ts";
import type { Verdict } from "./sender.ts";
import type { Mail, Mailbox } from "./source.ts";
import { cut, oneLine } from "./text.ts";

const snippetLength = 200;

export function payloadOf(
  mail: Mail,
  {
    source,
    account,
    verdict,
    maxBytes,
  }: { readonly source: string; readonly account: string; readonly verdict: Verdict; readonly maxBytes: number },
): Json {
  const { date, messageId, inReplyTo, folder, labels, bodyError } = mail;
  const whole: NonNullable<Mail["text"]> = mail.text ?? { value: "", cut: false };
  const body = cut(whole.value, maxBytes);
  // A server takes its summary from hidden text, too.
  const snippet = whole.hidden === undefined ? mail.snippet : undefined;
  const shownSnippet = [...oneLine(snippet ?? whole.value.slice(0, snippetLength * 10))]
    .slice(0, snippetLength)
    .join("");
  const references = (mail.headers.find(({ name }) => name === "references")?.value.match(/<[^<>\s]+>/g) ?? []).slice(
    0,
    50,
  );
  const message: { [field: string]: Json } = {
    id: mail.id,
    session: createHash("sha256").update(mail.id).digest("hex").slice(0, 24),
    threadId: mail.threadId ?? references[0] ?? inReplyTo ?? messageId ?? mail.id,
    from: addresses(mail.from),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    replyTo: addresses(mail.replyTo),
    subject: oneLine(mail.subject),
    snippet: shownSnippet,
    snippetInBody: oneLine(body.text).includes(shownSnippet),
    body: body.text,
    bodyTruncated: body.cut || whole.cut,
    ...(folder === undefined ? {} : { folder }),
    ...(labels === undefined ? {} : { labels }),
    references: references.map(oneLine),
    notes: notesOf(mail),
    attachments: mail.attachments as unknown as Json,
    forwarded: (mail.forwarded ?? []) as unknown as Json,
    calendar: (mail.calendar ?? []) as unknown as Json,
    encrypted: mail.seal === "encrypted" || mail.seal === "sealed",
    signed: mail.seal === "signed",
    hiddenText: mail.text?.hidden === undefined ? false : { ...mail.text.hidden },
    auth: { ...verdict },
    automated: automatedBy(mail.headers),
  };
  const optional = { date, messageId, inReplyTo, bodyError };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) message[name] = oneLine(value);
  return { source, account, ...mail.beside, messages: [message] };
}

function addresses(list: readonly Mailbox[]): string {
  return list
    .slice(0, 50)
    .map(({ name, address = "" }) =>
      name === undefined || name === "" ? oneLine(address) : `${oneLine(name)} <${oneLine(address)}>`,
    )
    .join(", ");
}
