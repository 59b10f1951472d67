/** The mailboxes that `hooks.imap` asks for. The host has checked each value against its schema and filled the defaults in. */
import type { Json } from "service-gateway/sdk";

export interface MailboxSettings {
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean | "starttls";
  readonly user: string;
  /** A secret reference, or the text itself. */
  readonly password: Json;
  readonly folders: readonly string[];
  readonly pollSeconds: number;
  readonly maxBytes: number;
  readonly maxCatchUp: number;
  readonly maxPerHour: number;
  readonly from?: readonly string[];
  readonly subject?: string;
  readonly requireAuth: boolean;
  readonly authservIds?: readonly string[];
}

/** By the id of the account. */
export function mailboxesIn(section: Json | undefined): ReadonlyMap<string, MailboxSettings> {
  const { accounts = {} } = (section ?? {}) as { readonly accounts?: Readonly<Record<string, unknown>> };
  const all = Object.entries(accounts) as [string, MailboxSettings][];
  return new Map(all.filter(([, { enabled, host, user }]) => enabled && host !== undefined && user !== undefined));
}

/** Servers whose name in `Authentication-Results` is known. */
const namesOfServers: Readonly<Record<string, readonly string[]>> = { "imap.gmail.com": ["mx.google.com"] };

/** Whose `Authentication-Results` count; none: no sender is ever verified. */
export function authservIdsOf({ authservIds, host }: MailboxSettings): readonly string[] {
  return authservIds ?? namesOfServers[host.toLowerCase()] ?? [];
}

/** A password sent without encryption stays on this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
