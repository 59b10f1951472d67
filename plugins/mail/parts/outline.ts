/**
 * What a mail contains, whatever the protocol that describes its parts: texts, attachments, enclosed messages, calendar
 * entries.
 */
import type { Attachment, Seal } from "../source.ts";

/** Further parts of a mail are ignored. */
const maxParts = 2_000;
const maxAttachments = 100;
/** Further texts of one message, and further alternatives of a text, are not looked at. */
const maxTexts = 4;
const maxEnclosed = 5;
/** A message in a message in a message is read; what it encloses is named only. */
const maxDepth = 3;
const maxCalendars = 5;

export interface Described<Part> {
  /** Lower case, such as `text/plain`. */
  readonly type: string;
  /** Has a file name, or is declared to be an attachment. */
  readonly isAttached: boolean;
  readonly attachment: Attachment;
  /** Empty for a part that contains no others. */
  readonly parts: readonly Part[];
  /** The parameter `smime-type` of its type, as the mail has it; absent if it has none. */
  readonly smimeType?: string;
  /** Of a part that is a message, what its header says. */
  readonly message?: EnclosedHeader;
}

/** The header of a message that a mail encloses, as its sender wrote it. */
export interface EnclosedHeader {
  readonly from: string;
  readonly subject: string;
  readonly date: string;
}

export interface Text<Part> {
  readonly kind: "plain" | "html";
  readonly part: Part;
}

/** One text of a message: the parts that show it, the best one first. */
export type Alternatives<Part> = readonly Text<Part>[];

export interface Enclosed<Part> extends EnclosedHeader {
  readonly texts: readonly Alternatives<Part>[];
}

export interface Outline<Part> {
  /** In their order, such as the texts before and behind an attachment. The first one is the preferred one. */
  readonly texts: readonly Alternatives<Part>[];
  /** Forwarded messages and the like, in order. */
  readonly enclosed: readonly Enclosed<Part>[];
  readonly calendars: readonly Part[];
  /** Absent unless a part is encrypted or contains the mail that it signs. */
  readonly seal?: Seal;
  readonly attachments: readonly Attachment[];
}

/**
 * A branch of a `multipart/alternative`, whose other branches show the same content. `above`: the branch that contains
 * it.
 */
interface Branch {
  readonly of: object;
  readonly at: number;
  readonly above: Branch | undefined;
}

/** The mail, or a message in it. */
interface Message<Part> {
  readonly depth: number;
  readonly header: EnclosedHeader;
  readonly choice: Choice<Part>;
}

interface Place<Part> {
  readonly part: Part;
  readonly branch: Branch | undefined;
  /** Absent for what is not read, such as the message that a delivery report returns. */
  readonly message: Message<Part> | undefined;
  readonly isReport: boolean;
}

const noHeader: EnclosedHeader = { from: "", subject: "", date: "" };

export function outlineOf<Part>(root: Part, describe: (part: Part) => Described<Part>): Outline<Part> {
  const own: Message<Part> = { depth: 0, header: noHeader, choice: createChoice<Part>() };
  const enclosed: Message<Part>[] = [];
  const attachments: Attachment[] = [];
  const calendars: Part[] = [];
  let seal: Seal | undefined;
  const attach = (one: Attachment) => {
    if (attachments.length < maxAttachments) attachments.push(one);
  };
  /** The message that a part is, if it is to be read. */
  const opened = (around: Message<Part> | undefined, header: EnclosedHeader = noHeader): Message<Part> | undefined => {
    if (around === undefined || around.depth === maxDepth || enclosed.length === maxEnclosed) return undefined;
    const message = { depth: around.depth + 1, header, choice: createChoice<Part>() };
    enclosed.push(message);
    return message;
  };
  // Uses its own stack, because a mail may be nested deeper than the call stack allows.
  const left: Place<Part>[] = [{ part: root, branch: undefined, message: own, isReport: false }];
  for (let seen = 0; seen < maxParts; seen += 1) {
    const place = left.pop();
    if (place === undefined) break;
    const { part, branch, message } = place;
    const { type, isAttached, attachment, parts, smimeType, message: header } = describe(part);
    seal ??= sealOf(type, smimeType);
    const isMessage = type === "message/rfc822" || type === "message/global";
    if (parts.length > 0) {
      if (isMessage && isAttached) attach(attachment);
      const within = isMessage ? (place.isReport ? undefined : opened(message, header)) : message;
      const isReport = type === "multipart/report" || (place.isReport && !isMessage);
      const below = parts.slice(0, maxParts).map((one, at) => ({
        ...{ part: one, message: within, isReport },
        branch: type === "multipart/alternative" ? { of: place, at, above: branch } : branch,
      }));
      for (const one of below.reverse()) left.push(one);
      continue;
    }
    const isCalendar = type === "text/calendar" || type === "application/ics";
    if (isCalendar && calendars.length < maxCalendars) calendars.push(part);
    if (!isAttached && /^text\/(?:plain|html|markdown)$/.test(type))
      message?.choice.offer({ kind: type === "text/html" ? "html" : "plain", part }, branch);
    else if (isAttached || !(isCalendar || type.startsWith("multipart/"))) attach(attachment);
  }
  return {
    texts: own.choice.texts(),
    enclosed: enclosed.map(({ header, choice }) => ({ ...header, texts: choice.texts() })),
    ...{ calendars, attachments },
    ...(seal !== undefined && { seal }),
  };
}

function sealOf(type: string, smimeType = ""): Seal | undefined {
  if (type === "multipart/encrypted") return "encrypted";
  if (!/^application\/(?:x-)?pkcs7-mime$/.test(type)) return undefined;
  const kind = smimeType.toLowerCase();
  if (kind === "signed-data") return "signed";
  // It contains certificates and no text.
  if (kind === "certs-only") return undefined;
  return /^(?:auth)?enveloped-data$/.test(kind) ? "encrypted" : "sealed";
}

interface Choice<Part> {
  offer(text: Text<Part>, branch: Branch | undefined): void;
  texts(): readonly Alternatives<Part>[];
}

/**
 * Prefers the first text. Only an alternative to it in plain text replaces HTML: another plain part may be the footer
 * of a mailing list. Every other part is a separate text.
 */
function createChoice<Part>(): Choice<Part> {
  const offered: { readonly text: Text<Part>; readonly branch: Branch | undefined }[] = [];
  let chosen: (typeof offered)[number] | undefined;
  return {
    offer(text, branch) {
      const one = { text, branch };
      if (offered.length < maxParts) offered.push(one);
      const isBetter = chosen?.text.kind === "html" && text.kind === "plain" && isAlternative(chosen.branch, branch);
      if (chosen === undefined || isBetter) chosen = one;
    },
    texts() {
      const groups: (typeof offered)[] = chosen === undefined ? [] : [[chosen]];
      for (const one of offered) {
        if (one === chosen) continue;
        const group = groups.find(([first]) => isAlternative(first?.branch, one.branch));
        if (group === undefined) groups.push([one]);
        else if (one.text.kind === "plain" && group !== groups[0]) group.unshift(one);
        else group.push(one);
      }
      return groups.slice(0, maxTexts).map((group) => group.slice(0, maxTexts).map(({ text }) => text));
    },
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
