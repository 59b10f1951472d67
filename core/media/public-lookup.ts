/**
 * Looks up the public addresses of a host. Connect to these addresses only, because another look-up could return
 * others.
 */
import { ChannelError } from "../contract/index.ts";
import { blockOf, isWide, parseAddress } from "./address.ts";

export type Lookup = (host: string) => Promise<readonly string[]>;

export async function systemLookup(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const remedy = "only public addresses are fetched; put the file into the workspace and name its path";

function refuse(host: string, address: string, block: string): never {
  const what = host === address ? `${host} is` : `${host} is ${address},`;
  throw new ChannelError("address_not_public", { detail: `${what} an address of ${block}: ${remedy}` });
}

/**
 * Returns all addresses of a host, IPv4 first because it works everywhere. Throws if any of them is not public: a name
 * with both kinds is probably an attack.
 */
export async function publicAddresses(host: string, lookup: Lookup): Promise<readonly string[]> {
  const literal = parseAddress(host);
  let found: readonly string[];
  try {
    found = literal === undefined ? await lookup(host) : [host];
  } catch (error) {
    throw new ChannelError("host_unknown", { detail: `no address is known for ${host}`, cause: error });
  }
  if (found.length === 0) throw new ChannelError("host_unknown", { detail: `no address is known for ${host}` });
  const judged = found.map((address) => ({ address, parsed: parseAddress(address) }));
  for (const { address, parsed } of judged) {
    const block = parsed === undefined ? "an unknown kind" : blockOf(parsed);
    if (block !== undefined) refuse(host, address, block);
  }
  const version = ({ parsed }: (typeof judged)[number]) => (parsed !== undefined && isWide(parsed) ? 6 : 4);
  return judged.toSorted((a, b) => version(a) - version(b)).map(({ address }) => address);
}
