/** Submits one mail to its mapping, or records why it caused no run. */
import type { PluginHost } from "service-gateway/sdk";
import { automatedBy } from "./automated.ts";
import type { MailCode } from "./codes.ts";
import { payloadOf } from "./payload.ts";
import { describeMail, judgeSender, type Verdict } from "./sender.ts";
import type { MailboxSettings } from "./settings.ts";
import type { Mail } from "./source.ts";

type Accepted = Awaited<ReturnType<PluginHost["receive"]>>;

export interface MailboxName {
  readonly source: string;
  readonly account: string;
}

/** Resolves when it is on the disk. Rejects with a `status`; at 500 and above the mail may be accepted later. */
export async function handOver(
  host: Pick<PluginHost, "hook" | "receive">,
  mail: Mail,
  { mailbox, settings }: { readonly mailbox: MailboxName; readonly settings: MailboxSettings },
): Promise<Accepted> {
  const { source, account } = mailbox;
  const verdict = judgeSender(mail, settings.authservIds);
  const key = `mail:${source}:${account}:${mail.id}`;
  const refused = refusalOf(mail, verdict, settings);
  if (refused !== undefined) return record(host, mailbox, { code: refused, key, detail: `The mail is ${mail.id}.` });
  const payload = payloadOf(mail, { ...mailbox, verdict, maxBytes: settings.maxBytes });
  const origin = describeMail(verdict, { automated: automatedBy(mail.headers), hidden: mail.text?.hidden });
  return host.hook(source, payload, { key, origin, ...(settings.reply === "draft" ? { keepReply: true } : {}) });
}

/** Records the reason as an event for `service why`; it causes no run. */
export function record(
  host: Pick<PluginHost, "receive">,
  { source, account }: MailboxName,
  { code, key, detail }: { readonly code: MailCode; readonly key: string; readonly detail: string },
): Promise<Accepted> {
  return host.receive({
    source: "mail",
    kind: "mail",
    lane: `mail:${source}:${account}`,
    authority: "hook",
    dedupeKey: key,
    body: { source, account, code, detail },
  });
}

function refusalOf(
  mail: Mail,
  verdict: Verdict,
  { from, subject, requireAuth }: MailboxSettings,
): MailCode | undefined {
  if (from !== undefined && !isFrom(mail, from)) return "mail_other_sender";
  if (subject !== undefined && !mail.subject.toLowerCase().includes(subject.toLowerCase())) return "mail_other_subject";
  return requireAuth && verdict.result !== "pass" ? "mail_sender_unverified" : undefined;
}

/** Compares the whole address, or its domain. */
function isFrom({ from }: Mail, allowed: readonly string[]): boolean {
  const [sender, another] = from;
  const address = sender?.address?.toLowerCase();
  if (address === undefined || another !== undefined) return false;
  return allowed.some((one) => {
    const wanted = one.toLowerCase();
    return wanted.includes("@") && !wanted.startsWith("@")
      ? address === wanted
      : address.endsWith(`@${wanted.replace(/^@/, "")}`);
  });
}
