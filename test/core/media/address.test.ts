import { describe, expect, test } from "vitest";
import { blockOf, parseAddress } from "../../../core/media/address.ts";

function judge(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? "no address" : blockOf(address);
}

/** First and last address of a block, and the public ones next to it, where there are. */
const blocks4: readonly (readonly [string, string, string, ...string[]])[] = [
  ["0.0.0.0/8", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0/8", "127.0.0.1", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16/32", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0/16", "169.254.0.0", "169.254.169.254", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0/24", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
  ["192.31.196.0/24", "192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"],
  ["192.52.193.0/24", "192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"],
  ["192.88.99.0/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["192.175.48.0/24", "192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"],
  ["198.18.0.0/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0/4", "224.0.0.0", "239.255.255.255", "223.255.255.255"],
  ["240.0.0.0/4", "240.0.0.0", "255.255.255.255"],
];

const blocks6: typeof blocks4 = [
  ["::/128", "::", "::"],
  ["::1/128", "::1", "0:0:0:0:0:0:0:1"],
  ["::/96", "::2", "::8.8.8.8"],
  ["64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::/64", "100::", "100::ffff:ffff:ffff:ffff"],
  ["100:0:0:1::/64", "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"],
  ["2001::/32", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001::/23", "2001:1::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
  ["2001:2::/48", "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
  ["2002::/16", "2002::", "2002:808:808::1", "2003::"],
  ["2620:4f:8000::/48", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:7fff::", "2620:4f:8001::"],
  ["3fff::/20", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe::", "3fff:1000::"],
  ["5f00::/16", "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fec0::/10", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

describe("addresses are judged by their bytes", () => {
  test.each([...blocks4, ...blocks6])(
    "%s is not public from %s to %s, but its neighbours are",
    (cidr, first, last, ...outside) => {
      expect(judge(first)).toContain(`(${cidr})`);
      expect(judge(last)).toMatch(/\(/);
      for (const each of outside) expect([each, judge(each)]).toEqual([each, undefined]);
    },
  );

  test.each(blocks4)(
    "%s is not public inside IPv6: mapped, translated or tunnelled, in decimal or hexadecimal form",
    (_cidr, first, last, ..._outside) => {
      for (const inner of [first, last]) {
        const [a = 0, b = 0, c = 0, d = 0] = inner.split(".").map(Number);
        const digits = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const forms = [
          `::ffff:${inner}`,
          `::ffff:${digits}`,
          `0:0:0:0:0:ffff:${digits}`,
          `::${inner}`,
          `64:ff9b::${inner}`,
          `64:ff9b::${digits}`,
          `64:ff9b:1::${digits}`,
          `2002:${digits}::1`,
          `2001:0:4136:e378:8000:63bf:${digits}`,
          `2a00:1450:4001:81b:0:5efe:${digits}`,
          `2a00:1450:4001:81b:200:5efe:${inner}`,
        ];
        for (const form of forms) expect([form, judge(form) === undefined]).toEqual([form, false]);
      }
    },
  );

  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "2a00:1450:4001:81b::200e",
    "2606:4700::6810:84e5",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
    "2a00::5efe:8.8.8.8",
  ])("%s is public", (text) => expect(judge(text)).toBeUndefined());

  test.each(["4000::", "200::1", "8000::1", "e000::1"])("%s was never allocated", (text) =>
    expect(judge(text)).toBe("reserved addresses"),
  );

  test.each(["", "localhost", "127.1", "0x7f.1", "2130706433", "1.2.3.256", "fe80::1%lo", "12345::", "1::2::3"])(
    "%j is not an address",
    (text) => expect(parseAddress(text)).toBeUndefined(),
  );
});
