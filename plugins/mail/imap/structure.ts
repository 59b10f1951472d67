/** Finds the text part of a mail, and its attachments. */
import type { MessageStructureObject } from "imapflow";
import type { Attachment } from "../source.ts";
import { oneLine } from "../text.ts";

/** Further parts of a mail are ignored. */
const maxParts = 2_000;
const maxAttachments = 100;

export interface Outline {
  readonly text?: { readonly part: string; readonly kind: "plain" | "html" };
  readonly attachments: readonly Attachment[];
}

export function outlineOf(root: MessageStructureObject): Outline {
  let plain: string | undefined;
  let html: string | undefined;
  const attachments: Attachment[] = [];
  // Uses its own stack, because a mail may be nested deeper than the call stack allows.
  const left: MessageStructureObject[] = [root];
  for (let seen = 0; seen < maxParts; seen += 1) {
    const node = left.pop();
    if (node === undefined) break;
    const { part = "1", type, disposition, dispositionParameters, parameters, size = 0, childNodes } = node;
    if (childNodes !== undefined && childNodes.length > 0) {
      for (const child of childNodes.slice(0, maxParts).reverse()) left.push(child);
      continue;
    }
    const name = dispositionParameters?.filename ?? parameters?.name;
    const attached = disposition?.toLowerCase() === "attachment" || name !== undefined;
    if (!attached && type === "text/plain") plain ??= part;
    else if (!attached && type === "text/html") html ??= part;
    else if (attachments.length < maxAttachments) attachments.push({ name: oneLine(name ?? ""), type: oneLine(type), size });
  }
  if (plain !== undefined) return { text: { part: plain, kind: "plain" }, attachments };
  return html === undefined ? { attachments } : { text: { part: html, kind: "html" }, attachments };
}
