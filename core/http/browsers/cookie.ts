/**
 * The cookie of a signed-in browser. It is taken out of each request before any route runs: no plugin and no webhook
 * sees it.
 */
import type { IncomingMessage } from "node:http";
import { product } from "../../contract/index.ts";

/** Browsers accept the prefix on https only. There it keeps other hosts of the same site from setting the cookie. */
const plainName = `${product.name}_session`;
const secureName = `__Host-${plainName}`;

const presented = Symbol("the session that a browser presents");
type Marked = IncomingMessage & { [presented]?: string };

/** Takes the cookie out of the headers. Other cookies stay: they belong to pages beside this gateway. */
export function takeSessionCookie(request: IncomingMessage): void {
  const { cookie } = request.headers;
  if (cookie === undefined) return;
  const pairs = cookie.split(";").map((pair) => pair.trim());
  const isOwn = (pair: string) => pair.startsWith(`${plainName}=`) || pair.startsWith(`${secureName}=`);
  const own = pairs.filter(isOwn);
  if (own.length === 0) return;
  const others = pairs.filter((pair) => !isOwn(pair));
  if (others.length === 0) delete request.headers.cookie;
  else request.headers.cookie = others.join("; ");
  const secured = own.filter((pair) => pair.startsWith(`${secureName}=`));
  // A visit on plain http may have left the other one. Two of a kind cannot come from this gateway: another server of
  // the host has set one.
  const [only = "", more] = secured.length > 0 ? secured : own;
  if (more === undefined) (request as Marked)[presented] = only.slice(only.indexOf("=") + 1);
}

export const sessionSecret = (request: IncomingMessage): string | undefined => (request as Marked)[presented];

/** `secret`: empty to remove the cookie. */
export function sessionCookie(
  secret: string,
  { secure, maxAgeSeconds }: { readonly secure: boolean; readonly maxAgeSeconds: number },
): string {
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${secret === "" ? 0 : maxAgeSeconds}`;
  return secure ? `${secureName}=${secret}; ${flags}; Secure` : `${plainName}=${secret}; ${flags}`;
}
