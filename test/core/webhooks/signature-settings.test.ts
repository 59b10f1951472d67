import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { showConfigValue } from "../../../core/config/editing/values.ts";
import { SignatureError } from "../../../core/webhooks/signature/compiled-signature.ts";
import { type SignatureSettings, schemes } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";
import { publicUrl, senderOf } from "../../support/senders.ts";
import { errorsOf, load } from "../config/fixture.ts";

const now = 1_760_000_000_000;
const asText = 'if the sender uses it as text, set secretEncoding: "text"';

function refusal(settings: SignatureSettings, secrets: readonly string[] = ["a secret"]): string {
  try {
    compileSignature(settings, secrets);
  } catch (error) {
    if (error instanceof SignatureError) return `${error.key} ${error.message}`;
    throw error;
  }
  return "taken";
}

describe("secrets of a signature", () => {
  test("are refused by every scheme if one is blank, or if the list is empty or too long", () => {
    for (const scheme of [...Object.keys(schemes), "hmac"] as SignatureSettings["scheme"][]) {
      const settings = scheme === "hmac" ? { scheme, header: "X-Signature" } : { scheme };
      for (const blank of ["", " ", "\t\n", "\u00a0", "\u2003"]) {
        expect(refusal(settings, [blank]), scheme).toBe("secret is blank");
        expect(refusal(settings, ["good", blank]), scheme).toBe("secret is blank");
      }
      expect(refusal(settings, []), scheme).toBe("secret is missing");
      expect(refusal(settings, Array(9).fill("x")), scheme).toBe("secret is a list of more than 8");
    }
  });

  test("are refused without being quoted if they are not a key of the scheme", () => {
    const cases: readonly (readonly [SignatureSettings, string, string])[] = [
      [{ scheme: "standard-webhooks" }, "not base64!", `secret is not base64 after whsec_; ${asText}`],
      [{ scheme: "standard-webhooks" }, "whsec_", `secret is not base64 after whsec_; ${asText}`],
      [{ scheme: "standard-webhooks" }, "whsec_abc", "secret is a key of fewer than 8 bytes, so it is not used"],
      [{ scheme: "standard-webhooks" }, "whsec_abcde", `secret is not base64 after whsec_; ${asText}`],
      [{ scheme: "standard-webhooks" }, "whpk_abcd", "secret is not a public key of 32 bytes in base64"],
      [
        { scheme: "standard-webhooks" },
        "whsk_abcd",
        "secret is a private key (whsk_...): use the public key (whpk_...)",
      ],
      [{ scheme: "discord" }, "abcd", "secret is not a public key of 32 bytes in hex"],
      [{ scheme: "discord" }, "zz".repeat(32), "secret is not a public key of 32 bytes in hex"],
      [{ scheme: "hmac", header: "X-S", secretEncoding: "hex" }, "abc", "secret is not hexadecimal"],
      [{ scheme: "hmac", header: "X-S", secretEncoding: "base64" }, "a-b_", "secret is not base64"],
    ];
    for (const [settings, secret, message] of cases) expect(refusal(settings, [secret]), secret).toBe(message);
    expect(refusal({ scheme: "gitlab" }, ["a token", "whsec_YWJj"])).toContain(
      "mixes secret tokens and signing tokens",
    );
  });
});

describe("signatures in a configuration", () => {
  const configWith = (signature: object) =>
    load({
      hooks: {
        enabled: true,
        token: "hook-token-of-the-test",
        mappings: [{ match: { path: "x" }, messageTemplate: "m", signature }],
      },
    });

  test("accept one secret or a list of up to eight, in any form, and never show them", async () => {
    for (const secret of [
      "SECRET",
      { env: "SECRET" },
      ["SECRET"],
      ["SECRET", { env: "SECRET" }, { file: "SECRET" }],
      Array(8).fill("SECRET"),
    ]) {
      const loaded = await configWith({ scheme: "github", secret });
      expect(errorsOf(loaded), JSON.stringify(secret)).toEqual([]);
      expect(loaded.config.hooks.mappings[0]?.signature?.secret).toEqual(secret);
      expect(JSON.stringify(showConfigValue(loaded.config, ""))).not.toContain("SECRET");
    }
  });

  test("reject a secret of an invalid form without quoting it", async () => {
    for (const secret of [
      "",
      [],
      ["SECRET", ""],
      [["SECRET"]],
      Array(9).fill("SECRET"),
      { env: "" },
      { value: "SECRET" },
      1234567,
      null,
    ]) {
      const [problem] = errorsOf(await configWith({ scheme: "github", secret }));
      expect(problem?.path, JSON.stringify(secret)).toMatch(/^hooks\.mappings\[0\]\.signature\.secret/);
      expect(JSON.stringify(problem)).not.toMatch(/"SECRET"|1234567/);
    }
  });

  test("can name every scheme in the table", async () => {
    for (const scheme of Object.keys(schemes))
      expect(errorsOf(await configWith({ scheme, secret: "a-secret-of-some-length" })), scheme).toEqual([]);
    expect(errorsOf(await configWith({ scheme: "githab", secret: "a-secret-of-some-length" }))[0]?.message).toContain(
      'is "githab"',
    );
  });
});

