/** What a mailbox is to the rest of the plugin, whatever protocol it is read by. */
import type { Json } from "service-gateway/sdk";

/** A place in a mailbox from which reading goes on; only its source can read it. */
export type Cursor = { readonly [key: string]: Json };

/** A mail that is new. */
export interface Found {
  readonly id: string;
  /** What changes in the cursor once this mail was handled; absent: the source goes on only when all were. */
  readonly next?: Cursor;
  /** The server numbers its mails from the beginning again: this one may have been read under another id. */
  readonly renumbered: boolean;
}

/** What one look at a mailbox found. */
export interface Changes {
  /** Oldest first. A mail that was handled before may be among them. */
  readonly found: readonly Found[];
  /** The whole cursor once all of them were handled, also when nothing was found. */
  readonly next: Cursor;
  /** How soon the source wants to look again, in milliseconds; absent: after `pollSeconds`. */
  readonly again?: number;
}

/** When the mailbox was read before, in epoch milliseconds; at first, when reading began. */
export interface LastRead {
  /** When a mail was last handled. */
  readonly lastMail: number;
  /** When a look last ended with every mail handled. */
  readonly lastSync: number;
  /** From when on mails are wanted; only until the mailbox was first read to its end, where older mails were asked for. */
  readonly since?: number;
}

/** How the server announces new mail. */
export interface NoticeStatus {
  /** When the server stops to announce mail, epoch milliseconds. */
  readonly expires?: number;
  /** Why no notice arrives; the mailbox is read all the same, only later. */
  readonly fault?: SourceError;
}

export interface Attachment {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** One header field as it was sent, its lines joined. */
export interface Header {
  /** Lower case. */
  readonly name: string;
  readonly value: string;
}

export interface Mail {
  readonly id: string;
  /** Where the mail is, or what it is marked with; a source has one of the two. */
  readonly folder?: string;
  readonly labels?: readonly string[];
  /** The server's own name of the conversation and its own summary, where it has them. */
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
  /** Those that matter, in the order of the mail. */
  readonly headers: readonly Header[];
  readonly text?: { readonly kind: "plain" | "html"; readonly value: string; readonly cut: boolean };
  readonly attachments: readonly Attachment[];
  /** Fields of the payload that only this source has; they appear beside `messages`. */
  readonly beside?: { readonly [field: string]: Json };
  /** Why a part of the mail could not be read. */
  readonly bodyError?: string;
}

export interface Mailbox {
  readonly name?: string;
  readonly address?: string;
}

/** The drafts folder of a mailbox. Nothing here can send. */
export interface DraftFolder {
  /** Address of the owner of the mailbox; absent: it is not known. */
  readonly owner?: string;
  /** Whether a draft with this Message-ID is there. */
  has(messageId: string): Promise<boolean>;
  /**
   * Stores a mail (RFC 5322) as a draft. `begins` runs right before it is given to the server: an error before that, and one of the kind
   * `setup`, means that it is not stored; after another one its fate is unknown.
   */
  store(draft: { readonly text: string; readonly begins: () => Promise<void> }): Promise<void>;
}

/** How much of a mail is asked for: less where the whole could not be read. */
export type Depth = "whole" | "envelope" | "nothing";

export interface MailSource {
  /** Identifies the credentials in use without containing them; it changes when they change. Throws when they cannot be read. */
  login(): string | Promise<string>;
  /** Where reading begins: what is in the mailbox now is not new. */
  baseline(): Promise<Cursor>;
  changesSince(cursor: Cursor, before: LastRead): Promise<Changes>;
  /** `undefined`: it is gone, or it is no longer a mail that is wanted. */
  fetch(id: string, depth: Depth): Promise<Mail | undefined>;
  /** Called when the server says that something is new, and when the connection ends. */
  doorbell(ring: () => void): void;
  /** Absent: no draft can be stored. */
  readonly draft?: DraftFolder;
  /** Absent: the source needs no arrangement with its server to be announced mail. */
  notices?(): NoticeStatus;
  close(): void;
}

/**
 * Of a connection or a server. `login`: the credentials were refused, which may pass. `revoked`: they will never be accepted again. `setup`:
 * the configuration is wrong. `too_large`: what was asked for is more than may be read at once.
 */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly kind: "outage" | "login" | "revoked" | "setup" | "too_large";
  readonly fix: string;
  /** How long the server asks to be left alone, in milliseconds. */
  readonly retryAfterMs: number;

  constructor(kind: SourceError["kind"], message: string, fix: string, { retryAfterMs = 0 }: { readonly retryAfterMs?: number } = {}) {
    super(message);
    this.kind = kind;
    this.fix = fix;
    this.retryAfterMs = retryAfterMs;
  }
}
