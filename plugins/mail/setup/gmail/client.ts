/** The OAuth client of a credentials file, with the URLs that the file gives for it. */
import { SourceError } from "../../source.ts";

export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly authUri: string;
  readonly tokenUri: string;
  /** The URL that revokes a permission. */
  readonly revokeUri: string;
  readonly project?: string;
}

/** `text` is the JSON from the Google Cloud console. */
export function readClientFile(text: string): OAuthClient {
  const { client_id, client_secret, auth_uri, token_uri, project_id } = installedIn(text);
  if (typeof client_id !== "string" || typeof client_secret !== "string")
    throw new SourceError(
      "setup",
      "The file of the credentials contains no OAuth client of the type Desktop app.",
      "Create one at https://console.cloud.google.com/apis/credentials and download its JSON.",
    );
  const tokenUri = typeof token_uri === "string" ? token_uri : "https://oauth2.googleapis.com/token";
  return {
    clientId: client_id,
    clientSecret: client_secret,
    authUri: typeof auth_uri === "string" ? auth_uri : "https://accounts.google.com/o/oauth2/v2/auth",
    tokenUri,
    revokeUri: new URL("/revoke", tokenUri).href,
    ...(typeof project_id === "string" ? { project: project_id } : {}),
  };
}

function installedIn(text: string): { readonly [field: string]: unknown } {
  try {
    const { installed = {} } = JSON.parse(text) as { readonly installed?: { readonly [field: string]: unknown } };
    return installed;
  } catch {
    return {};
  }
}
