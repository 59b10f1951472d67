/** Checks the `Host` header, so that a page whose domain was rebound to this machine cannot reach the gateway. */
import type { IncomingMessage } from "node:http";
import type { GatewayConfig } from "../config/index.ts";
import { HttpProblem } from "./problem.ts";

type Settings = Pick<GatewayConfig["gateway"], "host" | "publicUrl" | "allowedHosts">;

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const unknown = new HttpProblem(
  "host_unknown",
  "The Host header is not a host of this gateway. Set gateway.publicUrl to its public address, or add the " +
    "host to gateway.allowedHosts.",
);

/** Creates the check. Ports are ignored: the name alone shows whether another site sent the request. */
export function createHostCheck(settings: () => Settings): (request: IncomingMessage) => HttpProblem | undefined {
  let built: { readonly from: Settings; readonly names: ReadonlySet<string> } | undefined;
  let accepted: string | undefined;
  return (request) => {
    const from = settings();
    if (built?.from !== from) {
      built = { from, names: namesOf(from) };
      accepted = undefined;
    }
    const { host } = request.headers;
    if (host === undefined) return unknown;
    if (host === accepted) return undefined;
    const name = hostName(host);
    if (name === undefined) return unknown;
    if (built.names.has(name)) {
      accepted = host;
      return undefined;
    }
    return name === localName(request) ? undefined : unknown;
  };
}

function namesOf({ host, publicUrl, allowedHosts }: Settings): ReadonlySet<string> {
  const configured = [addressName(host), ...allowedHosts.map(addressName)];
  if (publicUrl !== undefined) configured.push(hostName(URL.parse(publicUrl)?.host ?? ""));
  return new Set([...loopback, ...configured.filter((name) => name !== undefined)]);
}

/** When the gateway listens on all addresses, the address that the client connected to is accepted. */
function localName({ socket: { localAddress = "" } }: IncomingMessage): string | undefined {
  return addressName(localAddress.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, ""));
}

/** Accepts IPv6 addresses without brackets. */
function addressName(address: string): string | undefined {
  return hostName(/^[^[\]]*:[^[\]]*:[^[\]]*$/.test(address) ? `[${address}]` : address);
}

/** The host name in lower case, normalized as in URLs, without port and final dot; `undefined` if it is not a host. */
function hostName(host: string): string | undefined {
  if (host === "" || /[/\\?#@\s]/.test(host)) return undefined;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "") || undefined;
}
