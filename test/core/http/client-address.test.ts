import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import {
  checkTrustedProxy,
  clientKey,
  createClientAddress,
  normalizeAddress,
} from "../../../core/http/client-address.ts";

const client = (trusted: readonly string[], remote: string, forwarded?: string): string =>
  createClientAddress(() => trusted)({
    socket: { remoteAddress: remote },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  } as unknown as IncomingMessage);

describe("the client of a request", () => {
  test.each([
    ["no trusted proxy: the header is not believed", [], "10.0.0.1", "1.1.1.1", "10.0.0.1"],
    ["a stranger's header is not believed", ["10.0.0.0/8"], "203.0.113.5", "1.1.1.1", "203.0.113.5"],
    ["the proxy's word is believed", ["10.0.0.1"], "10.0.0.1", "1.1.1.1", "1.1.1.1"],
    [
      "the first untrusted hop from the right counts, not what a client put before it",
      ["10.0.0.0/8"],
      "10.0.0.1",
      "127.0.0.1, 6.6.6.6, 1.1.1.1, 10.9.9.9",
      "1.1.1.1",
    ],
    ["all hops trusted: the leftmost", ["10.0.0.0/8"], "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["a hop that is not an address ends the search", ["10.0.0.0/8"], "10.0.0.1", "1.1.1.1, junk", "10.0.0.1"],
    ["ports and brackets are left out", ["10.0.0.1", "fd00::/8"], "10.0.0.1", "1.1.1.1:443, [fd00::1]:80", "1.1.1.1"],
    ["an IPv4-mapped proxy is the IPv4 one", ["10.0.0.1"], "::ffff:10.0.0.1", "::ffff:1.1.1.1", "1.1.1.1"],
    ["an IPv6 range", ["2001:db8::/32"], "2001:db8::5", "2001:DB8:1::9, 2606:4700::1", "2606:4700::1"],
    ["a range in mapped form", ["::ffff:10.0.0.0/104"], "10.2.3.4", "1.1.1.1", "1.1.1.1"],
    ["an empty header", ["10.0.0.1"], "10.0.0.1", "", "10.0.0.1"],
  ] as const)("%s", (_name, trusted, remote, forwarded, expected) => {
    expect(client(trusted, remote, forwarded)).toBe(expected);
  });

  test("a changed list applies at once", () => {
    let trusted: readonly string[] = [];
    const address = createClientAddress(() => trusted);
    const request = {
      socket: { remoteAddress: "10.0.0.1" },
      headers: { "x-forwarded-for": "1.1.1.1" },
    } as unknown as IncomingMessage;
    expect(address(request)).toBe("10.0.0.1");
    trusted = ["10.0.0.1"];
    expect(address(request)).toBe("1.1.1.1");
  });

  test("a client has only one spelling", () => {
    expect(normalizeAddress("::FFFF:1.2.3.4")).toBe("1.2.3.4");
    expect(normalizeAddress("::ffff:0102:0304")).toBe("1.2.3.4");
    expect(normalizeAddress("FE80::1%eth0")).toBe("fe80::1");
  });

  test("an IPv6 subscriber has one budget for the whole network", () => {
    expect(clientKey("1.2.3.4")).toBe("1.2.3.4");
    expect(clientKey("2001:db8:0:1::5")).toBe(clientKey("2001:db8:0:1:aaaa:bbbb:cccc:dddd"));
    expect(clientKey("2001:db8:0:1::5")).not.toBe(clientKey("2001:db8:0:2::5"));
    expect(clientKey("2001:0db8::1")).toBe(clientKey("2001:db8::2"));
    expect(clientKey("::1")).toBe("0:0:0:0::/64");
  });

  test("a configured entry is an address or a range", () => {
    for (const good of ["10.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32"])
      expect(checkTrustedProxy(good), good).toBeUndefined();
    for (const bad of ["proxy", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/8/8", "", "::1/129"])
      expect(checkTrustedProxy(bad), bad).toMatch(/^must /);
  });
});
