/** `webhooks imap status` and `run`. */
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { createImapSource } from "../../imap/source.ts";
import { imapMailboxesIn } from "../../settings.ts";
import { SourceError } from "../../source.ts";
import { accountOf, answered } from "../options.ts";
import { runMailbox } from "../run.ts";
import { showStatus } from "../status.ts";
import { imapAccess } from "./access.ts";

interface Section {
  readonly accounts?: Readonly<
    Record<string, { readonly enabled?: boolean; readonly host?: string; readonly user?: string }>
  >;
}

export async function statusOfImap(call: CliCall): Promise<CliAnswer> {
  const { accounts = {} } = ((await call.preset("imap").settings()) ?? {}) as Section;
  const configured = Object.entries(accounts).map(([account, { enabled = true, host = "?", user = "?" }]) => ({
    account,
    where: `${user} at ${host}`,
    enabled,
  }));
  return showStatus(call, "imap", configured);
}

export const runImap = (call: CliCall): Promise<CliAnswer> =>
  answered(async () => {
    const account = await accountOf(call);
    const preset = call.preset("imap");
    const section = (await preset.settings()) as Section | undefined;
    const known = section?.accounts ?? {};
    // Includes a mailbox that no gateway should watch.
    const all = {
      accounts: Object.fromEntries(Object.entries(known).map(([name, one]) => [name, { ...one, enabled: true }])),
    };
    const settings = imapMailboxesIn(all).get(account);
    if (settings === undefined)
      throw new SourceError(
        "setup",
        `There is no mailbox ${account}.`,
        `\`${call.program} webhooks imap setup --account ${account}\` creates one.`,
      );
    const source = createImapSource(account, settings, imapAccess(call, account, settings));
    return runMailbox(call, { source: "imap", account }, settings, source);
  });
