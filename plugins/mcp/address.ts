/** Requests to a server over HTTP: to its own origin only, and with a word to the server when a call is given up. */
import { fetchLimited } from "service-gateway/sdk/reading";
import { parseExact } from "service-gateway/sdk/tools";
import { type Answers, createAnswers } from "./answers.ts";
import { keyed } from "./call-key.ts";
import { causesOf, oneLine, ServerFault } from "./fault.ts";
import { withoutAnswers } from "./messages-in.ts";
import type { AddressDefinition } from "./settings.ts";

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The headers of the configuration contain keys, which belong to this origin and to no other. */
export function fetchFor({ url, kind }: AddressDefinition, answers: Answers = createAnswers()): Fetch {
  const { origin } = new URL(url);
  return async (input, init = {}) => {
    const target = new URL(input instanceof Request ? input.url : input);
    if (target.origin !== origin) throw new TypeError(`the server refers to another origin, ${target.origin}`);
    const call = callIn(init.body, answers, init.signal);
    if (call !== undefined) {
      const tell = () => void cancel(target, init, call);
      init.signal?.addEventListener("abort", tell, { once: true });
    }
    const body = call === undefined ? init.body : JSON.stringify(keyed(parseExact(init.body as string) as object));
    const response = await fetchLimited(input, { ...init, ...(body !== undefined && { body }) }, limits);
    if (call === undefined || response.ok) return withoutAnswers(response, answers, kind === "http" ? call : undefined);
    return await refusedCall(response, { place: target.host, answers, call, hasBody: kind === "http" });
  };
}

const mostRefusalCharacters = 64 * 1_024;
/** JSON-RPC errors that a server answers before it looks for a session. */
const ofTheCall: readonly unknown[] = [-32_700, -32_600, -32_601, -32_602];

/**
 * Handles a status that is not a success: returns the server's own error if it sent one, else throws what the status
 * means.
 */
async function refusedCall(
  response: Response,
  at: { readonly place: string; readonly answers: Answers; readonly call: string | number; readonly hasBody: boolean },
): Promise<Response> {
  const { status } = response;
  const text = await beginningOf(response, mostRefusalCharacters);
  const error = errorIn(text);
  const isOfCall = ofTheCall.includes((error as { readonly code?: unknown } | undefined)?.code);
  const forgotSession = (status === 404 && !isOfCall) || (status === 400 && /\bsession/i.test(text));
  if (forgotSession || error === undefined || !at.hasBody)
    throw forgotSession ? sessionFault(status, at.place) : statusFault(status, at.place);
  const answer = JSON.stringify(at.answers.passed({ jsonrpc: "2.0", id: at.call, error } as { readonly id: unknown }));
  return new Response(answer, { headers: { "content-type": "application/json" } });
}

/** The error of a message, whatever its id is: some servers answer with none. */
function errorIn(text: string): unknown {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === "object" && error !== null ? error : undefined;
  } catch {
    return undefined;
  }
}

async function beginningOf({ body }: Response, most: number): Promise<string> {
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    // Leaving the loop cancels the rest.
    if (text.length > most) break;
  }
  return text.slice(0, most);
}

const mostMegabytes = 32;

/**
 * An answer without an end must not fill the memory. A stream of events carries many answers, so each event counts
 * alone.
 */
const limits = {
  maxBytes: mostMegabytes * 1_024 * 1_024,
  fault: (host: string) =>
    new ServerFault(`${host} answered with more than ${mostMegabytes} MB`, { fix: "Ask its tools for less." }),
} as const;

function callIn(
  body: RequestInit["body"],
  answers: Answers,
  signal: RequestInit["signal"],
): string | number | undefined {
  if (typeof body !== "string" || !body.includes('"tools/call"')) return undefined;
  return answers.sent(JSON.parse(body) as Parameters<Answers["sent"]>[0], signal);
}

const cancelPatienceMs = 5_000;

/** Ending the request does not end the call: the protocol asks for a message. */
async function cancel(url: URL, { headers }: RequestInit, requestId: string | number): Promise<void> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId, reason: "aborted" },
  });
  try {
    const signal = AbortSignal.timeout(cancelPatienceMs);
    const response = await fetchLimited(url, { method: "POST", body, signal, headers }, limits);
    await response.body?.cancel();
  } catch {
    // It may be away; the call is given up in any case.
  }
}

/** Why a request failed; `undefined` if the server answered it with an error of its own. */
export function addressFault(thrown: unknown, url: string, hide: (text: string) => string): ServerFault | undefined {
  const place = URL.parse(url)?.host ?? url;
  for (const error of causesOf(thrown)) {
    if (error instanceof ServerFault) return error;
    const { code, statusCode } = error;
    if (typeof statusCode === "number") return statusFault(statusCode, place);
    if (code === "ECONNREFUSED")
      return new ServerFault(`nothing listens at ${place}`, {
        fix: "Start the server, or correct url.",
        notSent: true,
      });
    if (code === "ENOTFOUND" || code === "EAI_AGAIN")
      return new ServerFault(`the name of ${place} is not known`, { fix: "Correct url.", notSent: true });
    if (typeof code === "string" && /CERT|TLS|SSL/.test(code))
      return new ServerFault(`the certificate of ${place} is not trusted (${code})`, {
        fix: "Correct its certificate.",
        notSent: true,
      });
    if (/unexpected redirect|redirect/i.test(error.message) && error.name !== "MCPClientError")
      return new ServerFault(`${place} redirects to another address, which is refused`, {
        fix: "Set url to the final address.",
        notSent: true,
      });
    if (typeof code === "string" || error.message === "terminated")
      return new ServerFault(`the connection to ${place} failed: ${oneLine(hide(error.message))}`, {
        fix: "Look at that server.",
      });
  }
  return undefined;
}

function statusFault(status: number, place: string): ServerFault {
  if (status === 401 || status === 403)
    return new ServerFault(`${place} refuses the credentials (${status})`, {
      fix:
        'Set headers of the server, such as { "Authorization": { "env": "NAME" } } with "Bearer KEY" in ' +
        "the variable.",
      notSent: true,
    });
  if (status === 404) return sessionFault(status, place);
  if (status === 405)
    return new ServerFault(`${place} accepts no messages there (405)`, {
      fix: "Correct url, or set type to sse.",
      notSent: true,
    });
  const refused = refusing.includes(status);
  return new ServerFault(`${place} answered ${status}`, { fix: "Look at that server.", ended: status >= 500, refused });
}

/** What a server answers instead of doing anything. */
const refusing: readonly number[] = [400, 406, 411, 413, 414, 415, 422, 429, 431];

/** The server has been started again, and has forgotten its sessions. A call that it refuses for that had no effect. */
const sessionFault = (status: number, place: string): ServerFault =>
  new ServerFault(`${place} does not know the address or the session (${status})`, {
    fix: "Correct url, which often ends in /mcp; for the older protocol set type to sse.",
    notSent: true,
  });
