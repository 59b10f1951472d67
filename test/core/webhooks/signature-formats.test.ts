/** What the options of `hmac` and `public-key` can describe: times, parts of one header, joined texts, keys. */
import { createHmac, generateKeyPairSync, type KeyObject, sign as signWithKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SignatureError } from "../../../core/webhooks/signature/compiled-signature.ts";
import type { SignatureSettings } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";
import type { Verdict } from "../../../core/webhooks/signature/verdict.ts";
import { senderOf } from "../../support/senders.ts";

const at = 1_760_000_000_400;
const secret = "a secret of the test";
const hex = (text: string, key: string | Buffer = secret) => createHmac("sha256", key).update(text).digest("hex");

function verify(
  settings: SignatureSettings,
  sent: {
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly now?: number;
    readonly secret?: string;
    readonly method?: string;
  },
): Verdict {
  const { headers, body = "{}", now = at, method = "POST" } = sent;
  return compileSignature(settings, [sent.secret ?? secret]).verify({
    headers,
    body: Buffer.from(body),
    url: "/hooks/x",
    method,
    now,
  });
}

function refusal(settings: SignatureSettings, key = secret): string {
  try {
    compileSignature(settings, [key]);
  } catch (error) {
    if (error instanceof SignatureError) return `${error.key} ${error.message}`;
    throw error;
  }
  return "taken";
}

const stamped = {
  scheme: "hmac",
  header: "X-S",
  timestampHeader: "X-T",
  payload: "{timestamp}.{body}",
} as const satisfies SignatureSettings;
const signedAt = (time: string, body = "{}") => ({ headers: { "x-t": time, "x-s": hex(`${time}.${body}`) }, body });

describe("the time of a signature", () => {
  test.each([
    ["seconds", String(Math.floor(at / 1_000))],
    ["milliseconds", String(at)],
    ["rfc3339", new Date(at).toISOString()],
    ["rfc3339", "2025-10-09T08:53:20Z"],
    ["rfc3339", "2025-10-09T10:53:20+02:00"],
    ["rfc3339", "2025-10-09T08:53:20.400123456Z"],
  ] as const)("in %s, %s, is accepted within the same tolerance in both directions", (timestampFormat, time) => {
    const settings = { ...stamped, timestampFormat };
    for (const [shift, ok] of [
      [0, true],
      [299_000, true],
      [302_000, false],
      [-299_000, true],
      [-302_000, false],
    ] as const) {
      expect(verify(settings, { ...signedAt(time), now: at + shift }).ok, `${shift}`).toBe(ok);
    }
    expect(verify({ ...settings, toleranceSeconds: 10 }, { ...signedAt(time), now: at + 12_000 }).ok).toBe(false);
  });

  test("is read only in the configured format, and the hint names the format that the sender uses", () => {
    const times = {
      seconds: String(Math.floor(at / 1_000)),
      milliseconds: String(at),
      rfc3339: new Date(at).toISOString(),
    } as const;
    const words = { seconds: "seconds", milliseconds: "milliseconds", rfc3339: "RFC 3339" } as const;
    const names = Object.keys(times) as (keyof typeof times)[];
    for (const expected of names)
      for (const sent of names.filter((name) => name !== expected)) {
        const verdict = verify({ ...stamped, timestampFormat: expected }, signedAt(times[sent]));
        expect(verdict, `${sent} for ${expected}`).toEqual({
          ok: false,
          fault: "wrong",
          reason: `its time is in ${words[sent]}, and ${words[expected]} are expected`,
          hint: `Set it to "${sent}".`,
          setting: "timestampFormat",
        });
      }
    const slack = verify(
      { scheme: "slack" },
      { headers: { "x-slack-signature": "v0=00", "x-slack-request-timestamp": String(at) } },
    );
    expect(slack).toMatchObject({ hint: "Check that the sender uses slack." });
    const clock = verify({ ...stamped, timestampFormat: "milliseconds" }, signedAt(String(at - 400_000)));
    expect(clock).toMatchObject({ fault: "old", reason: "the signature is 400 s old, and 300 s are allowed" });
  });

  test("in RFC 3339 requires a zone and the exact spelling", () => {
    for (const time of [
      "2025-10-09T08:53:20",
      "2025-10-09 08:53:20Z",
      "2025-10-09t08:53:20z",
      "2025-10-09",
      "2025-10-09T08:53Z",
      "2025-10-09T08:53:20.Z",
      "+002025-10-09T08:53:20Z",
      "Thu, 09 Oct 2025 08:53:20 GMT",
      "2025-13-09T08:53:20Z",
      " 2025-10-09T08:53:20Z",
    ])
      expect(verify({ ...stamped, timestampFormat: "rfc3339" }, signedAt(time)).ok, time).toBe(false);
  });

  test("cannot be confused with the body if the parts have no separator", () => {
    const settings = { ...stamped, payload: "{timestamp}{body}" } as const;
    for (const timestampFormat of ["seconds", "milliseconds", "rfc3339"] as const) {
      const time = { seconds: "1760000000", milliseconds: "1760000000400", rfc3339: "2025-10-09T08:53:20Z" }[
        timestampFormat
      ];
      const signed = `${time}123456`;
      const judge = (cut: number) =>
        verify(
          { ...settings, timestampFormat },
          { headers: { "x-t": signed.slice(0, cut), "x-s": hex(signed) }, body: signed.slice(cut) },
        ).ok;
      const accepted = Array.from({ length: signed.length + 1 }, (_, cut) => cut).filter(judge);
      expect(accepted, timestampFormat).toEqual([time.length]);
    }
    const twitch = {
      ...settings,
      idHeader: "X-I",
      payload: "{id}{timestamp}{body}",
      timestampFormat: "rfc3339",
    } as const;
    const signed = `11112025-10-09T08:53:20Z{"a":1}`;
    const divisions: string[] = [];
    for (let first = 1; first < signed.length; first += 1)
      for (let second = first + 1; second <= signed.length; second += 1) {
        const [id, time, body] = [signed.slice(0, first), signed.slice(first, second), signed.slice(second)];
        if (verify(twitch, { headers: { "x-i": id, "x-t": time, "x-s": hex(signed) }, body }).ok) divisions.push(id);
      }
    expect(divisions).toEqual(["1111"]);
  });
});

