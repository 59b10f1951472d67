/**
 * Decides which network addresses are public. It compares parsed addresses, so that alternative spellings make no
 * difference. Pure.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The dotted end of an IPv6 address as two groups, because the library reads `::192.0.2.1` as `::ffff:192.0.2.1`. */
const withoutDots = (text: string): string =>
  text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_dotted, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });

/**
 * Parses an address; `undefined` if the text is not one. Zones (`%eth0`) are rejected, because they name an interface
 * of this machine, and so are forms with octal or missing parts, which programs read in different ways.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.includes("%")) return undefined;
  const version = isIP(text);
  if (version === 6) return ipaddr.IPv6.parse(withoutDots(text));
  return version === 4 ? ipaddr.IPv4.parse(text) : undefined;
}

/** Whether it is an IPv6 address. */
export const isWide = (address: Address): address is ipaddr.IPv6 => address.kind() === "ipv6";

interface Block {
  readonly range: [Address, number];
  readonly name: string;
}

const block = (cidr: string, name: string): Block => ({ range: ipaddr.parseCIDR(cidr), name: `${name} (${cidr})` });

/** Whether the block contains the address, which is of the same version. */
const holds = ({ range }: Block, address: Address): boolean => address.match(range);

/**
 * The special-purpose registries, plus multicast and reserved blocks. The few routable ones among them serve no files.
 */
const special4 = [
  block("0.0.0.0/8", "this network"),
  block("10.0.0.0/8", "a private network"),
  block("100.64.0.0/10", "the shared addresses of a provider"),
  block("127.0.0.0/8", "this machine"),
  block("169.254.0.0/16", "the local link"),
  // Formally public, but answered inside each machine of that cloud, by its metadata service and agent.
  block("168.63.129.16/32", "the platform of a cloud"),
  block("172.16.0.0/12", "a private network"),
  block("192.0.0.0/24", "protocol assignments"),
  block("192.0.2.0/24", "documentation"),
  block("192.31.196.0/24", "a name service sink"),
  block("192.52.193.0/24", "multicast relays"),
  block("192.88.99.0/24", "tunnel relays"),
  block("192.168.0.0/16", "a private network"),
  block("192.175.48.0/24", "a name service sink"),
  block("198.18.0.0/15", "benchmarks"),
  block("198.51.100.0/24", "documentation"),
  block("203.0.113.0/24", "documentation"),
  block("224.0.0.0/4", "multicast"),
  block("240.0.0.0/4", "reserved addresses"),
];

const special6 = [
  block("::/128", "no address"),
  block("::1/128", "this machine"),
  block("64:ff9b:1::/48", "a local translation to IPv4"),
  block("100::/64", "discarded addresses"),
  block("100:0:0:1::/64", "dummy addresses"),
  block("2001::/32", "a tunnel"),
  block("2001:2::/48", "benchmarks"),
  block("2001::/23", "protocol assignments"),
  block("2001:db8::/32", "documentation"),
  block("2002::/16", "a tunnel"),
  block("2620:4f:8000::/48", "a name service sink"),
  block("3fff::/20", "documentation"),
  block("5f00::/16", "segment routing"),
  block("fc00::/7", "a private network"),
  block("fe80::/10", "the local link"),
  block("fec0::/10", "a private network"),
  block("ff00::/8", "multicast"),
];

const mapped = block("::ffff:0:0/96", "IPv4 in IPv6");
const translated = block("64:ff9b::/96", "a translation to IPv4");
const compatible = block("::/96", "IPv4 in IPv6");
/** The block from which all public IPv6 addresses have been assigned. */
const unicast = block("2000::/3", "public addresses");

/** The IPv4 address in the last 32 bits. */
const embedded = ({ parts }: ipaddr.IPv6): ipaddr.IPv4 =>
  new ipaddr.IPv4(parts.slice(6).flatMap((part) => [part >> 8, part & 255]));

/** Whether the interface id tunnels to an IPv4 address, whatever the network prefix (RFC 5214). */
function isTunnel({ parts: [, , , , first, second] }: ipaddr.IPv6): boolean {
  return (first === 0 || first === 0x200) && second === 0x5efe;
}

/**
 * The name of the special-purpose block that contains the address or its embedded IPv4 address; `undefined` if the
 * address is public.
 */
export function blockOf(address: Address): string | undefined {
  if (!isWide(address)) return special4.find((each) => holds(each, address))?.name;
  const found = special6.find((each) => holds(each, address));
  if (found !== undefined) return found.name;
  if (holds(mapped, address) || holds(translated, address)) return blockOf(embedded(address));
  if (holds(compatible, address)) return compatible.name;
  if (!holds(unicast, address)) return "reserved addresses";
  return isTunnel(address) ? blockOf(embedded(address)) : undefined;
}

/** Names that are resolved in the own network only, such as those of services in a container network. */
const localName = /^[^.]+$|\.(?:local|lan|internal|home\.arpa|localhost)$/i;

/** Whether a host of a URL is this machine or one of its own network, as far as its name shows. */
export function isPrivateHost(host: string): boolean {
  const address = parseAddress(host.replace(/^\[(.*)\]$/, "$1"));
  return address === undefined ? localName.test(host) : blockOf(address) !== undefined;
}
