/** The interface of a mailbox, whatever its protocol. */
import type { Json } from "service-gateway/sdk";
import type { HiddenText } from "./html/visible-html.ts";
import type { CalendarEntry } from "./parts/calendar.ts";

/** A place in a mailbox from which reading continues; only its source can interpret it. */
export type Cursor = { readonly [key: string]: Json };

/** A new mail. */
export interface Found {
  readonly id: string;
  /** What changes in the cursor once this mail was handled; if absent, the source advances only when all were. */
  readonly next?: Cursor;
  /** The server has renumbered its mails, so this one may have been read under another id. */
  readonly renumbered: boolean;
}

/** The result of one look at a mailbox. */
export interface Changes {
  /** Oldest first. May include mails that were handled before. */
  readonly found: readonly Found[];
  /** The whole cursor once all mails were handled, even if none was found. */
  readonly next: Cursor;
  /**
   * Where reading begins in a part of the mailbox that was not read before. Takes effect at once, whatever becomes of
   * the mails.
   */
  readonly begun?: Cursor;
  /** Why a part of the mailbox cannot be read. */
  readonly fault?: SourceError;
  /** How soon the source wants to look again, in milliseconds; if absent, after `pollSeconds`. */
  readonly again?: number;
}

/** When the mailbox was read before, in epoch milliseconds; initially, when reading began. */
export interface LastRead {
  /** When a mail was last handled. */
  readonly lastMail: number;
  /** When a look last ended with every mail handled. */
  readonly lastSync: number;
  /** Since when mails are wanted. Only until the mailbox was first read to its end, if older mails were requested. */
  readonly since?: number;
}

/** How the server announces new mail. */
export interface NoticeStatus {
  /** When the server stops announcing mail, in epoch milliseconds. */
  readonly expires?: number;
  /** Why no notification arrives; the mailbox is still read, only later. */
  readonly fault?: SourceError;
}

export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** One header field as sent, with its lines joined. */
export interface Header {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
}

/**
 * Why the text of a mail is out of reach: it is encrypted, or it is inside the signature of the whole mail. `sealed`:
 * one of both, and the mail does not say which.
 */
export type Seal = "encrypted" | "signed" | "sealed";

export interface Mail {
  readonly id: string;
  /** The mail's folder or its labels; a source has one of the two. */
  readonly folder?: string;
  readonly labels?: readonly string[];
  /** The server's own id of the conversation and its own summary, if it has them. */
  readonly threadId?: string;
  readonly snippet?: string;
  readonly from: readonly Mailbox[];
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly replyTo: readonly Mailbox[];
  readonly subject: string;
  /** ISO 8601. */
  readonly date?: string;
  readonly messageId?: string;
  readonly inReplyTo?: string;
  /** The relevant fields, in the order of the mail. */
  readonly headers: readonly Header[];
  /** What a reader of the mail sees. `hidden`: what its HTML hides from readers, and what was left out therefore. */
  readonly text?: { readonly value: string; readonly cut: boolean; readonly hidden?: HiddenText };
  readonly attachments: readonly Attachment[];
  /** The messages that it encloses, such as a forwarded one. */
  readonly forwarded?: readonly ForwardedMessage[];
  readonly calendar?: readonly CalendarEntry[];
  readonly seal?: Seal;
  /** Fields of the payload that only this source has; they appear beside `messages`. */
  readonly beside?: { readonly [field: string]: Json };
  /** Why a part of the mail could not be read. */
  readonly bodyError?: string;
}

/** A message that a mail encloses, with what its header says. Its sender is not verified. */
export interface ForwardedMessage {
  readonly from: string;
  readonly subject: string;
  readonly date: string;
  readonly body: string;
  readonly bodyTruncated: boolean;
}

export interface Mailbox {
  readonly name?: string;
  readonly address?: string;
}

/** The drafts folder of a mailbox. Nothing here can send. */
export interface DraftFolder {
  /** Address of the mailbox's owner; absent if unknown. */
  readonly owner?: string;
  /** Whether a draft with this Message-ID exists. */
  has(messageId: string): Promise<boolean>;
  /**
   * Stores a mail (RFC 5322) as a draft. `begins` runs right before it is sent to the server. An error before that, and
   * one of the kind `setup`, means that it is not stored; after any other error its outcome is unknown.
   */
  store(draft: { readonly text: string; readonly begins: () => Promise<void> }): Promise<void>;
}

/** How much of a mail is requested: less if the whole could not be read. */
export type Depth = "whole" | "envelope" | "nothing";

export interface MailSource {
  /**
   * Identifies the credentials in use without containing them; it changes when they change. Throws when they cannot be
   * read.
   */
  login(): Promise<string>;
  /** Where reading begins: mails that are in the mailbox now are not new. */
  baseline(): Promise<Cursor>;
  changesSince(cursor: Cursor, before: LastRead): Promise<Changes>;
  /** The newest of these mails, at most `count`, in the same order. If absent, the last ones are the newest. */
  newest?(found: readonly Found[], count: number): Promise<readonly Found[]>;
  /** `undefined` if it is gone, or no longer wanted. */
  fetch(id: string, depth: Depth): Promise<Mail | undefined>;
  /** `ring` is called when the server announces something new, and when the connection ends. */
  doorbell(ring: () => void): void;
  /** Absent if no draft can be stored. */
  readonly draft?: DraftFolder;
  /** Absent if the server announces new mail without a prior request. */
  notices?(): NoticeStatus;
  close(): void;
}

/**
 * An error of a connection or a server. `login`: the credentials were refused, which may be temporary. `revoked`: they
 * will never be accepted again. `setup`: the configuration is wrong. `too_large`: the answer exceeds what may be read
 * at once.
 */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly kind: "outage" | "login" | "revoked" | "setup" | "too_large";
  readonly fix: string;
  /** How long the server asks the client to wait, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(
    kind: SourceError["kind"],
    message: string,
    fix: string,
    { retryAfterMs = 0 }: { readonly retryAfterMs?: number } = {},
  ) {
    super(message);
    this.kind = kind;
    this.fix = fix;
    this.retryAfterMs = retryAfterMs;
  }
}
