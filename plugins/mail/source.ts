/** What a mailbox is to the rest of the plugin, whatever protocol it is read by. */
import type { Json } from "service-gateway/sdk";

/** A place in a mailbox from which reading goes on; only its source can read it. */
export type Cursor = { readonly [key: string]: Json };

/** A mail that is new. */
export interface Found {
  readonly id: string;
  /** Where reading goes on once this mail was handled. */
  readonly next: Cursor;
  /** The server numbers its mails from the beginning again: this one may have been read under another id. */
  readonly renumbered: boolean;
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
  readonly folder: string;
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
  /** Why a part of the mail could not be read. */
  readonly bodyError?: string;
}

export interface Mailbox {
  readonly name?: string;
  readonly address?: string;
}

/** How much of a mail is asked for: less where the whole could not be read. */
export type Depth = "whole" | "envelope" | "nothing";

export interface MailSource {
  /** Where reading begins: what is in the mailbox now is not new. */
  baseline(): Promise<Cursor>;
  /** Oldest first. `lastMail`: when the last one was handled, epoch milliseconds. */
  changesSince(cursor: Cursor, lastMail: number): Promise<readonly Found[]>;
  /** `undefined`: it is gone. */
  fetch(id: string, depth: Depth): Promise<Mail | undefined>;
  /** Called when the server says that something is new, and when the connection ends. */
  doorbell(ring: () => void): void;
  close(): void;
}

/**
 * Of a connection or a server. `login`: the credentials were refused. `setup`: the configuration is wrong. `too_large`: what was asked for
 * is more than may be read at once.
 */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly kind: "outage" | "login" | "setup" | "too_large";
  readonly fix: string;

  constructor(kind: SourceError["kind"], message: string, fix: string) {
    super(message);
    this.kind = kind;
    this.fix = fix;
  }
}
