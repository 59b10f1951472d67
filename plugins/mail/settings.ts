/**
 * The mailboxes that `hooks.imap` and `hooks.gmail` configure. The host has checked each value against its schema and
 * added the defaults.
 */
import type { Json } from "service-gateway/sdk";

/** Settings that every mailbox has, whatever its protocol. */
export interface MailboxSettings {
  readonly enabled: boolean;
  readonly pollSeconds: number;
  readonly maxBytes: number;
  readonly maxCatchUp: number;
  readonly maxPerHour: number;
  readonly from?: readonly string[];
  readonly subject?: string;
  readonly requireAuth: boolean;
  /** `draft`: the agent's reply becomes a draft in the mailbox. */
  readonly reply?: "draft";
  /** Servers whose `Authentication-Results` are trusted. Without any, no sender is ever verified. */
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

export interface GmailSettings extends MailboxSettings {
  /** Mail address of the mailbox. */
  readonly account?: string;
  /** Secret references, or the texts themselves. */
  readonly credentials?: Json;
  readonly refreshToken?: Json;
  readonly serviceAccount?: Json;
  readonly mode: "poll" | "pull" | "push";
  readonly label: string;
  readonly includeOwn: boolean;
  readonly project?: string;
  readonly topic?: string;
  readonly subscription?: string;
  /** The required claims of a posted notification's token. */
  readonly push?: { readonly audience: string; readonly serviceAccount: string };
  readonly roots: { readonly gmail: string; readonly pubsub: string };
  /** Notifications come from an emulator, which has no tokens. */
  readonly emulator: boolean;
  /** URL of Google's public keys. */
  readonly certificates: string;
}

/** Mail servers whose name in `Authentication-Results` is known. */
const namesOfServers: Readonly<Record<string, readonly string[]>> = { "imap.gmail.com": ["mx.google.com"] };

/** By account id. */
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

type GmailSection = Omit<GmailSettings, "pollSeconds" | "authservIds" | "roots" | "emulator" | "certificates"> & {
  readonly pollSeconds?: number;
  readonly authservIds?: readonly string[];
  readonly apiRoot?: string;
  readonly pubsubRoot?: string;
};

/**
 * By account id, with the path of its settings below `hooks.gmail`. A mailbox configured in the section itself uses its
 * address as id. A mailbox without credentials is not watched, because another program submits its mail.
 */
export function gmailMailboxesIn(
  section: Json | undefined,
): ReadonlyMap<string, { readonly at: string; readonly settings: GmailSettings }> {
  if (section === undefined) return new Map();
  const { accounts = {}, ...root } = section as unknown as GmailSection & {
    readonly accounts?: Readonly<Record<string, GmailSection>>;
  };
  // Where the API is does not depend on the mailbox, so the section's own roots apply to all of its accounts.
  const { apiRoot, pubsubRoot } = root;
  const roots = { apiRoot, pubsubRoot };
  const all = [
    [root.account ?? "default", { at: "", section: root }] as const,
    ...Object.entries(accounts).map(
      ([id, one]) => [id, { at: `accounts.${id}.`, section: { ...roots, ...one } }] as const,
    ),
  ];
  const hasCredentials = ({ credentials, serviceAccount }: GmailSection) =>
    credentials !== undefined || serviceAccount !== undefined;
  const watched = all.filter(([, { section: one }]) => one.enabled && hasCredentials(one));
  return new Map(watched.map(([id, { at, section: one }]) => [id, { at, settings: gmailSettings(one) }]));
}

function gmailSettings({ apiRoot, pubsubRoot, ...section }: GmailSection): GmailSettings {
  const emulator = process.env.PUBSUB_EMULATOR_HOST;
  return {
    ...section,
    // Notifications say when to look; the poll only covers lost notifications.
    pollSeconds: section.pollSeconds ?? (section.mode === "poll" ? 30 : 300),
    authservIds: section.authservIds ?? ["mx.google.com"],
    roots: {
      gmail: apiRoot ?? "https://gmail.googleapis.com",
      pubsub: pubsubRoot ?? (emulator === undefined ? "https://pubsub.googleapis.com" : `http://${emulator}`),
    },
    emulator: pubsubRoot === undefined && emulator !== undefined,
    certificates: apiRoot === undefined ? "https://www.googleapis.com/oauth2/v3/certs" : `${apiRoot}/oauth2/v3/certs`,
  };
}

/** A password sent without encryption must stay on this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
