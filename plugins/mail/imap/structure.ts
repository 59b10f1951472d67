/** Finds the text part of a mail, and its attachments, in the structure that an IMAP server sends. */
import type { MessageStructureObject } from "imapflow";
import { outlineOf } from "../outline.ts";
import type { Attachment } from "../source.ts";
import { oneLine } from "../text.ts";

export interface Structure {
  readonly text?: { readonly part: string; readonly kind: "plain" | "html" };
  readonly attachments: readonly Attachment[];
}

export function structureOf(root: MessageStructureObject): Structure {
  const { text, attachments } = outlineOf(root, ({ type, disposition, dispositionParameters, parameters, size = 0, childNodes = [] }) => {
    const name = dispositionParameters?.filename ?? parameters?.name;
    return {
      type,
      isAttached: disposition?.toLowerCase() === "attachment" || name !== undefined,
      attachment: { name: oneLine(name ?? ""), type: oneLine(type), size },
      parts: childNodes,
    };
  });
  return { ...(text === undefined ? {} : { text: { part: text.part.part ?? "1", kind: text.kind } }), attachments };
}
