/** Requests to a server over HTTP: to its own origin only, and with a word to the server when a call is given up. */

import { fetchLimited } from "service-gateway/sdk/reading";
import { keyed } from "./call-key.ts";
import { causesOf, oneLine, ServerFault } from "./fault.ts";
import type { AddressDefinition } from "./settings.ts";

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The headers of the configuration contain keys, which belong to this origin and to no other. */
export function fetchFor({ url }: AddressDefinition): Fetch {
  const { origin } = new URL(url);
  return async (input, init = {}) => {
    const target = new URL(input instanceof Request ? input.url : input);
    if (target.origin !== origin) throw new TypeError(`the server refers to another origin, ${target.origin}`);
    const call = callIn(init.body);
    if (call !== undefined) {
      const tell = () => void cancel(target, init, call);
      init.signal?.addEventListener("abort", tell, { once: true });
    }
    const body = call === undefined ? init.body : JSON.stringify(keyed(JSON.parse(init.body as string) as object));
    return fetchLimited(input, { ...init, ...(body !== undefined && { body }) }, limits);
  };
}

const mostMegabytes = 32;

/** An answer without an end must not fill the memory. A stream of events carries many answers, so each event counts alone. */
const limits = {
  maxBytes: mostMegabytes * 1_024 * 1_024,
  fault: (host: string) => new ServerFault(`${host} answered with more than ${mostMegabytes} MB`, { fix: "Ask its tools for less." }),
} as const;

function callIn(body: RequestInit["body"]): string | number | undefined {
  if (typeof body !== "string" || !body.includes('"tools/call"')) return undefined;
  const { method, id } = JSON.parse(body) as { readonly method?: string; readonly id?: string | number };
  return method === "tools/call" ? id : undefined;
}

const cancelPatienceMs = 5_000;

/** Ending the request does not end the call: the protocol asks for a message. */
async function cancel(url: URL, { headers }: RequestInit, requestId: string | number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "aborted" } });
  try {
    const signal = AbortSignal.timeout(cancelPatienceMs);
    const response = await fetchLimited(url, { method: "POST", body, signal, ...(headers !== undefined && { headers }) }, limits);
    await response.body?.cancel();
  } catch {
    // It may be away; the call is given up in any case.
  }
}

/** Why a request failed; `undefined` if the server answered it with an error of its own. */
export function addressFault(thrown: unknown, url: string): ServerFault | undefined {
  const place = URL.parse(url)?.host ?? url;
  for (const error of causesOf(thrown)) {
    if (error instanceof ServerFault) return error;
    const { code, statusCode } = error;
    if (typeof statusCode === "number") return statusFault(statusCode, place);
    if (code === "ECONNREFUSED")
      return new ServerFault(`nothing listens at ${place}`, { fix: "Start the server, or correct url.", notSent: true });
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      return new ServerFault(`the name of ${place} is not known`, { fix: "Correct url.", notSent: true });
    if (typeof code === "string" && /CERT|TLS|SSL/.test(code))
      return new ServerFault(`the certificate of ${place} is not trusted (${code})`, { fix: "Correct its certificate.", notSent: true });
    if (/unexpected redirect|redirect/i.test(error.message) && error.name !== "MCPClientError")
      return new ServerFault(`${place} redirects to another address, which is refused`, {
        fix: "Set url to the final address.",
        notSent: true,
      });
    if (typeof code === "string" || error.message === "terminated")
      return new ServerFault(`the connection to ${place} failed: ${oneLine(error.message)}`, { fix: "Look at that server." });
  }
  return undefined;
}

function statusFault(status: number, place: string): ServerFault {
  if (status === 401 || status === 403)
    return new ServerFault(`${place} refuses the credentials (${status})`, {
      fix: 'Set headers of the server, such as { "Authorization": { "env": "NAME" } } with "Bearer KEY" in the variable.',
      notSent: true,
    });
  // 404 to a known session: the server has been started again, and has forgotten it.
  if (status === 404)
    return new ServerFault(`${place} does not know the address or the session (404)`, {
      fix: "Correct url, which often ends in /mcp; for the older protocol set type to sse.",
      notSent: true,
    });
  if (status === 405)
    return new ServerFault(`${place} accepts no messages there (405)`, { fix: "Correct url, or set type to sse.", notSent: true });
  return new ServerFault(`${place} answered ${status}`, { fix: "Look at that server.", ended: status >= 500 });
}
