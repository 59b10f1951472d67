/** Logs in to a mailbox for a command, and reads the files that its settings name. */
import type { CliCall } from "service-gateway/sdk";
import { createImapLogin, type ImapLogin } from "../../imap/login.ts";
import type { ImapSettings } from "../../settings.ts";

export function imapAccess(
  call: CliCall,
  account: string,
  settings: Pick<ImapSettings, "password" | "oauth">,
): { readonly login: ImapLogin; readonly read: (file: string) => string } {
  const preset = call.preset("imap");
  const secret = (value: unknown, key: string) => preset.secret(value, `accounts.${account}.${key}`);
  return {
    login: createImapLogin(settings, { account, host: call, secret }),
    read: (file) => secret({ file }, "tls.caFile"),
  };
}
