/** The scheme jwt: which tokens are accepted, and which settings. Tokens are made by hand, not by the tested code. */
import { createHash, createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SignatureError } from "../../../core/webhooks/signature/compiled-signature.ts";
import type { SignatureSettings } from "../../../core/webhooks/signature/schemes.ts";
import { compileSignature } from "../../../core/webhooks/signature/signature.ts";

const now = 1_760_000_000_400;
const second = Math.floor(now / 1_000);
const secret = "a secret of the test";
const body = '{"event":{"type":"user.create"}}';

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const widerEc = generateKeyPairSync("ec", { namedCurve: "P-384" });
const pem = (key: KeyObject) => key.export({ format: "pem", type: "spki" }).toString();

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const digest = (text = body, encoding: "hex" | "base64" | "base64url" = "base64") =>
  createHash("sha256").update(text).digest(encoding);
const claimsOf = (more: object = {}) => ({ request_body_sha256: digest(), ...more });

type Signer = (text: string) => Buffer;
const hmac =
  (hash: string, key: string | Buffer = secret): Signer =>
  (text) =>
    createHmac(hash, key).update(text).digest();
const byRsa: Signer = (text) => sign("sha256", Buffer.from(text), rsa.privateKey);
const byEc: Signer = (text) => sign("sha256", Buffer.from(text), { key: ec.privateKey, dsaEncoding: "ieee-p1363" });

function tokenOf(claims: object, { alg = "HS256" as unknown, header = {}, signer = hmac("sha256") } = {}): string {
  const signed = `${encode({ alg, typ: "JWT", ...header })}.${encode(claims)}`;
  return `${signed}.${signer(signed).toString("base64url")}`;
}

const hs256 = { scheme: "jwt", header: "X-Signature-JWT", algorithm: "HS256" } as const satisfies SignatureSettings;

function verify(
  token: string | undefined,
  { settings = hs256 as SignatureSettings, secrets = [secret] as readonly string[], sent = body, at = now } = {},
) {
  return compileSignature(settings, secrets).verify({
    headers: token === undefined ? {} : { "x-signature-jwt": token },
    body: Buffer.from(sent),
    url: "/hooks/x",
    now: at,
  });
}

const faultOf = (...args: Parameters<typeof verify>) => {
  const verdict = verify(...args);
  return verdict.ok ? "accepted" : `${verdict.fault}: ${verdict.reason}`;
};

describe("a token of the configured algorithm", () => {
  test.each([
    ["HS256", hmac("sha256"), secret],
    ["HS384", hmac("sha384"), secret],
    ["HS512", hmac("sha512"), secret],
    ["RS256", byRsa, pem(rsa.publicKey)],
    ["ES256", byEc, pem(ec.publicKey)],
  ] as const)("is accepted with %s, and refused with another body or a changed signature", (algorithm, signer, key) => {
    const settings = { ...hs256, algorithm };
    const token = tokenOf(claimsOf(), { alg: algorithm, signer });
    const known = { settings, secrets: [key] };
    expect(verify(token, known)).toMatchObject({ ok: true });
    expect(faultOf(token, { ...known, sent: `${body} ` })).toBe(
      "wrong: the token does not contain the digest of the body",
    );
    const [first, second, last = ""] = token.split(".");
    for (const changed of [
      last.replace(/^./, (letter) => (letter === "A" ? "B" : "A")),
      last.slice(0, -4),
      `${last}AAAA`,
      `${last}=`,
      "",
    ])
      expect(verify(`${first}.${second}.${changed}`, known).ok, changed).toBe(false);
    expect(verify(`${first}.${encode(claimsOf({ admin: true }))}.${last}`, known).ok).toBe(false);
  });

  test("of the documents is verified: the example of RFC 7515, A.3, and that of jwt.io", () => {
    const example =
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ." +
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    const key = createPublicKey({
      format: "jwk",
      key: {
        ...{ kty: "EC", crv: "P-256" },
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      },
    });
    const settings = { ...hs256, algorithm: "ES256" } as const;
    // The signature is right, and nothing in it is about the body.
    expect(faultOf(example, { settings, secrets: [pem(key)], at: 1_300_819_000_000 })).toMatch(
      /the digest of the body$/,
    );
    expect(faultOf(example, { settings, secrets: [pem(ec.publicKey)] })).toMatch(/another key signed the token$/);
    const other =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ." +
      "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
    expect(faultOf(other, { secrets: ["your-256-bit-secret"], at: 1_516_239_022_000 })).toMatch(
      /the digest of the body$/,
    );
  });

  test("may have the digest in hexadecimal or base64, in another claim and after a prefix", () => {
    for (const encoding of ["hex", "base64", "base64url"] as const)
      expect(verify(tokenOf({ request_body_sha256: digest(body, encoding) })).ok, encoding).toBe(true);
    const settings = { ...hs256, prefix: "Bearer ", bodyClaim: "payload_hash" };
    const token = tokenOf({ payload_hash: digest(body, "hex") });
    expect(verify(`Bearer ${token}`, { settings }).ok).toBe(true);
    expect(verify(token, { settings }).ok).toBe(false);
    expect(verify(`Bearer ${tokenOf(claimsOf())}`, { settings }).ok).toBe(false);
    for (const claim of [undefined, null, "", 7, [digest()], digest("other"), `${digest()}=`, ` ${digest()}`])
      expect(verify(tokenOf({ request_body_sha256: claim })).ok, String(claim)).toBe(false);
  });

  test("is accepted with each of several secrets", () => {
    const token = tokenOf(claimsOf());
    expect(verify(token, { secrets: ["a newer secret", secret] }).ok).toBe(true);
    expect(verify(token, { secrets: ["a newer secret"] }).ok).toBe(false);
  });
});

