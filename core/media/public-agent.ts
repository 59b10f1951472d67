/** Connections of `undici` to public addresses only. Each connection is judged, those of redirects included. */
import { Agent, buildConnector } from "undici";
import { type Lookup, publicAddresses, systemLookup } from "./public-lookup.ts";

const connectMs = 10_000;

export interface PublicAgentOptions {
  /** All addresses of a host; default the system's. */
  readonly lookup?: Lookup;
  /** For tests, in place of the network. */
  readonly connect?: buildConnector.connector;
}

export function createPublicAgent({ lookup = systemLookup, connect }: PublicAgentOptions = {}): Agent {
  const connector = connect ?? buildConnector({ timeout: connectMs });
  return new Agent({
    connect(options, callback) {
      const { hostname } = options;
      publicAddresses(hostname.replace(/^\[|\]$/g, ""), lookup).then(
        // To the address that was judged: another question could bring another answer.
        ([address = ""]) => connector({ ...options, hostname: address, servername: options.servername ?? hostname }, callback),
        (error: Error) => callback(error, null),
      );
    },
  });
}
