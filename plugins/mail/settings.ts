/** The mailboxes that `hooks.imap` asks for. The host has checked each value against its schema and filled the defaults in. */
import type { Json } from "service-gateway/sdk";

/** What every mailbox has, whatever it is read by. */
export interface MailboxSettings {
  readonly enabled: boolean;
  readonly pollSeconds: number;
  readonly maxBytes: number;
  readonly maxCatchUp: number;
  readonly maxPerHour: number;
  readonly from?: readonly string[];
  readonly subject?: string;
  readonly requireAuth: boolean;
  /** Servers whose `Authentication-Results` count; none: no sender is ever verified. */
  readonly authservIds: readonly string[];
}

export type TlsSetting = boolean | "starttls" | TlsOptions;

interface TlsOptions {
  readonly mode?: "tls" | "starttls";
  readonly caFile?: string;
  readonly fingerprint256?: string;
}

export interface OAuthSettings {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Secret references, or the texts themselves. */
  readonly clientSecret?: Json;
  readonly refreshToken: Json;
  readonly scope?: string;
}

export interface ImapSettings extends MailboxSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsSetting;
  readonly user: string;
  /** A secret reference, or the text itself; one of the two is set. */
  readonly password?: Json;
  readonly oauth?: OAuthSettings;
  readonly folders: readonly string[];
}

/** Servers whose name in `Authentication-Results` is known. */
const namesOfServers: Readonly<Record<string, readonly string[]>> = { "imap.gmail.com": ["mx.google.com"] };

/** By the id of the account. */
export function imapMailboxesIn(section: Json | undefined): ReadonlyMap<string, ImapSettings> {
  const { accounts = {} } = (section ?? {}) as { readonly accounts?: Readonly<Record<string, unknown>> };
  const all = Object.entries(accounts) as [string, Omit<ImapSettings, "authservIds"> & Partial<ImapSettings>][];
  const watched = all.filter(([, { enabled, host, user }]) => enabled && host !== undefined && user !== undefined);
  return new Map(
    watched.map(([account, settings]) => {
      const authservIds = settings.authservIds ?? namesOfServers[settings.host.toLowerCase()] ?? [];
      return [account, { ...settings, authservIds }];
    }),
  );
}

/** A password sent without encryption stays on this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