describe("options of a signature", () => {
  test("of hmac are rejected for other schemes, and so is url if the scheme does not sign an address", () => {
    expect(refusal({ scheme: "github", header: "X-Signature" })).toBe(
      "header belongs to the schemes hmac and public-key only",
    );
    expect(refusal({ scheme: "stripe", payload: "{body}" })).toBe(
      "payload belongs to the schemes hmac and public-key only",
    );
    expect(refusal({ scheme: "github", url: publicUrl })).toContain("url has no effect");
    expect(refusal({ scheme: "hmac", header: "X-S", url: publicUrl })).toContain("url has no effect");
  });

  test("for hmac require a header and a payload that is fully signed and unambiguous", () => {
    const hmac = { scheme: "hmac", header: "X-S" } as const;
    expect(refusal({ scheme: "hmac" })).toContain("header is missing");
    expect(refusal({ ...hmac, payload: "{timestamp}", timestampHeader: "X-T" })).toContain(
      "payload must contain {body}",
    );
    expect(refusal({ ...hmac, payload: "{timestamp}.{body}" })).toContain(
      "payload must contain {timestamp} exactly when timestampHeader is set",
    );
    expect(refusal({ ...hmac, timestampHeader: "X-T" })).toContain(
      "payload must contain {timestamp} exactly when timestampHeader is set",
    );
    expect(refusal({ ...hmac, payload: "{id}.{body}" })).toContain("idHeader is missing");
    expect(refusal({ ...hmac, payload: "{id}{body}", idHeader: "X-I" })).toContain(
      "payload must have a character or {timestamp} after {id}",
    );
    for (const payload of ["{body}{nonce}", "{body}{form}", "{body}}", "{{body}}", "{Body}", "{body}{constructor}"]) {
      expect(refusal({ ...hmac, payload }), payload).toContain(
        "which is none of {body}, {timestamp}, {id}, {method} and {url}",
      );
    }
    expect(refusal({ ...hmac, payload: "v1:{timestamp}:{id}:{body}", timestampHeader: "X-T", idHeader: "X-I" })).toBe(
      "taken",
    );
  });

  test("allow only an http or https public address without a query or credentials", () => {
    for (const url of [
      "hooks.example.com",
      "/hooks/x",
      "ftp://a/b",
      "https://u:p@a/b",
      "https://a/b?c=d",
      "https://a/b#c",
      "https://a/ b",
      "",
    ]) {
      expect(refusal({ scheme: "twilio", url }), url).toContain("url must be an http or https address");
    }
    expect(refusal({ scheme: "twilio", url: publicUrl })).toBe("taken");
  });

  test("set the algorithm, encoding and prefix for an unlisted sender", () => {
    const body = Buffer.from("{}");
    for (const algorithm of ["sha1", "sha256", "sha384", "sha512"] as const) {
      for (const encoding of ["hex", "base64", "base64url"] as const) {
        const { verify } = compileSignature({ scheme: "hmac", header: "X-S", algorithm, encoding, prefix: "sig=" }, [
          "k",
        ]);
        const value = createHmac(algorithm, "k").update(body).digest(encoding);
        const judge = (text: string) => verify({ headers: { "x-s": text }, body, url: "/", now }).ok;
        expect(judge(`sig=${value}`), `${algorithm} ${encoding}`).toBe(true);
        for (const other of [value, `SIG=${value}`, `sig=${value}A`, `sig=sig=${value}`])
          expect(judge(other), other).toBe(false);
      }
    }
  });

  test("accept only canonical base64: full padding, no spare bits, no other alphabet", () => {
    const { verify } = compileSignature({ scheme: "hmac", header: "X-S", encoding: "base64" }, ["k"]);
    const judge = (text: string, body: string) =>
      verify({ headers: { "x-s": text }, body: Buffer.from(body), url: "/", now }).ok;
    for (let count = 0; count < 50; count += 1) {
      const value = createHmac("sha256", "k").update(String(count)).digest("base64");
      expect(judge(value, String(count))).toBe(true);
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      const last = alphabet[alphabet.indexOf(value[42] ?? "") ^ 1] ?? "";
      for (const other of [
        value.slice(0, -1),
        `${value}=`,
        `${value.slice(0, 42)}${last}=`,
        `${value.slice(0, 20)}\n${value.slice(20)}`,
      ]) {
        expect(judge(other, String(count)), other).toBe(false);
      }
      if (/[+/]/.test(value)) expect(judge(value.replaceAll("+", "-").replaceAll("/", "_"), String(count))).toBe(false);
    }
  });
});

