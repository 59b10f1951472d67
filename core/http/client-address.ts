/** Determines the client's address: that of the socket, or the one reported by trusted proxies. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { isWide, parseAddress } from "../media/address.ts";

/** How many `X-Forwarded-For` entries are examined, from the right. */
const maxHops = 32;

/**
 * Normalizes an address: the shortest form, no zone, IPv4-mapped IPv6 as IPv4. Any other text is returned unchanged, in
 * lower case.
 */
export function normalizeAddress(address: string): string {
  // Most are IPv4 addresses, which have one form only.
  if (isIP(address) === 4) return address;
  const parsed = parseAddress(address.replace(/%.*$/, ""));
  if (parsed === undefined) return address.toLowerCase();
  return (isWide(parsed) && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed).toString();
}

/**
 * The key under which a client's failures are counted. For IPv6 it is the /64 network, because one subscriber owns all
 * of it.
 */
export function clientKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = parseAddress(address);
  if (parsed === undefined || !isWide(parsed)) return address;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** Parses an entry of `X-Forwarded-For` without port and brackets; `undefined` if it is not an address. */
function parseHop(text: string): string | undefined {
  const trimmed = text.trim();
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(trimmed)?.[1];
  const withPort = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(trimmed)?.[1];
  const address = normalizeAddress(bracketed ?? withPort ?? trimmed);
  return isIP(address) === 0 ? undefined : address;
}

function buildTrusted(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.trim().split("/");
    const plain = normalizeAddress(address);
    const version = isIP(plain);
    if (version === 0) continue;
    const family = version === 4 ? "ipv4" : "ipv6";
    const widest = version === 4 ? 32 : 128;
    // The prefix of an IPv4 network in IPv6 notation is 96 bits longer.
    const mapped = version === 4 && address.includes(":");
    const prefix = bits === undefined ? widest : Number(bits) - (mapped ? 96 : 0);
    if (Number.isInteger(prefix) && prefix >= 0 && prefix <= widest) list.addSubnet(plain, prefix, family);
  }
  return list;
}

/**
 * Returns a function that checks whether an address from `createClientAddress` matches one of the entries, which are
 * addresses and CIDR ranges.
 */
export function createAddressList(entries: readonly string[]): (address: string) => boolean {
  const list = buildTrusted(entries);
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** The problem of one entry of `gateway.trustedProxies`; `undefined` if it is an address or a CIDR range. */
export function checkTrustedProxy(entry: string): string | undefined {
  const [address = "", bits, more] = entry.trim().split("/");
  const version = isIP(normalizeAddress(address));
  if (version === 0 || more !== undefined) return "must be an IP address or a CIDR range";
  if (bits === undefined) return undefined;
  const widest = isIP(address) === 4 ? 32 : 128;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= widest ? undefined : `must have a prefix length from 0 to ${widest}`;
}

/**
 * Creates the function that determines the client of a request. It reads `trusted` at each call, so that a reload takes
 * effect at once. `onInvalid` is called for each entry that is ignored.
 */
export function createClientAddress(
  trusted: () => readonly string[],
  onInvalid: (entry: string, reason: string) => void = () => {},
): (request: IncomingMessage) => string {
  let entries: readonly string[] | undefined;
  let list = new BlockList();
  const isTrusted = (address: string): boolean => list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return (request) => {
    const current = trusted();
    if (current !== entries) {
      entries = current;
      list = buildTrusted(current);
      for (const entry of current) {
        const reason = checkTrustedProxy(entry);
        if (reason !== undefined) onInvalid(entry, reason);
      }
    }
    let client = normalizeAddress(request.socket.remoteAddress ?? "unknown");
    const forwarded = request.headers["x-forwarded-for"];
    if (current.length === 0 || forwarded === undefined || isIP(client) === 0) return client;
    const hops = (typeof forwarded === "string" ? forwarded : forwarded.join(",")).split(",").slice(-maxHops);
    while (isTrusted(client)) {
      const text = hops.pop();
      const hop = text === undefined ? undefined : parseHop(text);
      // A trusted proxy does not write invalid addresses, so the last trusted hop is the client.
      if (hop === undefined) break;
      client = hop;
    }
    return client;
  };
}
