/**
 * Access tokens: requested when needed, used until they expire, and never requested again with credentials that Google
 * has withdrawn.
 */
import { createPrivateKey, sign } from "node:crypto";
import { SourceError } from "../source.ts";
import {
  type ClientCredentials,
  type Credentials,
  type CredentialsReader,
  identityOf,
  type ServiceCredentials,
} from "./credentials.ts";
import { errorOf, send, type Tokens } from "./request.ts";

interface Issued {
  readonly identity: string;
  readonly token: string;
  readonly until: number;
}

const dayMs = 86_400_000;
/** A token is renewed before it expires, because a request takes time. */
const marginMs = 60_000;

/** `subject`: the mailbox that a service account reads; without it, the account acts as itself. */
export function createTokens(
  credentials: CredentialsReader,
  {
    scope,
    subject,
    now,
    signal,
  }: { readonly scope: string; readonly subject?: string; readonly now: () => number; readonly signal: AbortSignal },
): Tokens {
  let issued: Issued | undefined;
  let withdrawn: { readonly identity: string; readonly error: SourceError } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(refused: string | undefined): Promise<string> {
    const current = await credentials.read();
    const identity = identityOf(current);
    if (withdrawn?.identity === identity) throw withdrawn.error;
    if (issued?.identity === identity && issued.until > now() && issued.token !== refused) return issued.token;
    const fields =
      current.kind === "client" ? refreshFields(current) : assertionFields(current, { scope, subject, now });
    const answer = await send(current.tokenUri, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
      signal,
    });
    if (answer.status !== 200) {
      const error = refusalOf(answer, current, now());
      if (error.kind === "revoked") withdrawn = { identity, error };
      throw error;
    }
    const { access_token, expires_in = 3_600 } = answer.body as {
      readonly access_token?: string;
      readonly expires_in?: number;
    };
    if (typeof access_token !== "string")
      throw new SourceError("outage", "Google issued no access token.", "It is retried automatically.");
    issued = { identity, token: access_token, until: now() + expires_in * 1_000 - marginMs };
    return access_token;
  }

  return {
    token(refused) {
      asking ??= ask(refused).finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

function refreshFields({ clientId, clientSecret, refreshToken }: ClientCredentials): Record<string, string> {
  return { grant_type: "refresh_token", client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken };
}

/** RFC 7523: the service account signs its identity and its request. */
function assertionFields(
  { email, privateKey, keyId, tokenUri }: ServiceCredentials,
  { scope, subject, now }: { readonly scope: string; readonly subject: string | undefined; readonly now: () => number },
): Record<string, string> {
  const iat = Math.floor(now() / 1_000);
  const header = { alg: "RS256", typ: "JWT", kid: keyId };
  const claims = { iss: email, scope, aud: tokenUri, iat, exp: iat + 3_600, sub: subject };
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return {
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: `${signed}.${sign("RSA-SHA256", Buffer.from(signed), keyOf(privateKey)).toString("base64url")}`,
  };
}

function keyOf(privateKey: string) {
  try {
    return createPrivateKey(privateKey);
  } catch {
    throw new SourceError(
      "setup",
      "The private key of the service account cannot be read.",
      "Download a new JSON key from the Google Cloud console.",
    );
  }
}

function refusalOf(answer: Awaited<ReturnType<typeof send>>, credentials: Credentials, now: number): SourceError {
  const { error } = (answer.body ?? {}) as { readonly error?: unknown };
  if (error === "invalid_grant")
    return credentials.kind === "client"
      ? withdrawnGrant(credentials, now)
      : new SourceError("setup", ...noDelegation(credentials));
  if (error === "unauthorized_client" && credentials.kind === "service")
    return new SourceError("setup", ...noDelegation(credentials));
  if (error === "invalid_client" || error === "unauthorized_client")
    return new SourceError(
      "revoked",
      `Google does not know the OAuth client (${error}).`,
      "Download the JSON of the OAuth client again from the Google Cloud console.",
    );
  return errorOf(answer, "issue an access token");
}

/** Retried, because a delegation takes effect hours after it was granted. */
const noDelegation = ({ email }: ServiceCredentials): [string, string] => [
  `Google does not allow the service account ${email} to read this mailbox.`,
  "Ask an administrator of the Google Workspace for domain-wide delegation with the scope gmail.readonly, " +
    "and check account.",
];

/** All causes have the same code; the age of the permission shows which one is likely. */
function withdrawnGrant({ grantedAt }: ClientCredentials, now: number): SourceError {
  const age = grantedAt === undefined ? undefined : now - grantedAt;
  const cause =
    age !== undefined && age >= 7 * dayMs && age < 9 * dayMs
      ? "It is seven days old: with the publishing status Testing, permissions end after seven days."
      : age !== undefined && age >= 180 * dayMs
        ? "It may not have been used for six months, or the user withdrew it."
        : "The user withdrew it or changed the password, or the app has the publishing status Testing, " +
          "where permissions end after seven days.";
  return new SourceError(
    "revoked",
    `Google no longer accepts the permission to read the mailbox (invalid_grant). ${cause}`,
    "Publish the app in the Google Cloud console if its status is Testing, then grant the permission again.",
  );
}
