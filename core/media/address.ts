/** Decides which network addresses are public. It compares bytes, so that alternative spellings make no difference. Pure. */
import { isIPv4, isIPv6 } from "node:net";

/** Splits an IPv6 address into 16-bit words. It may end in a dotted IPv4 address. */
function wordsOf(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/**
 * Parses an address to 4 or 16 bytes; `undefined` if the text is not an address. Zones (`%eth0`) are rejected, because they name an
 * interface of this machine.
 */
export function bytesOf(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split("."), Number);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const [left = "", right] = text.split("::");
  const head = wordsOf(left);
  const tail = right === undefined ? [] : wordsOf(right);
  const words = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
  return Uint8Array.from(words.flatMap((word) => [word >> 8, word & 255]));
}

interface Block {
  readonly bytes: Uint8Array;
  readonly bits: number;
  readonly name: string;
}

function block(cidr: string, name: string): Block {
  const [address = "", bits = ""] = cidr.split("/");
  return { bytes: bytesOf(address) ?? new Uint8Array(), bits: Number(bits), name: `${name} (${cidr})` };
}

function holds({ bytes, bits }: Block, address: Uint8Array): boolean {
  return bytes.every((byte, index) => {
    const known = Math.min(Math.max(bits - index * 8, 0), 8);
    const mask = (0xff << (8 - known)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}

/** The special-purpose registries, plus multicast and reserved blocks. The few routable ones among them serve no files. */
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

/** Returns the IPv4 address in an interface id that tunnels to it, whatever the network prefix. */
function tunnelled(address: Uint8Array): Uint8Array | undefined {
  const [a, b, c, d] = address.subarray(8, 12);
  return (a === 0 || a === 2) && b === 0 && c === 0x5e && d === 0xfe ? address.subarray(12) : undefined;
}

/** The name of the special-purpose block that contains the address or its embedded IPv4 address; `undefined` if the address is public. */
export function blockOf(address: Uint8Array): string | undefined {
  if (address.length === 4) return special4.find((each) => holds(each, address))?.name;
  if (address.length !== 16) return "no address";
  const found = special6.find((each) => holds(each, address));
  if (found !== undefined) return found.name;
  if (holds(mapped, address) || holds(translated, address)) return blockOf(address.subarray(12));
  if (holds(compatible, address)) return compatible.name;
  if (!holds(unicast, address)) return "reserved addresses";
  const inside = tunnelled(address);
  return inside === undefined ? undefined : blockOf(inside);
}