describe("a signed address", () => {
  const token = "12345";
  const form = "application/x-www-form-urlencoded";
  const body = "Digits=1234&To=%2B18005551212";
  const signFor = (url: string) => createHmac("sha1", token).update(`${url}Digits1234To+18005551212`).digest("base64");
  const judge = (options: {
    readonly signedUrl: string;
    readonly url: string;
    readonly host?: string;
    readonly configured?: string;
  }) =>
    compileSignature({ scheme: "twilio", ...(options.configured === undefined ? {} : { url: options.configured }) }, [
      token,
    ]).verify({
      headers: {
        "x-twilio-signature": signFor(options.signedUrl),
        "content-type": form,
        ...(options.host === undefined ? {} : { host: options.host }),
      },
      body: Buffer.from(body),
      url: options.url,
      now,
    }).ok;

  test("comes from the request, or behind a proxy from the configuration, including the query", () => {
    const host = "hooks.example.com";
    expect(judge({ signedUrl: "https://hooks.example.com/hooks/sms?a=1&b=2", url: "/hooks/sms?a=1&b=2", host })).toBe(
      true,
    );
    expect(judge({ signedUrl: "http://hooks.example.com/hooks/sms", url: "/hooks/sms", host })).toBe(true);
    expect(judge({ signedUrl: "https://hooks.example.com/hooks/sms?b=2&a=1", url: "/hooks/sms?a=1&b=2", host })).toBe(
      false,
    );
    expect(judge({ signedUrl: "https://hooks.example.com/hooks/sms", url: "/hooks/sms?a=1", host })).toBe(false);
    expect(
      judge({ signedUrl: `${publicUrl}?a=1`, url: "/hooks/sms?a=1", host: "127.0.0.1:18789", configured: publicUrl }),
    ).toBe(true);
    expect(
      judge({
        signedUrl: "https://127.0.0.1:18789/hooks/sms",
        url: "/hooks/sms",
        host: "127.0.0.1:18789",
        configured: publicUrl,
      }),
    ).toBe(false);
    for (const strange of ["a b", "a/b", "a@b", "", "x".repeat(256)]) {
      expect(judge({ signedUrl: `https://${strange}/hooks/sms`, url: "/hooks/sms", host: strange }), strange).toBe(
        false,
      );
    }
    expect(judge({ signedUrl: "https://hooks.example.com/hooks/sms", url: "/hooks/sms" })).toBe(false);
  });

  test("is accepted with and without its port", () => {
    for (const [signedUrl, configured] of [
      ["https://a.example:443/x", "https://a.example/x"],
      ["https://a.example/x", "https://a.example:443/x"],
      ["http://a.example:80/x", "http://a.example/x"],
      ["https://a.example:8443/x", "https://a.example:8443/x"],
      ["https://a.example/x", "https://a.example:8443/x"],
    ] as const) {
      expect(judge({ signedUrl, configured, url: "/hooks/sms" }), signedUrl).toBe(true);
    }
    expect(judge({ signedUrl: "https://a.example:444/x", configured: "https://a.example/x", url: "/hooks/sms" })).toBe(
      false,
    );
  });

  test("covers a form by its sorted names and unique values, and another body by a digest in the address", () => {
    const sms = compileSignature({ scheme: "twilio", url: publicUrl }, [token]);
    const sign = (text: string) => createHmac("sha1", token).update(text).digest("base64");
    const verify = (text: string, sent: string, url = "/hooks/sms") =>
      sms.verify({ headers: { "x-twilio-signature": sign(text) }, body: Buffer.from(sent), url, now }).ok;
    expect(verify(`${publicUrl}B3aa1aa2`, "aa=2&B=3&aa=1&aa=2")).toBe(true);
    expect(verify(`${publicUrl}`, "")).toBe(true);
    expect(verify(`${publicUrl}Body&=+ü`, "Body=%26%3D%2B%C3%BC")).toBe(true);
    const json = '{"a":1}';
    const query = `?bodySHA256=${createHash("sha256").update(json).digest("hex")}`;
    expect(verify(publicUrl + query, json, `/hooks/sms${query}`)).toBe(true);
    expect(verify(publicUrl + query, '{"a":2}', `/hooks/sms${query}`)).toBe(false);
    expect(verify(`${publicUrl}${query}&bodySHA256=x`, json, `/hooks/sms${query}&bodySHA256=x`)).toBe(false);
    expect(verify(publicUrl, json)).toBe(false);
    const many = Array.from({ length: 1_001 }, (_, index) => `n${index}=`);
    expect(
      verify(
        `${publicUrl}${[...many]
          .map((one) => one.slice(0, -1))
          .sort()
          .join("")}`,
        many.join("&"),
      ),
    ).toBe(false);
  });

  test("is also available for hmac", () => {
    const settings = { scheme: "hmac", header: "X-S", payload: "{body}{url}", url: publicUrl } as const;
    const headers = { "x-s": createHmac("sha256", "k").update(`{}${publicUrl}?a=1`).digest("hex") };
    const { verify } = compileSignature(settings, ["k"]);
    expect(verify({ headers, body: Buffer.from("{}"), url: "/hooks/x?a=1", now }).ok).toBe(true);
    expect(verify({ headers, body: Buffer.from("{}"), url: "/hooks/x?a=2", now }).ok).toBe(false);
  });
});

