/** A setup's calls to Google, with the credentials that the mailbox will have. */
import type { CliCall } from "service-gateway/sdk";
import { type Api, createApi } from "../../gmail/api.ts";
import { createCredentials } from "../../gmail/credentials.ts";
import { call as callApi, type Tokens } from "../../gmail/request.ts";
import { pubsubScope, readScope } from "../../gmail/scopes.ts";
import { createTokens } from "../../gmail/tokens.ts";
import type { GmailSettings } from "../../settings.ts";
import { type Cloud, createCloud } from "./cloud.ts";

export interface GmailAccess {
  readonly api: Api;
  readonly cloud: Cloud;
  readonly mailTokens: Tokens;
  /** Stops Gmail's announcements of this mailbox. */
  stop(): Promise<void>;
  /** The subject of the newest mail with a label; `undefined` if there is none. */
  newestSubject(label: string): Promise<string | undefined>;
}

const withoutToken: Tokens = { token: async () => "none" };

export function openAccess(call: CliCall, { at }: { readonly at: string }, settings: GmailSettings): GmailAccess {
  const { now, signal, store } = call;
  const preset = call.preset("gmail");
  const credentials = createCredentials(settings, { secret: preset.secret, store, at });
  const isService = settings.serviceAccount !== undefined;
  const tokensFor = (scope: string, subject?: string) => createTokens(credentials, { scope, subject, now, signal });
  const mailTokens = tokensFor(readScope, isService ? settings.account : undefined);
  // An emulator has no tokens, and must not receive Google's.
  const noticeTokens = settings.emulator ? withoutToken : isService ? tokensFor(pubsubScope) : mailTokens;
  const user = `${settings.roots.gmail}/gmail/v1/users/me/`;
  return {
    api: createApi({ roots: settings.roots, mailTokens, noticeTokens, signal }),
    cloud: createCloud(settings, noticeTokens, signal),
    mailTokens,
    async stop() {
      await callApi(mailTokens, `${user}stop`, { method: "POST", doing: "stop announcing mail", signal });
    },
    async newestSubject(label) {
      const get = (path: string) => callApi(mailTokens, `${user}${path}`, { doing: "read the mailbox", signal });
      const { messages = [] } = (await get(
        `messages?${new URLSearchParams({ labelIds: label, maxResults: "1" })}`,
      )) as {
        readonly messages?: readonly { readonly id: string }[];
      };
      const [newest] = messages;
      if (newest === undefined) return undefined;
      const query = new URLSearchParams({ format: "metadata", fields: "id,payload" });
      const { payload } = (await get(`messages/${encodeURIComponent(newest.id)}?${query}`)) as {
        readonly payload?: { readonly headers?: readonly { readonly name: string; readonly value: string }[] };
      };
      return payload?.headers?.find(({ name }) => name.toLowerCase() === "subject")?.value ?? "";
    },
  };
}