describe("parts of a signature header", () => {
  const settings = {
    scheme: "hmac",
    header: "X-S",
    format: "t={timestamp},v1={signature}",
    payload: "{timestamp}.{body}",
  } as const;
  const digest = hex("1760000000.{}");
  const judge = (value: string, more: object = {}) =>
    verify({ ...settings, ...more }, { headers: { "x-s": value } }).ok;

  test("with names are read in any order, among other parts, and with several signatures", () => {
    for (const value of [
      `t=1760000000,v1=${digest}`,
      `v1=${digest},t=1760000000`,
      `t=1760000000,v0=x,kid=1,v1=${digest}`,
      `t=1760000000,v1=${"0".repeat(64)},v1=${digest}`,
    ])
      expect(judge(value), value).toBe(true);
    for (const value of [
      digest,
      `v1=${digest}`,
      `t=1760000000,t=1760000000,v1=${digest}`,
      `t=1760000000,v2=${digest}`,
      `T=1760000000,v1=${digest}`,
      `t=1760000000, v1=${digest}`,
      `t=1760000000;v1=${digest}`,
      `t=1760000000,v1=${digest},`,
      `t=1760000000,v1=${digest},=x`,
      `t=1760000001,v1=${digest}`,
      `t=1760000000,v1=${digest}${",a=b".repeat(16)}`,
    ])
      expect(judge(value), value).toBe(false);
  });

  test("can have other names, other separators and an id, as the format sets", () => {
    const id = hex("m-1|1760000000|{}");
    const more = { format: "id:{id}; time:{timestamp}; sig:{signature}", payload: "{id}|{timestamp}|{body}" };
    const value = `id:m-1; time:1760000000; sig:${id}`;
    expect(verify({ ...settings, ...more }, { headers: { "x-s": value } })).toMatchObject({
      ok: true,
      deliveryId: "m-1",
    });
    expect(judge(value.replace("m-1", "m-2"), more)).toBe(false);
    expect(judge(`id:m-1; id:m-1; time:1760000000; sig:${id}`, more)).toBe(false);
    const withPrefix = { prefix: "sha256=" };
    expect(judge(`t=1760000000,v1=sha256=${digest}`, withPrefix)).toBe(true);
    expect(judge(`t=1760000000,v1=${digest}`, withPrefix)).toBe(false);
  });

  test("without names are separated by the characters between them", () => {
    const inOrder = { format: "{timestamp}.{signature}" };
    expect(judge(`1760000000.${digest}`, inOrder)).toBe(true);
    for (const value of [
      `${digest}.1760000000`,
      `1760000000.${digest}.`,
      `1760000000..${digest}`,
      "1760000000",
      digest,
      ".",
    ])
      expect(judge(value, inOrder), value).toBe(false);
    expect(judge(`<1760000000/${digest}>`, { format: "<{timestamp}/{signature}>" })).toBe(true);
    expect(judge(`1760000000/${digest}>`, { format: "<{timestamp}/{signature}>" })).toBe(false);
  });

  test("are an error of the format option if it is invalid or leaves the time unsigned", () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ format: "t={timestamp}" }, "format must contain {signature}"],
      [{ format: "{timestamp}{signature}" }, "format must have a character between {timestamp} and {signature}"],
      [
        { format: "t={time},v1={signature}" },
        "format contains time, which is none of {signature}, {timestamp} and {id}",
      ],
      [{ format: "v1={signature},v1={signature}" }, "format contains {signature} twice"],
      [{ format: "t={timestamp,v1={signature}" }, "format contains t={timestamp,v1=, which is none of"],
      [
        { payload: "{body}" },
        "payload must contain {timestamp} exactly when timestampHeader is set or format contains it",
      ],
      [{ timestampHeader: "X-T" }, "timestampHeader contradicts {timestamp} in format"],
      [{ format: "i={id},t={timestamp},v={signature}", idHeader: "X-I" }, "idHeader contradicts {id} in format"],
      [
        { format: "{signature}", payload: "{body}", timestampFormat: "rfc3339" },
        "timestampFormat has no effect: no time is signed",
      ],
      [{ payload: "{timestamp}.{id}.{body}" }, "idHeader is missing: the payload contains {id}"],
    ];
    for (const [more, message] of cases)
      expect(refusal({ ...settings, ...more }), JSON.stringify(more)).toContain(message);
    expect(refusal({ scheme: "stripe", format: "v1={signature}" })).toContain(
      "format belongs to the schemes hmac and public-key only",
    );
  });
});

