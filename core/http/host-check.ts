/** The `Host` of a request: a page whose own name was pointed at this machine must reach nothing here. */
import type { IncomingMessage } from "node:http";
import type { GatewayConfig } from "../config/index.ts";
import { HttpProblem } from "./problem.ts";

type Settings = Pick<GatewayConfig["gateway"], "host" | "publicUrl" | "allowedHosts">;

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

const unknown = new HttpProblem(
  "host_unknown",
  "The Host header names no host of this gateway. Set gateway.publicUrl to its public address, or add the host to gateway.allowedHosts.",
);

/** Ports are not compared: the name alone shows whether a page of another site sent the request. */
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

/** A gateway that listens on every address is bound to the one that the client connected to. */
function localName({ socket: { localAddress = "" } }: IncomingMessage): string | undefined {
  return addressName(localAddress.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, ""));
}

/** An address of IPv6 may lack its brackets here. */
function addressName(address: string): string | undefined {
  return hostName(/^[^[\]]*:[^[\]]*:[^[\]]*$/.test(address) ? `[${address}]` : address);
}

/** In lower case, in the spelling of URLs, without port and without the dot at the end. `undefined`: it is not a host. */
function hostName(host: string): string | undefined {
  if (host === "" || /[/\\?#@\s]/.test(host)) return undefined;
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "") || undefined;
}