describe("challenges of a platform", () => {
  const answer = (name: string, body: unknown) => {
    const sender = senderOf(name);
    return compileSignature(sender.settings, [sender.secret, sender.otherSecret]).challenge?.(
      Buffer.from(JSON.stringify(body)),
    );
  };

  test("from Slack are answered with their text", () => {
    expect(answer("slack", { type: "url_verification", token: "x", challenge: "3eZbrw1a" })).toEqual({
      status: 200,
      contentType: "text/plain; charset=utf-8",
      body: "3eZbrw1a",
    });
    for (const challenge of [undefined, "", 7, {}, "x".repeat(1_001), "a\nb"])
      expect(answer("slack", { type: "url_verification", challenge })).toBeUndefined();
    expect(answer("slack", { type: "event_callback", challenge: "x" })).toBeUndefined();
  });

  test("from Zoom are answered with a digest of their text under the first secret", () => {
    const plainToken = "qgg8vlvZRS6UYooatFL8Aw";
    const found = answer("zoom", { event: "endpoint.url_validation", payload: { plainToken } });
    const encryptedToken = createHmac("sha256", senderOf("zoom").secret).update(plainToken).digest("hex");
    expect(JSON.parse(found?.body ?? "")).toEqual({ plainToken, encryptedToken });
    expect(answer("zoom", { event: "meeting.started", payload: { plainToken } })).toBeUndefined();
  });

  test("from Discord are answered for its two pings only, not for similar requests", () => {
    expect(answer("discord", { id: "1", type: 1 })?.body).toBe('{"type":1}');
    expect(answer("discord", { version: 1, type: 0 })).toMatchObject({ status: 204, body: "" });
    expect(answer("discord", { version: 1, type: 1, event: { type: "APPLICATION_AUTHORIZED" } })).toBeUndefined();
    expect(answer("discord", { id: "1", type: 2 })).toBeUndefined();
  });

  test("do not exist for other senders or in a body that is not JSON", () => {
    expect(answer("github", { type: "url_verification", challenge: "x" })).toBeUndefined();
    for (const name of ["slack", "zoom", "discord"]) {
      const sender = senderOf(name);
      const { challenge } = compileSignature(sender.settings, [sender.secret]);
      for (const body of [
        "",
        "no json",
        "[]",
        "null",
        '"url_verification"',
        '{"__proto__":{"type":"url_verification","challenge":"x"}}',
        "payload=%7B%7D",
      ]) {
        expect(challenge?.(Buffer.from(body)), body).toBeUndefined();
      }
    }
  });
});