describe("public keys", () => {
  const general = {
    scheme: "public-key",
    header: "X-S",
    timestampHeader: "X-T",
    payload: "{timestamp}{body}",
  } as const;
  const pairs = {
    ed25519: generateKeyPairSync("ed25519"),
    "ecdsa-sha256": generateKeyPairSync("ec", { namedCurve: "P-256" }),
    "rsa-sha256": generateKeyPairSync("rsa", { modulusLength: 2_048 }),
  } as const;
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();
  const signed = (key: KeyObject, body: string, hash: string | null = "sha256") =>
    signWithKey(hash, Buffer.from(`1760000000${body}`), key).toString("base64");
  const send = (signature: string, body = "{}") => ({ headers: { "x-t": "1760000000", "x-s": signature }, body });

  test.each(Object.keys(pairs) as (keyof typeof pairs)[])(
    "%s: accepts PEM, PEM on one line, and base64",
    (algorithm) => {
      const { publicKey, privateKey } = pairs[algorithm];
      const signature = signed(privateKey, "{}", algorithm === "ed25519" ? null : "sha256");
      const text = pem(publicKey);
      for (const key of [
        text,
        text.replaceAll("\n", "\\n"),
        publicKey.export({ format: "der", type: "spki" }).toString("base64"),
      ]) {
        const settings = { ...general, algorithm };
        expect(verify(settings, { ...send(signature), secret: key })).toMatchObject({ ok: true });
        expect(verify(settings, { ...send(signature, "[]"), secret: key }).ok).toBe(false);
        expect(verify(settings, { ...send(signature), secret: key, now: at + 301_000 }).ok).toBe(false);
      }
    },
  );

  test("an ECDSA signature can be two numbers, with the length that fits the curve", () => {
    const { publicKey, privateKey } = pairs["ecdsa-sha256"];
    const raw = signWithKey("sha256", Buffer.from("1760000000{}"), {
      key: privateKey,
      dsaEncoding: "ieee-p1363",
    }).toString("base64");
    const settings = { ...general, algorithm: "ecdsa-sha256" } as const;
    expect(verify(settings, { ...send(raw), secret: pem(publicKey) })).toMatchObject({ ok: true });
    expect(verify(settings, { ...send(signed(p384.privateKey, "{}")), secret: pem(p384.publicKey) })).toMatchObject({
      ok: true,
    });
    expect(verify(settings, { ...send(Buffer.alloc(64).toString("base64")), secret: pem(publicKey) }).ok).toBe(false);
  });

  test("the configuration chooses the algorithm, and the error for a key of another type does not quote it", () => {
    const of = (algorithm: SignatureSettings["algorithm"], key: string) =>
      refusal({ ...general, ...(algorithm && { algorithm }) }, key);
    expect(of(undefined, pem(pairs.ed25519.publicKey))).toContain("algorithm is missing");
    expect(of("sha256", pem(pairs.ed25519.publicKey))).toContain("algorithm is sha256, which needs the scheme hmac");
    expect(refusal({ scheme: "hmac", header: "X-S", algorithm: "ed25519" })).toContain(
      "algorithm is ed25519, which needs the scheme public-key",
    );
    expect(of("ed25519", pem(pairs["ecdsa-sha256"].publicKey))).toBe("secret is a key of type ec, not ed25519");
    expect(of("ecdsa-sha256", pem(pairs["rsa-sha256"].publicKey))).toBe("secret is a key of type rsa, not ec");
    expect(of("ecdsa-sha256", pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey))).toContain(
      "curve P-256",
    );
    expect(of("rsa-sha256", pem(generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey))).toContain(
      "fewer than 2048 bits",
    );
    expect(of("ed25519", pairs.ed25519.privateKey.export({ format: "pem", type: "pkcs8" }).toString())).toBe(
      "secret is a private key: use the public key",
    );
    for (const key of ["a plain secret", "AAAA", "00ff", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"])
      expect(of("ecdsa-sha256", key)).toMatch(/^secret is not a public key: it must be PEM/);
  });

  test("the text of a public key is never used as an hmac key, so knowing it does not help to sign", () => {
    const key = pem(pairs.ed25519.publicKey);
    const forged = createHmac("sha256", key).update("1760000000{}").digest("base64");
    expect(verify({ ...general, algorithm: "ed25519" }, { ...send(forged), secret: key }).ok).toBe(false);
  });
});

describe("Standard Webhooks and Svix", () => {
  test("headers with either name are accepted under either scheme, as the same delivery", () => {
    for (const [scheme, other] of [
      ["standard-webhooks", "svix"],
      ["svix", "standard-webhooks"],
    ] as const) {
      const [own, renamed] = [senderOf(scheme), senderOf(other)];
      const judge = (sent: { readonly headers: Record<string, string>; readonly body: Buffer }) =>
        compileSignature(own.settings, [own.secret]).verify({ ...sent, url: "/", now: at });
      const first = judge(own.send({ at, id: "msg_1" }));
      expect(first).toMatchObject({ ok: true, deliveryId: "msg_1" });
      expect(judge(renamed.send({ at, id: "msg_1" }))).toEqual(first);
      const sent = renamed.send({ at, id: "msg_1" });
      expect(judge({ ...sent, body: Buffer.from("{}") }).ok).toBe(false);
      // The names of one set belong together.
      const [{ headers }, mixed] = [own.send({ at: at - 900_000, id: "msg_1" }), renamed.send({ at, id: "msg_1" })];
      expect(judge({ ...mixed, headers: { ...mixed.headers, [own.header]: headers[own.header] ?? "" } }).ok).toBe(
        false,
      );
    }
  });

  test("a secret that is not base64 is used as text if the configuration allows it", () => {
    const text = "plain text as a secret";
    const signature = createHmac("sha256", text).update("m.1760000000.{}").digest("base64");
    const sent = {
      headers: { "webhook-id": "m", "webhook-timestamp": "1760000000", "webhook-signature": `v1,${signature}` },
      secret: text,
    };
    expect(refusal({ scheme: "standard-webhooks" }, text)).toContain("secret is not base64 after whsec_");
    expect(refusal({ scheme: "standard-webhooks" }, text)).toContain('secretEncoding: "text"');
    expect(verify({ scheme: "standard-webhooks", secretEncoding: "text" }, sent)).toMatchObject({ ok: true });
    expect(verify({ scheme: "standard-webhooks", secretEncoding: "text" }, { ...sent, body: "[]" }).ok).toBe(false);
  });
});

test("a signature can also cover the method and the address", () => {
  const settings = {
    scheme: "hmac",
    header: "X-S",
    encoding: "base64",
    timestampHeader: "X-T",
    timestampFormat: "milliseconds",
    payload: "{method}{url}{body}{timestamp}",
    url: "https://hooks.example.com/in",
  } as const;
  const sent = (method: string) => ({
    headers: {
      "x-t": String(at),
      "x-s": createHmac("sha256", secret).update(`POSThttps://hooks.example.com/in{}${at}`).digest("base64"),
    },
    method,
  });
  expect(verify(settings, sent("POST"))).toMatchObject({ ok: true });
  expect(verify(settings, sent("GET")).ok).toBe(false);
});
