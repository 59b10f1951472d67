/** Mail providers that are known by the domain of an address, and what each requires before a program can log in. */

export interface Provider {
  readonly name: string;
  readonly host: string;
  readonly port?: number;
  readonly tls?: "starttls";
  /** What the user has to do, in one or two sentences. */
  readonly wants: string;
  /** True if programs cannot log in with a password. */
  readonly refusesPasswords?: boolean;
}

const gmail: Provider = {
  name: "Gmail",
  host: "imap.gmail.com",
  wants:
    "Google requires an app password: turn on 2-Step Verification, then create one at " +
    "https://myaccount.google.com/apppasswords. Without one, use the setup of gmail.",
};
const outlook: Provider = {
  name: "Outlook",
  host: "outlook.office365.com",
  refusesPasswords: true,
  wants:
    "Microsoft does not accept passwords from programs: basic authentication for IMAP is off. Register an " +
    "application with Microsoft and set oauth of the mailbox by hand, or let a rule in Outlook forward the " +
    "mail to a mailbox of another provider.",
};
const fastmail: Provider = {
  name: "Fastmail",
  host: "imap.fastmail.com",
  wants: "Fastmail requires an app password with access to IMAP: Settings, Privacy & Security, Manage app passwords.",
};
const icloud: Provider = {
  name: "iCloud",
  host: "imap.mail.me.com",
  wants: "Apple requires an app-specific password: https://account.apple.com, Sign-In and Security.",
};
const yahoo: Provider = {
  name: "Yahoo",
  host: "imap.mail.yahoo.com",
  wants: "Yahoo requires an app password: Account Security, Generate app password.",
};
const gmx = (host: string): Provider => ({
  name: "GMX",
  host,
  wants:
    "GMX admits programs only after you have allowed it: Settings, POP3/IMAP. With two-factor " +
    "authentication it requires an application-specific password.",
});
const webDe: Provider = {
  name: "WEB.DE",
  host: "imap.web.de",
  wants:
    "WEB.DE admits programs only after you have allowed it: settings, POP3/IMAP. With two-factor " +
    "authentication it requires an application-specific password.",
};
const proton: Provider = {
  name: "Proton",
  host: "127.0.0.1",
  port: 1143,
  tls: "starttls",
  wants:
    "Proton Mail is read through Proton Mail Bridge on this machine. Use the password that Bridge shows for " +
    "the mailbox.",
};

const byDomain: ReadonlyMap<string, Provider> = new Map(
  (
    [
      [gmail, ["gmail.com", "googlemail.com"]],
      [
        outlook,
        ["outlook.com", "outlook.de", "hotmail.com", "hotmail.de", "hotmail.co.uk", "live.com", "live.de", "msn.com"],
      ],
      [fastmail, ["fastmail.com", "fastmail.fm"]],
      [icloud, ["icloud.com", "me.com", "mac.com"]],
      [
        yahoo,
        ["yahoo.com", "yahoo.de", "yahoo.co.uk", "yahoo.fr", "yahoo.it", "yahoo.es", "ymail.com", "rocketmail.com"],
      ],
      [gmx("imap.gmx.net"), ["gmx.de", "gmx.net", "gmx.at", "gmx.ch"]],
      [gmx("imap.gmx.com"), ["gmx.com"]],
      [webDe, ["web.de"]],
      [proton, ["proton.me", "protonmail.com", "pm.me"]],
    ] as const
  ).flatMap(([provider, domains]) => domains.map((domain) => [domain, provider] as const)),
);

/** By the address; otherwise by the server, for a private domain at a provider. */
export function providerOf(user: string, host?: string): Provider | undefined {
  const known = byDomain.get(user.slice(user.lastIndexOf("@") + 1).toLowerCase());
  if (host === undefined || known?.host === host) return known;
  // The address of the machine itself does not identify a provider.
  return [...byDomain.values()].find((provider) => provider.host === host.toLowerCase() && provider.port === undefined);
}
