/** The configured mailboxes: watched from the start, and updated when the configuration is edited. */
import type { PluginHost } from "service-gateway/sdk";
import { codes, type MailCode } from "./codes.ts";
import type { GmailSource } from "./gmail/source.ts";
import { createImapLogin } from "./imap/login.ts";
import { createImapSource } from "./imap/source.ts";
import { createLease } from "./lease.ts";
import { type WatchedMailbox, watchMailbox } from "./mailbox.ts";
import { gmailMailboxesIn, imapMailboxesIn, type MailboxSettings } from "./settings.ts";
import type { MailSource } from "./source.ts";
import { watchAlone } from "./watch-alone.ts";

interface Watched {
  readonly source: "imap" | "gmail";
  readonly account: string;
  readonly mailbox: WatchedMailbox;
  /** Absent if no notification is ever posted for it. */
  push?(): GmailSource["push"];
}

interface Wanted {
  /** A mailbox with other settings is another mailbox. */
  readonly settings: string;
  begin(): Promise<Watched>;
}

export function watchMailboxes(host: PluginHost): void {
  const imap = host.preset("imap");
  const gmail = host.preset("gmail");
  /** By source and account. */
  const watched = new Map<string, Watched & Pick<Wanted, "settings">>();
  let following = Promise.resolve();

  function watch(
    source: Watched["source"],
    account: string,
    settings: MailboxSettings,
    open: () => MailSource,
  ): WatchedMailbox {
    const mailbox = { source, account };
    const lease = createLease(host, mailbox, "gateway");
    return watchAlone(host, mailbox, { lease, watch: () => watchMailbox(host, mailbox, settings, open()) });
  }

  function wantedNow(): ReadonlyMap<string, Wanted> {
    const wanted = new Map<string, Wanted>();
    for (const [account, settings] of imapMailboxesIn(imap.settings())) {
      const begin = async (): Promise<Watched> => {
        const secret = (value: unknown, key: string) => imap.secret(value, `accounts.${account}.${key}`);
        const login = createImapLogin(settings, { account, host, secret });
        // The host reads the files that the configuration names, relative to its directory.
        const read = (file: string) => secret({ file }, "tls.caFile");
        const open = () => createImapSource(account, settings, { login, read });
        return { source: "imap", account, mailbox: watch("imap", account, settings, open) };
      };
      wanted.set(`imap:${account}`, { settings: JSON.stringify(settings), begin });
    }
    for (const [account, { at, settings }] of gmailMailboxesIn(gmail.settings())) {
      const begin = async (): Promise<Watched> => {
        // Users without such a mailbox need none of this code.
        const { createGmailSource } = await import("./gmail/source.ts");
        let push: GmailSource["push"];
        const open = () => {
          const source = createGmailSource(account, settings, { host, secret: gmail.secret, at });
          push = source.push;
          return source;
        };
        const mailbox = watch("gmail", account, settings, open);
        return { source: "gmail", account, mailbox, ...(settings.mode === "push" && { push: () => push }) };
      };
      wanted.set(`gmail:${account}`, { settings: JSON.stringify(settings), begin });
    }
    return wanted;
  }

  async function follow(): Promise<void> {
    const wanted = wantedNow();
    for (const [id, { settings, mailbox }] of watched) {
      if (wanted.get(id)?.settings === settings) continue;
      watched.delete(id);
      await mailbox.close();
    }
    for (const [id, { settings, begin }] of wanted)
      if (!watched.has(id)) watched.set(id, { settings, ...(await begin()) });
  }

  const next = (): Promise<void> => {
    following = following
      .then(follow)
      .catch((error: unknown) => host.log.error({ error: String(error) }, "the mailboxes could not be updated"));
    return following;
  };
  host.onReady(next);
  imap.onChange(() => void next());
  host.onClose(async () => {
    await following;
    await Promise.all([...watched.values()].map(({ mailbox }) => mailbox.close()));
  });
  host.status(() =>
    [...watched.values()].map(({ source, account, mailbox }) => {
      const status = mailbox.status();
      const { lastMail: at } = status;
      return { source, account, ...status, ...(at !== undefined && { last: { what: "mail", at } }) };
    }),
  );
  tapRecords(host);
  host.tap("settled", ({ source, eventId }) => {
    if (source === "hooks") for (const { mailbox } of watched.values()) mailbox.settled(eventId);
  });
  host.route({
    method: "POST",
    path: "gmail/:account",
    access: "public",
    maxBodyBytes: 65_536,
    async handler({ params, headers, body }) {
      const found = watched.get(`gmail:${params.account}`);
      if (found?.push === undefined) return { status: 404 };
      const push = isReading(found.mailbox) ? found.push() : undefined;
      // Google posts it again, and with several gateways perhaps to the one that reads the mailbox.
      return { status: push === undefined ? 503 : await push.receive(headers.authorization, body) };
    },
  });
  // Users without a mailbox need no check for one.
  if (imap.settings() !== undefined || gmailMailboxesIn(gmail.settings()).size > 0) host.check(checkOf(watched));
}

/** Otherwise another process does. */
const isReading = (mailbox: WatchedMailbox) => !["standby", "paused"].includes(mailbox.status().state);

function checkOf(watched: ReadonlyMap<string, Watched>): Parameters<PluginHost["check"]>[0] {
  return {
    name: "mailboxes",
    async explain() {
      const ill = [...watched.values()].find(({ mailbox }) => !["ok", "standby"].includes(mailbox.status().state));
      if (ill === undefined)
        return { verdict: "ok", reason: watched.size === 0 ? "No mailbox is watched." : `${watched.size} watched.` };
      const { state, reason, fix } = ill.mailbox.status();
      return { verdict: state.startsWith("needs") ? "fail" : "warn", reason: `${ill.account}: ${reason}`, fix };
    },
  };
}

/** A mail that caused no run is an event of this plugin, which contains the reason. */
function tapRecords(host: PluginHost): void {
  host.tap("ingress", ({ source, body }) => {
    if (source !== "mail") return undefined;
    const { code, detail } = body as { readonly code: MailCode; readonly detail: string };
    return { silent: code, detail, hint: codes[code].hint };
  });
}
