/** Decides who may use the page and its API: only this machine and, in browsers, only the page itself. */
import type { IncomingHttpHeaders } from "node:http";

const loopbackHost = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?$/;

/**
 * Why a request is refused, or `undefined`.
 *
 * `Host` is checked so that no other site's domain can be rebound to this machine; `Origin` so that no other page can
 * send requests that change something.
 */
export function refusal(method: string, headers: IncomingHttpHeaders): string | undefined {
  if (!loopbackHost.test(headers.host ?? "")) return notLoopback;
  if (method === "GET" || method === "HEAD") return undefined;
  return isForeign(headers) ? "another site may not change anything here" : undefined;
}

/**
 * Why a call of a bot is refused, or `undefined`. A GET may change something here, and the token of the demo is known
 * to everyone.
 */
export function callRefusal(headers: IncomingHttpHeaders): string | undefined {
  if (!loopbackHost.test(headers.host ?? "")) return notLoopback;
  return isForeign(headers) ? "another site may not call the bot" : undefined;
}

const notLoopback = "the playground answers to loopback names only";

function isForeign({ host, origin, "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  return (
    (origin !== undefined && origin !== `http://${host}`) ||
    (site !== undefined && site !== "same-origin" && site !== "none")
  );
}
