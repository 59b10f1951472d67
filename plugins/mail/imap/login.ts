/** The login of a mailbox: with a password, or by OAuth. */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import type { ImapSettings } from "../settings.ts";
import { SourceError } from "../source.ts";
import type { Credentials } from "./connection.ts";
import { createOAuthTokens } from "./oauth.ts";

export interface ImapLogin {
  /** Identifies the credentials without containing them. */
  id(): string;
  /** Calls `connect` with credentials; once more with new ones if a token was refused before its expiry. */
  with<T>(connect: (credentials: Credentials) => Promise<T>): Promise<T>;
}

export function createImapLogin(
  { password, oauth }: Pick<ImapSettings, "password" | "oauth">,
  {
    account,
    host,
    secret,
  }: {
    readonly account: string;
    readonly host: Pick<PluginHost, "store" | "now">;
    /** Returns the text of a secret; `key` is its place below the account. */
    readonly secret: (value: unknown, key: string) => string;
  },
): ImapLogin {
  if (oauth !== undefined) {
    const tokens = createOAuthTokens(oauth, { account, host, secret: (value, key) => secret(value, `oauth.${key}`) });
    return {
      id: tokens.login,
      async with(connect) {
        const isFresh = tokens.isFresh();
        try {
          return await connect({ accessToken: await tokens.access() });
        } catch (error) {
          if (!(error instanceof SourceError) || error.kind !== "login") throw error;
          tokens.forget();
          if (isFresh) throw error;
          return connect({ accessToken: await tokens.access() });
        }
      },
    };
  }
  const text = (): string => {
    if (password === undefined)
      throw new SourceError("setup", "The mailbox has neither password nor oauth.", "Set one of the two.");
    return secret(password, "password");
  };
  return {
    id: () => createHash("sha256").update(text()).digest("hex"),
    with: async (connect) => connect({ pass: text() }),
  };
}
