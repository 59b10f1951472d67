/** Decides who may use the page and its API: only this machine and, in browsers, only the page itself. */
import type { IncomingHttpHeaders } from "node:http";

const loopbackHost = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?$/;

/**
 * Why a request is refused, or `undefined`.
 *
 * `Host` is checked so that no other site's domain can be rebound to this machine; `Origin` so that no other page can send requests that
 * change something.
 */
export function refusal(method: string, headers: IncomingHttpHeaders): string | undefined {
  const host = headers.host ?? "";
  if (!loopbackHost.test(host)) return "the playground answers to loopback names only";
  if (method === "GET" || method === "HEAD") return undefined;
  if (headers.origin !== undefined && headers.origin !== `http://${host}`) return "another origin may not change anything here";
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return "another site may not change anything here";
  return undefined;
}
