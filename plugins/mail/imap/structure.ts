/** Describes the parts of a mail as an IMAP server lists them. */
import type { MessageStructureObject } from "imapflow";
import { type EnclosedHeader, type Outline, outlineOf } from "../parts/outline.ts";
import { oneLine } from "../text.ts";

export function structureOf(root: MessageStructureObject): Outline<MessageStructureObject> {
  return outlineOf(root, (part) => {
    const { type, disposition, dispositionParameters, parameters, size = 0, childNodes = [], envelope } = part;
    const name = dispositionParameters?.filename ?? parameters?.name;
    return {
      type,
      isAttached: disposition?.toLowerCase() === "attachment" || name !== undefined,
      attachment: { name: oneLine(name ?? ""), type: oneLine(type), size: decodedSize(part, size) },
      parts: childNodes,
      ...(parameters?.["smime-type"] !== undefined && { smimeType: parameters["smime-type"] }),
      ...(envelope !== undefined && { message: headerOf(envelope) }),
    };
  });
}

/** The server counts bytes as sent: in base64, four for three. */
const decodedSize = ({ encoding }: MessageStructureObject, size: number): number =>
  encoding?.toLowerCase() === "base64" ? Math.round((size * 3) / 4) : size;

function headerOf({ from = [], subject = "", date }: NonNullable<MessageStructureObject["envelope"]>): EnclosedHeader {
  const senders = from
    .slice(0, 5)
    .map(({ name = "", address = "" }) => (name === "" ? address : `${name} <${address}>`));
  const sent = new Date(date ?? Number.NaN);
  return { from: senders.join(", "), subject, date: Number.isNaN(sent.getTime()) ? "" : sent.toISOString() };
}
