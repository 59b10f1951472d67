/**
 * Whether a request with a session comes from a page of this gateway. `SameSite=Strict` is not enough: all ports of one
 * host are one site, and any program of this machine may serve pages at one of them.
 */
import type { IncomingMessage } from "node:http";
import { HttpProblem } from "../problem.ts";

/** A page of another origin cannot set it without a permission that this gateway never gives. */
const pageHeader = "x-console";

/** Of what a session may read: no page of another port takes it up as a script, an image or a frame. */
export const answerHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

const refused = (reason: string) => new HttpProblem("origin_refused", reason);

export function sameOriginProblem({ method = "GET", headers }: IncomingMessage): HttpProblem | undefined {
  const site = headers["sec-fetch-site"];
  const isReading = method === "GET" || method === "HEAD";
  if (site !== undefined && site !== "same-origin")
    return refused("With a session, only the pages of this gateway may send requests.");
  if (isReading) return undefined;
  // Browsers leave the header out on plain http off this machine. The origin was compared with the host before.
  if (site === undefined && headers.origin === undefined)
    return refused("A request that changes something needs the header Sec-Fetch-Site or Origin, as browsers send it.");
  if (headers[pageHeader] !== "1")
    return refused(`A request that changes something needs the header ${pageHeader}: 1.`);
  if (!/^application\/json\b/i.test(headers["content-type"] ?? ""))
    return refused("A request that changes something needs a body of the type application/json.");
  return undefined;
}
