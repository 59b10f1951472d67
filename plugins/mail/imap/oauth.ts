/**
 * Logs in by OAuth: requests access tokens with a refresh token, and stores a refresh token that the provider replaces.
 */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import { fetchWhole, ResponseLimitError, type WholeResponse } from "service-gateway/sdk/reading";
import { isLoopback, type OAuthSettings } from "../settings.ts";
import { SourceError } from "../source.ts";

export interface OAuthTokens {
  /** Identifies the configured values without containing them. */
  login(): string;
  /** Whether `access` has to call the provider. */
  isFresh(): boolean;
  /** An access token that is valid for at least a minute. */
  access(): Promise<string>;
  /** The server refused the last token, so the next one is new. */
  forget(): void;
}

/** The provider's answers are short. */
const maxAnswerBytes = 100_000;
const answerMs = 20_000;

export function createOAuthTokens(
  { tokenUrl, clientId, clientSecret, refreshToken, scope }: OAuthSettings,
  {
    account,
    host,
    secret,
  }: {
    readonly account: string;
    readonly host: Pick<PluginHost, "store" | "now">;
    /** Returns the text of a secret; `key` is its place below `oauth`. */
    readonly secret: (value: unknown, key: string) => string;
  },
): OAuthTokens {
  const place = `oauth:imap:${account}`;
  let current: { readonly token: string; readonly until: number } | undefined;

  const configured = (): string => secret(refreshToken, "refreshToken");
  const login = (): string =>
    createHash("sha256")
      .update(JSON.stringify([tokenUrl, clientId, configured()]))
      .digest("hex");

  /** The newest refresh token derived from the configured one. */
  async function latest(): Promise<string> {
    const stored = (await host.store.get(place)) as { readonly login?: string; readonly refreshToken?: string } | null;
    // Read as a secret, so that the log leaves it out.
    return stored?.login === login() && stored.refreshToken !== undefined
      ? secret(stored.refreshToken, "refreshToken")
      : configured();
  }

  async function refresh(): Promise<string> {
    const url = addressOf(tokenUrl);
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: clientId,
      refresh_token: await latest(),
    });
    if (clientSecret !== undefined) form.set("client_secret", secret(clientSecret, "clientSecret"));
    if (scope !== undefined) form.set("scope", scope);
    const { access_token: token, expires_in: seconds, refresh_token: rotated } = await ask(url, form);
    if (typeof token !== "string")
      throw new SourceError("outage", `${url.host} sent no access token.`, "It is retried automatically.");
    if (typeof rotated === "string" && rotated !== "")
      await host.store.set(place, { login: login(), refreshToken: secret(rotated, "refreshToken") });
    const lifeMs = (typeof seconds === "number" && seconds > 0 ? seconds : 300) * 1_000;
    current = { token: secret(token, "refreshToken"), until: host.now() + lifeMs - 60_000 };
    return token;
  }

  const valid = (): string | undefined =>
    current !== undefined && current.until > host.now() ? current.token : undefined;
  return {
    login,
    isFresh: () => valid() === undefined,
    access: async () => valid() ?? refresh(),
    forget() {
      current = undefined;
    },
  };
}

function addressOf(tokenUrl: string): URL {
  const url = URL.canParse(tokenUrl) ? new URL(tokenUrl) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw new SourceError(
    "setup",
    "oauth.tokenUrl is not an address with https.",
    "Set it to the token endpoint of the provider.",
  );
}

async function ask(url: URL, form: URLSearchParams): Promise<{ readonly [field: string]: unknown }> {
  let response: WholeResponse;
  try {
    response = await fetchWhole(url, { method: "POST", body: form, maxBytes: maxAnswerBytes, timeoutMs: answerMs });
  } catch (error) {
    if (error instanceof ResponseLimitError && error.limit === "bytes")
      throw new SourceError(
        "outage",
        `${error.message}, instead of an access token.`,
        "Check oauth.tokenUrl. It is retried automatically.",
      );
    throw new SourceError(
      "outage",
      `${url.host}, which issues access tokens, does not answer.`,
      "It is retried automatically.",
    );
  }
  const { status } = response;
  const answer = parsed(response.text);
  if (status === 200) return answer;
  const code = typeof answer.error === "string" && /^[a-z_]{1,40}$/.test(answer.error) ? answer.error : String(status);
  if (code === "invalid_grant")
    throw new SourceError(
      "revoked",
      `${url.host} no longer accepts the refresh token (invalid_grant).`,
      "Log in again and set oauth.refreshToken to the new refresh token. Refresh tokens end after a changed " +
        "password, a withdrawn consent or long disuse.",
    );
  if (status === 400 || status === 401)
    throw new SourceError(
      "login",
      `${url.host} refused to issue an access token (${code}).`,
      "Check oauth.clientId, oauth.clientSecret and oauth.scope.",
    );
  throw new SourceError("outage", `${url.host} issued no access token (${code}).`, "It is retried automatically.");
}

function parsed(text: string): { readonly [field: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as { readonly [field: string]: unknown }) : {};
  } catch {
    return {};
  }
}
