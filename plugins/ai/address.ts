/** Takes the address of a provider apart, as requests need it. */
import type { EngineProvider } from "service-gateway/sdk";

/** What requests to a provider are sent with. */
export interface Address {
  readonly baseURL: string;
  readonly queryParams: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly apiKey?: string;
}

/** `fetch` rejects URLs with credentials, so these become a header, and the query is appended after the path. */
export function addressOf({
  baseUrl,
  provider,
}: {
  readonly baseUrl: string;
  readonly provider: EngineProvider;
}): Address {
  const url = new URL(baseUrl);
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    baseURL: `${url.origin}${url.pathname}`.replace(/\/+$/, ""),
    queryParams: Object.fromEntries(url.searchParams),
    headers: {
      ...(user !== ":" && { authorization: `Basic ${Buffer.from(user).toString("base64")}` }),
      ...provider.headers,
    },
    apiKey: provider.apiKey,
  };
}
