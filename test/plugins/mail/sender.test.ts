import { describe, expect, test } from "vitest";
import { automatedBy } from "../../../plugins/mail/automated.ts";
import { describeMail, judgeSender } from "../../../plugins/mail/sender.ts";

const grace = [{ name: "Grace", address: "grace@example.org" }];

function judge(fields: readonly (readonly [string, string])[], from: readonly { readonly address?: string }[] = grace) {
  return judgeSender({ from, headers: fields.map(([name, value]) => ({ name, value })) }, ["mx.example.net"]);
}

const sender = ["from", "Grace <grace@example.org>"] as const;
const results = (value: string) => ["authentication-results", value] as const;

describe("a sender is verified", () => {
  test.each([
    ["by DMARC", "mx.example.net; dmarc=pass (p=REJECT) header.from=example.org"],
    ["by DMARC, with a version and in upper case", "MX.Example.NET 1; DMARC=PASS header.from=Example.org"],
    ["by a signature of its domain", "mx.example.net; dkim=pass header.d=example.org header.s=x; spf=fail"],
    ["by a signature that names an identity only", "mx.example.net; dkim=pass header.i=@example.org"],
    ["by a signature of the domain above", "mx.example.net; dkim=pass header.d=example.org"],
  ])("%s", (_, value) => {
    expect(judge([results(value), sender])).toEqual({ result: "pass", domain: "example.org", by: "mx.example.net" });
  });
});

test("a sender is verified if the name contains a single quote, as some programs write it", () => {
  const fields = [results("mx.example.net; dmarc=pass"), ["from", '5" discs <grace@example.org>']] as const;
  expect(judge(fields)).toMatchObject({ result: "pass", domain: "example.org" });
});

describe("a sender is not verified", () => {
  test.each<
    [why: string, fields: readonly (readonly [string, string])[], from?: readonly { readonly address?: string }[]]
  >([
    ["when no header says so", [sender]],
    ["by a server that is not known", [results("mx.evil.example; dmarc=pass header.from=example.org"), sender]],
    [
      "by a name that only begins like a known one",
      [results("mx.example.net.evil.example; dmarc=pass header.from=example.org"), sender],
    ],
    ["by the text of a comment", [results("mx.evil.example (mx.example.net; dmarc=pass); dmarc=none"), sender]],
    ["by a result in a comment", [results("mx.example.net; dmarc=none (dmarc=pass; x) (; dmarc=pass)"), sender]],
    [
      "by a result in quotes",
      [results('mx.example.net; dmarc=none reason="; dmarc=pass header.from=example.org"'), sender],
    ],
    [
      "by the result of the sender below that of the server",
      [results("mx.example.net; dmarc=none"), results("mx.example.net; dmarc=pass"), sender],
    ],
    ["by a signature of another domain", [results("mx.example.net; dkim=pass header.d=example.com"), sender]],
    [
      "by a signature of a domain whose name ends alike",
      [results("mx.example.net; dkim=pass header.d=ample.org"), sender],
    ],
    ["by a signature of a top-level domain", [results("mx.example.net; dkim=pass header.d=org"), sender]],
    ["by DMARC of another domain", [results("mx.example.net; dmarc=pass header.from=example.com"), sender]],
    ["by SPF alone", [results("mx.example.net; spf=pass smtp.mailfrom=example.org"), sender]],
    ["when the mail has two From fields", [results("mx.example.net; dmarc=pass"), sender, ["from", "eve@example.com"]]],
    [
      "when From has two addresses",
      [results("mx.example.net; dmarc=pass"), ["from", "grace@example.org, eve@example.com"]],
    ],
    ["when From is a group", [results("mx.example.net; dmarc=pass"), ["from", "Friends: grace@example.org;"]]],
    [
      "when the server read another address",
      [results("mx.example.net; dmarc=pass"), sender],
      [{ address: "eve@example.com" }],
    ],
    [
      "when the server read two",
      [results("mx.example.net; dmarc=pass"), sender],
      [...grace, { address: "eve@example.com" }],
    ],
  ])("%s", (_, fields, from) => {
    expect(judge(fields, from).result).toBe("none");
  });

  test("when the name contains another address", () => {
    const eve = [{ name: "grace@example.org", address: "eve@example.com" }];
    for (const field of [
      '"grace@example.org" <eve@example.com>',
      "=?utf-8?q?grace=40example=2Eorg?= <eve@example.com>",
    ]) {
      const verdict = judge([results("mx.example.net; dmarc=pass header.from=example.com"), ["from", field]], eve);
      expect(verdict).toEqual({ result: "pass", domain: "example.com", by: "mx.example.net" });
    }
  });

  test("and is reported as forged when its own domain says so", () => {
    const verdict = judge([
      results("mx.example.net; dkim=pass header.d=example.org; dmarc=fail header.from=example.org"),
      sender,
    ]);
    expect(verdict.result).toBe("fail");
    expect(describeMail(verdict, { automated: false, hidden: undefined })).toBe(
      "The mail server mx.example.net says that the sender's address is forged.",
    );
  });
});

test.each([
  ["auto-submitted", "auto-replied", "Auto-Submitted"],
  ["auto-submitted", "no", false],
  ["list-id", "<team.example.org>", "List-Id"],
  ["list-unsubscribe", "<https://example.org/>", "List-Unsubscribe"],
  ["precedence", "Bulk", "Precedence"],
  ["precedence", "first-class", false],
  ["x-auto-response-suppress", "All", "X-Auto-Response-Suppress"],
  ["return-path", "<>", "Return-Path"],
  ["return-path", "<grace@example.org>", false],
  ["content-type", "multipart/report; report-type=delivery-status", "multipart/report"],
])("a mail with the header %s: %s counts as automated: %s", (name, value, why) => {
  expect(automatedBy([{ name, value }])).toBe(why);
});
