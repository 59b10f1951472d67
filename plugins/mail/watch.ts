/** The mailboxes that the configuration asks for: watched from the start on, and followed when it is edited. */
import type { PluginHost } from "service-gateway/sdk";
import { codes, type MailCode } from "./codes.ts";
import { createImapLogin } from "./imap/login.ts";
import { createImapSource } from "./imap/source.ts";
import { type WatchedMailbox, watchMailbox } from "./mailbox.ts";
import { type ImapSettings, imapMailboxesIn } from "./settings.ts";

interface Watched {
  readonly settings: ImapSettings;
  readonly mailbox: WatchedMailbox;
}

export function watchMailboxes(host: PluginHost): void {
  const section = host.preset("imap");
  const watched = new Map<string, Watched>();
  let following = Promise.resolve();

  function begin(account: string, settings: ImapSettings): void {
    const secret = (value: unknown, key: string) => section.secret(value, `accounts.${account}.${key}`);
    const login = createImapLogin(settings, { account, host, secret });
    // The host reads the files that the configuration names, relative to its directory.
    const read = (file: string) => secret({ file }, "tls.caFile");
    const source = createImapSource(account, settings, { login, read });
    watched.set(account, { settings, mailbox: watchMailbox(host, { source: "imap", account }, settings, source) });
  }

  async function follow(): Promise<void> {
    const wanted = imapMailboxesIn(section.settings());
    for (const [account, { settings, mailbox }] of watched) {
      if (JSON.stringify(wanted.get(account)) === JSON.stringify(settings)) continue;
      watched.delete(account);
      await mailbox.close();
    }
    for (const [account, settings] of wanted) if (!watched.has(account)) begin(account, settings);
  }

  const next = (): Promise<void> => {
    following = following
      .then(follow)
      .catch((error: unknown) => host.log.error({ error: String(error) }, "the mailboxes could not be followed"));
    return following;
  };
  host.onReady(next);
  section.onChange(() => void next());
  host.onClose(async () => {
    await following;
    await Promise.all([...watched.values()].map(({ mailbox }) => mailbox.close()));
  });
  host.status(() => [...watched].map(([account, { mailbox }]) => ({ source: "imap", account, ...mailbox.status() })));
  tapRecords(host);
  // Users without a mailbox need not read about them.
  if (section.settings() !== undefined) host.check(checkOf(watched));
}

function checkOf(watched: ReadonlyMap<string, Watched>): Parameters<PluginHost["check"]>[0] {
  return {
    name: "mailboxes",
    async explain() {
      const ill = [...watched].find(([, { mailbox }]) => mailbox.status().state !== "ok");
      if (ill === undefined) return { verdict: "ok", reason: watched.size === 0 ? "No mailbox is watched." : `${watched.size} watched.` };
      const [account, { mailbox }] = ill;
      const { state, reason, fix } = mailbox.status();
      return { verdict: state.startsWith("needs") ? "fail" : "warn", reason: `${account}: ${reason}`, fix };
    },
  };
}

/** A mail that led to no run is an event of this plugin, and holds its reason. */
function tapRecords(host: PluginHost): void {
  host.tap("ingress", ({ source, body }) => {
    if (source !== "mail") return undefined;
    const { code, detail } = body as { readonly code: MailCode; readonly detail: string };
    return { silent: code, detail, hint: codes[code].hint };
  });
}
