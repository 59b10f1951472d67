/** Selects the text of a mail among its parts, and lists its attachments, whatever the protocol that describes the parts. */
import type { Attachment } from "./source.ts";

/** Further parts of a mail are ignored. */
const maxParts = 2_000;
const maxAttachments = 100;

export interface Described<Part> {
  /** Lower case, such as `text/plain`. */
  readonly type: string;
  /** Has a file name, or is declared to be an attachment. */
  readonly isAttached: boolean;
  readonly attachment: Attachment;
  /** Empty for a part that contains no others. */
  readonly parts: readonly Part[];
}

export interface Text<Part> {
  readonly kind: "plain" | "html";
  readonly part: Part;
}

export interface Outline<Part> {
  readonly text?: Text<Part>;
  readonly attachments: readonly Attachment[];
}

/** A branch of a `multipart/alternative`, whose other branches show the same content. `above`: the branch that contains it. */
interface Branch {
  readonly of: object;
  readonly at: number;
  readonly above: Branch | undefined;
}

interface Place<Part> {
  readonly part: Part;
  readonly branch: Branch | undefined;
  /** It belongs to a message that the mail encloses, such as a forwarded one. */
  readonly isEnclosed: boolean;
}

/** The text is the first one of the mail. Texts of an enclosed message are used only if the mail has none of its own. */
export function outlineOf<Part>(root: Part, describe: (part: Part) => Described<Part>): Outline<Part> {
  const own = createChoice<Part>();
  const enclosed = createChoice<Part>();
  const attachments: Attachment[] = [];
  const attach = (one: Attachment) => {
    if (attachments.length < maxAttachments) attachments.push(one);
  };
  // Uses its own stack, because a mail may be nested deeper than the call stack allows.
  const left: Place<Part>[] = [{ part: root, branch: undefined, isEnclosed: false }];
  for (let seen = 0; seen < maxParts; seen += 1) {
    const place = left.pop();
    if (place === undefined) break;
    const { part, branch, isEnclosed } = place;
    const { type, isAttached, attachment, parts } = describe(part);
    if (parts.length > 0) {
      const isMessage = type === "message/rfc822";
      if (isMessage && isAttached) attach(attachment);
      const below = parts.slice(0, maxParts).map((one, at) => ({
        part: one,
        branch: type === "multipart/alternative" ? { of: place, at, above: branch } : branch,
        isEnclosed: isEnclosed || isMessage,
      }));
      for (const one of below.reverse()) left.push(one);
    } else if (!isAttached && (type === "text/plain" || type === "text/html")) {
      (isEnclosed ? enclosed : own).offer({ kind: type === "text/plain" ? "plain" : "html", part }, branch);
    } else if (!type.startsWith("multipart/")) attach(attachment);
  }
  const text = own.text() ?? enclosed.text();
  return { ...(text === undefined ? {} : { text }), attachments };
}

/** Keeps the first text. Only an alternative to it in plain text replaces HTML: another plain part may be the footer of a mailing list. */
function createChoice<Part>() {
  let chosen: { readonly text: Text<Part>; readonly branch: Branch | undefined } | undefined;
  return {
    offer(text: Text<Part>, branch: Branch | undefined): void {
      const isBetter = chosen?.text.kind === "html" && text.kind === "plain" && isAlternative(chosen.branch, branch);
      if (chosen === undefined || isBetter) chosen = { text, branch };
    },
    text: () => chosen?.text,
  };
}

function isAlternative(one: Branch | undefined, other: Branch | undefined): boolean {
  const branches = new Map<object, number>();
  for (let branch = one; branch !== undefined; branch = branch.above) branches.set(branch.of, branch.at);
  for (let branch = other; branch !== undefined; branch = branch.above) {
    const at = branches.get(branch.of);
    // The innermost common one decides; those around it contain both in one branch.
    if (at !== undefined) return at !== branch.at;
  }
  return false;
}
