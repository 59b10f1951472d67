/** The target of a request: what its first line asks for. */
import type { IncomingMessage } from "node:http";

const absolute = /^https?:\/\/([^/?#]*)/i;

/**
 * The path and query of a request. A request may also contain the whole address, as to a proxy (RFC 9112, 3.2.2); then
 * its host applies instead of the `Host` header.
 */
export function originForm(request: Pick<IncomingMessage, "url" | "headers">): string {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  const [address, host] = absolute.exec(target) ?? [];
  if (address === undefined || host === undefined) return target;
  request.headers.host = host;
  const rest = target.slice(address.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}