describe("a token that names another algorithm", () => {
  test.each(["none", "None", "NONE", "", "hs256", "HS384", "RS256", null, [["HS256"]], { alg: "HS256" }])(
    "is refused, however it is signed: %j",
    (alg) => {
      for (const signer of [hmac("sha256"), () => Buffer.alloc(32)])
        expect(faultOf(tokenOf(claimsOf(), { alg, signer }))).toBe(
          "wrong: the token has another algorithm than the configuration",
        );
    },
  );

  test("cannot use the public key as the secret of an HMAC", () => {
    const key = pem(rsa.publicKey);
    const settings = { ...hs256, algorithm: "RS256" } as const;
    for (const text of [key, key.trim(), key.replaceAll("\n", "")])
      for (const alg of ["HS256", "RS256"])
        expect(
          verify(tokenOf(claimsOf(), { alg, signer: hmac("sha256", text) }), { settings, secrets: [key] }).ok,
        ).toBe(false);
    expect(refusal({ ...hs256, algorithm: "HS256" }, [key])).toMatch(/^secret is a key in PEM/);
  });

  test("or that needs an extension is refused", () => {
    expect(faultOf(tokenOf(claimsOf(), { header: { crit: ["b64"], b64: false } }))).toMatch(/needs an extension/);
  });

  test("or that has a signature of ECDSA in DER is refused", () => {
    const der: Signer = (text) => sign("sha256", Buffer.from(text), ec.privateKey);
    const settings = { ...hs256, algorithm: "ES256" } as const;
    expect(
      verify(tokenOf(claimsOf(), { alg: "ES256", signer: der }), { settings, secrets: [pem(ec.publicKey)] }).ok,
    ).toBe(false);
  });
});

test("a token without an algorithm is refused", () => {
  expect(faultOf(tokenOf(claimsOf(), { header: { alg: undefined } }))).toMatch(/another algorithm/);
  expect(verify(`${tokenOf(claimsOf()).split(".").slice(0, 2).join(".")}.`).ok).toBe(false);
});

test("what is not a token is refused", () => {
  const [first = "", second = "", last = ""] = tokenOf(claimsOf()).split(".");
  const list = Buffer.from("[]").toString("base64url");
  for (const text of [
    "",
    "x",
    "..",
    `${first}.${second}`,
    `${first}.${second}.${last}.${last}`,
    `${first}..${last}`,
    `${list}.${second}.${last}`,
    `${first}.${list}.${last}`,
    `${first}=.${second}.${last}`,
    `${first}.${second}.${last}, ${first}.${second}.${last}`,
  ])
    expect(verify(text).ok, text).toBe(false);
  expect(faultOf(undefined)).toBe("missing: the header x-signature-jwt is missing");
});

test("the times of a token are optional, and one that is present must be right", () => {
  const at = (claims: object, settings: SignatureSettings = hs256) =>
    verify(tokenOf(claimsOf(claims)), { settings }).ok;
  for (const [claims, ok] of [
    [{}, true],
    [{ exp: second + 1 }, true],
    [{ exp: second - 58 }, true],
    [{ exp: second - 62 }, false],
    [{ nbf: second + 58 }, true],
    [{ nbf: second + 62 }, false],
    [{ iat: second - 299 }, true],
    [{ iat: second - 302 }, false],
    [{ iat: second + 302 }, false],
    [{ iat: second - 0.5 }, true],
    [{ iat: second - 302, exp: second + 1_000 }, false],
    [{ exp: String(second + 1) }, false],
    [{ exp: null }, false],
    [{ iat: null }, false],
    [{ iat: -1 }, false],
  ] as const)
    expect(at(claims), JSON.stringify(claims)).toBe(ok);
  expect(at({ iat: second - 302 }, { ...hs256, toleranceSeconds: 400 })).toBe(true);
  // Without it, a token could be sent again once its repetition is no longer known.
  const aged = { ...hs256, toleranceSeconds: 300 };
  expect([at({}), at({ exp: second + 1_000 })]).toEqual([true, true]);
  expect([at({}, aged), at({ exp: second + 1_000 }, aged), at({ iat: second }, aged)]).toEqual([false, false, true]);
  expect(faultOf(tokenOf(claimsOf({ exp: second - 100 })))).toBe("old: the token has expired 101 s ago");
});

