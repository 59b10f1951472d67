/**
 * Follows the redirects of a model server within its origin: no other server may get the key and the conversation in a
 * request. `fetch` follows redirects to any address, with every header except `authorization`.
 */
import { fetchLimited } from "service-gateway/sdk/reading";

type Limits = Parameters<typeof fetchLimited>[2];

/** Some servers answer at another path than the configured one. */
const mostRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The server sends its requests to another one. */
export class LeadsElsewhere extends Error {
  override readonly name = "LeadsElsewhere";
  /** Where it leads. */
  readonly origin: string;

  constructor(origin: string) {
    super(`a redirect to ${origin}`);
    this.origin = origin;
  }
}

/** Where a redirect leads; `undefined` if the response is none. */
function targetOf({ status, headers }: Response, from: URL): URL | undefined {
  const location = headers.get("location");
  return redirects.has(status) && location !== null ? (URL.parse(location, from.href) ?? undefined) : undefined;
}

/** `fetch` with the same request at each address. `init` has its body as a text or as bytes. */
export async function fetchWithin(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  limits: Limits,
): Promise<Response> {
  let url = new URL(input instanceof Request ? input.url : input);
  for (let followed = 0; ; followed += 1) {
    const response = await fetchLimited(url, { ...init, redirect: "manual" }, limits);
    const target = targetOf(response, url);
    if (target === undefined || followed === mostRedirects) return response;
    await response.body?.cancel().catch(() => undefined);
    if (target.origin !== url.origin) throw new LeadsElsewhere(target.origin);
    url = target;
  }
}
