/**
 * An `undici` agent that connects to public addresses only. Each connection is checked, including those of redirects.
 */
import { Agent, buildConnector } from "undici";
import { type Lookup, publicAddresses, systemLookup } from "./public-lookup.ts";

const connectMs = 10_000;

export interface PublicAgentOptions {
  /** Returns all addresses of a host. Default: the system's look-up. */
  readonly lookup?: Lookup;
  /** Replaces the network in tests. */
  readonly connect?: buildConnector.connector;
}

export function createPublicAgent({ lookup = systemLookup, connect }: PublicAgentOptions = {}): Agent {
  const connector = connect ?? buildConnector({ timeout: connectMs });
  return new Agent({
    connect(options, callback) {
      const { hostname } = options;
      publicAddresses(hostname.replace(/^\[|\]$/g, ""), lookup).then(
        // Connects to the address that was checked, because a second look-up could return another.
        ([address = ""]) =>
          connector({ ...options, hostname: address, servername: options.servername ?? hostname }, callback),
        (error: Error) => callback(error, null),
      );
    },
  });
}