test("a repetition has the same id, else the same token; with dedupe the same body", () => {
  const idOf = (claims: object, settings: SignatureSettings = hs256) => {
    const verdict = verify(tokenOf(claimsOf(claims)), { settings });
    return verdict.ok ? verdict.deliveryId : verdict;
  };
  expect(idOf({ jti: "event-1", iat: second })).toBe("event-1");
  expect(idOf({ jti: "not an id", iat: second })).toMatch(/^sha256:/);
  expect(idOf({ iat: second })).toBe(idOf({ iat: second }));
  expect(idOf({ iat: second })).not.toBe(idOf({ iat: second - 1 }));
  const byBody = { ...hs256, dedupe: "body" } as const;
  expect(idOf({ iat: second }, byBody)).toBe(idOf({ iat: second - 1, jti: "x" }, byBody));
});

test("hooks send --sign makes a token that is accepted", () => {
  const signature = compileSignature(hs256, [secret]);
  const { headers } = signature.sign({
    ...{ headers: {}, body: Buffer.from(body), url: "/hooks/x", now },
    newId: () => "id-1",
  });
  const verdict = signature.verify({ headers, body: Buffer.from(body), url: "/hooks/x", now });
  expect(verdict).toMatchObject({ ok: true, deliveryId: "id-1" });
  expect(() =>
    compileSignature({ ...hs256, algorithm: "RS256" }, [pem(rsa.publicKey)]).sign({
      ...{ headers: {}, body: Buffer.from(body), url: "/hooks/x", now },
      newId: () => "id-1",
    }),
  ).toThrow("only the platform has the private key");
});

function refusal(settings: SignatureSettings, secrets: readonly string[] = [secret]): string {
  try {
    compileSignature(settings, secrets);
  } catch (error) {
    if (error instanceof SignatureError) return `${error.key} ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("settings of the scheme jwt", () => {
  const jwksUrl = "https://auth.example.com/keys";

  test("need a header and an algorithm, and take no others", () => {
    expect(refusal({ scheme: "jwt", algorithm: "HS256" })).toMatch(/^header is missing/);
    expect(refusal({ scheme: "jwt", header: "X-T" })).toMatch(/^algorithm is missing/);
    expect(refusal({ ...hs256, algorithm: "sha256" })).toMatch(/^algorithm is sha256/);
    expect(refusal({ ...hs256, payload: "{body}" })).toBe("payload has no effect with the scheme jwt");
    expect(refusal({ scheme: "hmac", header: "X-S", algorithm: "HS256" })).toMatch(/needs the scheme jwt$/);
    expect(refusal({ scheme: "github", bodyClaim: "x" })).toBe("bodyClaim belongs to the scheme jwt only");
    expect(refusal(hs256, [])).toBe("secret is missing");
  });

  test("need a key that fits the algorithm", () => {
    const es256 = { ...hs256, algorithm: "ES256" } as const;
    expect(refusal(es256, [pem(rsa.publicKey)])).toMatch(/^secret is a key of type rsa/);
    expect(refusal(es256, [pem(widerEc.publicKey)])).toBe("secret is not a key of the curve P-256");
    expect(refusal(es256, [secret])).toMatch(/^secret is not a public key/);
    expect(refusal({ ...hs256, algorithm: "RS256" }, [pem(ec.publicKey)])).toMatch(/^secret is a key of type ec/);
  });

  test("accept published keys only over https or from this machine, for a public key, and without a secret", () => {
    const rs256 = { ...hs256, algorithm: "RS256" } as const;
    expect(refusal({ ...rs256, jwksUrl }, [])).toBe("accepted");
    expect(refusal({ ...rs256, jwksUrl: "http://127.0.0.1:9011/keys" }, [])).toBe("accepted");
    for (const bad of [
      "http://auth.example.com/keys",
      "ftp://auth.example.com",
      "keys",
      "https://a:b@example.com/keys",
    ])
      expect(refusal({ ...rs256, jwksUrl: bad }, []), bad).toMatch(/^jwksUrl must be an https address/);
    expect(refusal({ ...rs256, jwksUrl }, [pem(rsa.publicKey)])).toMatch(/^jwksUrl contradicts secret/);
    expect(refusal({ ...hs256, jwksUrl }, [])).toMatch(/^jwksUrl needs the algorithm RS256 or ES256/);
  });
});

describe("settings of the scheme query", () => {
  test("need a name that is not token, and a secret that no client encodes", () => {
    const query = { scheme: "query", parameter: "key" } as const;
    expect(refusal({ scheme: "query" }, ["a-secret"])).toMatch(/^parameter is missing/);
    for (const name of ["token", "Token"])
      expect(refusal({ ...query, parameter: name }, ["a-secret"])).toMatch(/^parameter is token/);
    expect(refusal({ ...query, parameter: "a b" }, ["a-secret"])).toMatch(/^parameter must consist/);
    for (const bad of ["a b", "a+b", "a/b", "a=b", "a%20b", "geheim-ü"])
      expect(refusal(query, [bad]), bad).toMatch(/^secret must consist/);
    expect(refusal(query, ["A-z.0_9~"])).toBe("accepted");
    expect(refusal({ scheme: "github", parameter: "key" })).toBe("parameter belongs to the scheme query only");
    expect(refusal({ ...query, header: "X-K" }, ["a-secret"])).toMatch(/^header belongs to/);
  });
});
