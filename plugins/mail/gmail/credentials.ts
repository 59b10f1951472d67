/** The gateway's identity for Google: an OAuth client with a user's refresh token, or a service account. */
import { createHash } from "node:crypto";
import type { PluginHost } from "service-gateway/sdk";
import type { GmailSettings } from "../settings.ts";
import { SourceError } from "../source.ts";
import { readGrant } from "./grants.ts";

export interface ClientCredentials {
  readonly kind: "client";
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokenUri: string;
  readonly refreshToken: string;
  /** When the user granted the refresh token, in epoch milliseconds; absent if unknown. */
  readonly grantedAt?: number;
}

export interface ServiceCredentials {
  readonly kind: "service";
  readonly email: string;
  readonly privateKey: string;
  readonly keyId?: string;
  readonly tokenUri: string;
}

export type Credentials = ClientCredentials | ServiceCredentials;

export interface CredentialsReader {
  read(): Promise<Credentials>;
}

const defaultTokenUri = "https://oauth2.googleapis.com/token";

/**
 * Reads the credentials at each call, because a reference may lead to another value later. `at` is the path of the
 * settings below `hooks.gmail`, with its dot.
 */
export function createCredentials(
  settings: GmailSettings,
  {
    secret,
    store,
    at,
  }: {
    readonly secret: (value: unknown, key: string) => string;
    readonly store: PluginHost["store"];
    readonly at: string;
  },
): CredentialsReader {
  const text = (value: unknown, key: string): string => {
    try {
      return secret(value, `${at}${key}`);
    } catch (error) {
      throw new SourceError(
        "setup",
        error instanceof Error ? error.message : String(error),
        `Correct hooks.gmail.${at}${key}.`,
      );
    }
  };
  return {
    async read() {
      if (settings.serviceAccount !== undefined) {
        const key = `${at}serviceAccount`;
        return readService(parse(text(settings.serviceAccount, "serviceAccount"), key), key);
      }
      const key = `${at}credentials`;
      const client = readClient(parse(text(settings.credentials, "credentials"), key), key);
      if (settings.refreshToken !== undefined)
        return { ...client, refreshToken: text(settings.refreshToken, "refreshToken") };
      const grant = await readGrant(store, settings.account ?? "");
      if (grant === undefined || grant.clientId !== client.clientId)
        throw new SourceError(
          "revoked",
          `There is no permission to read the mailbox ${settings.account} yet.`,
          `Run webhooks gmail setup for this mailbox, or set hooks.gmail.${at}refreshToken.`,
        );
      return { ...client, refreshToken: grant.refreshToken, grantedAt: grant.grantedAt };
    },
  };
}

/** Differs whenever the credentials differ, without revealing them. */
export function identityOf(credentials: Credentials): string {
  return createHash("sha256").update(JSON.stringify(credentials)).digest("hex").slice(0, 32);
}

function parse(text: string, key: string): { readonly [field: string]: unknown } {
  try {
    return JSON.parse(text) as { readonly [field: string]: unknown };
  } catch {
    throw new SourceError(
      "setup",
      `hooks.gmail.${key} is not the JSON of a credentials file.`,
      'Name the file that the Google Cloud console offered: { "file": "credentials.json" }.',
    );
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function readClient(
  file: { readonly [field: string]: unknown },
  key: string,
): Omit<ClientCredentials, "refreshToken"> & { readonly kind: "client" } {
  const { client_id, client_secret, token_uri } = (file.installed ?? file.web ?? file) as {
    readonly [field: string]: unknown;
  };
  if (!isText(client_id) || !isText(client_secret))
    throw new SourceError(
      "setup",
      `hooks.gmail.${key} contains no OAuth client.`,
      "Download the JSON of an OAuth client of the type Desktop app from the Google Cloud console.",
    );
  return {
    kind: "client",
    clientId: client_id,
    clientSecret: client_secret,
    tokenUri: isText(token_uri) ? token_uri : defaultTokenUri,
  };
}

function readService(
  { client_email, private_key, private_key_id, token_uri }: { readonly [field: string]: unknown },
  key: string,
): ServiceCredentials {
  if (!isText(client_email) || !isText(private_key))
    throw new SourceError(
      "setup",
      `hooks.gmail.${key} contains no service account.`,
      "Download a JSON key of the service account from the Google Cloud console.",
    );
  return {
    kind: "service",
    email: client_email,
    privateKey: private_key,
    ...(isText(private_key_id) ? { keyId: private_key_id } : {}),
    tokenUri: isText(token_uri) ? token_uri : defaultTokenUri,
  };
}
