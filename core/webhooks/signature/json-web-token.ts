/**
 * Checks senders whose signature is a JSON Web Token (RFC 7519) that contains a digest of the body.
 *
 * The configuration sets the one algorithm and where its keys come from. What the token says of itself only has to
 * agree, so a token can neither be unsigned nor use a public key as the secret of an HMAC. `node:crypto` verifies it:
 * libraries for tokens are asynchronous, and between the check of a signature and the count of its failure no other
 * request of the client may pass.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isSameDigest } from "../../http/index.ts";
import { type Signature, SignatureError } from "./compiled-signature.ts";
import { createKeySet, type KeySet } from "./key-set.ts";
import type { HashAlgorithm, PublicKeyAlgorithm, SignatureSettings } from "./schemes.ts";
import { signerOf } from "./shared-secret.ts";
import { judgeAge } from "./signature-time.ts";
import { type Sign, SigningError } from "./signing.ts";
import { createSigningKey, decodeSignature, SecretError, type SigningKey } from "./signing-key.ts";
import type { SignedRequest, Unverified, Verdict } from "./verdict.ts";
import { defaultToleranceSeconds, isName, refuse } from "./verification.ts";

/** The settings that the scheme uses beside `scheme` and `secret`. */
export const tokenSettings: readonly string[] = [
  "header",
  "prefix",
  "algorithm",
  "jwksUrl",
  "bodyClaim",
  "dedupe",
  "toleranceSeconds",
];

type Algorithm = HashAlgorithm | PublicKeyAlgorithm;

const algorithms = {
  HS256: "sha256",
  HS384: "sha384",
  HS512: "sha512",
  RS256: "rsa-sha256",
  ES256: "es256",
} as const satisfies Readonly<Record<string, Algorithm>>;

const isHmac = (algorithm: Algorithm): algorithm is HashAlgorithm => algorithm.startsWith("sha");
const isTokenAlgorithm = (name: string): name is keyof typeof algorithms => Object.hasOwn(algorithms, name);

/** How far `exp` and `nbf` may be from the gateway's clock. */
const leewaySeconds = 60;
/** For `hooks send --sign`. */
const lifetimeSeconds = 300;
const defaultBodyClaim = "request_body_sha256";

type Members = Readonly<Record<string, unknown>>;

interface Token {
  readonly header: Members;
  readonly claims: Members;
  /** The text that was signed. */
  readonly signed: string;
  readonly signature: string;
}

interface TokenScheme {
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
  /** The algorithm, as tokens name it. */
  readonly name: string;
  readonly bodyClaim: string;
  readonly tolerance: number;
  /** The configuration says how old a token may be, so one that does not say its age is refused. */
  readonly needsTime: boolean;
  readonly byBody: boolean;
}

interface SignerKey {
  readonly key: SigningKey;
  readonly signer: string;
}

/** Compiles the scheme `jwt`. Throws `SignatureError`. */
export function compileJsonWebToken(settings: SignatureSettings, secrets: readonly string[]): Signature {
  const { header, jwksUrl, algorithm: name, bodyClaim = defaultBodyClaim, prefix = "" } = settings;
  if (header === undefined)
    throw new SignatureError("header", "is missing: the scheme jwt needs the header that carries the token");
  if (name === undefined || !isTokenAlgorithm(name))
    throw new SignatureError(
      "algorithm",
      `is ${name ?? "missing"}: the scheme jwt needs ${Object.keys(algorithms).join(", ")}`,
    );
  const algorithm = algorithms[name];
  const scheme: TokenScheme = {
    header: header.toLowerCase(),
    ...{ prefix, name, bodyClaim },
    tolerance: settings.toleranceSeconds ?? defaultToleranceSeconds,
    needsTime: settings.toleranceSeconds !== undefined,
    byBody: settings.dedupe === "body",
  };
  const own = secrets.map((secret) => ({ key: createKey(secret, algorithm), signer: signerOf(secret) }));
  const keySet = jwksUrl === undefined ? undefined : createSet(jwksUrl, { algorithm, hasSecret: own.length > 0 });
  const published = signerOf(`jwks ${jwksUrl}`);
  const keysFor = (keyId: string | undefined): readonly SignerKey[] =>
    keySet === undefined ? own : keySet.keysFor(keyId).map((key) => ({ key, signer: published }));
  return {
    secretHeaders: [scheme.header],
    signers: keySet === undefined ? own.map(({ signer }) => signer) : [published],
    verify: (request) => judge(scheme, keysFor, request),
    sign: createTokenSigner(scheme, own[0]?.key),
    ...(keySet === undefined
      ? {}
      : {
          async readKeys({ headers, now }) {
            const token = tokenIn(scheme, headers);
            if (token === undefined || typeof token === "string" || token.header.alg !== scheme.name) return;
            await keySet.refresh(keyIdOf(token), now);
          },
        }),
  };
}

function createKey(secret: string, algorithm: Algorithm): SigningKey {
  // Everyone knows a public key, so it must not become the secret of an HMAC.
  if (isHmac(algorithm) && /^\s*-----BEGIN /.test(secret))
    throw new SignatureError("secret", "is a key in PEM, and the algorithm needs a shared secret: use RS256 or ES256");
  try {
    return createSigningKey(secret, { algorithm, prefix: "", secret: "text" });
  } catch (error) {
    if (error instanceof SecretError) throw new SignatureError("secret", error.message);
    throw error;
  }
}

function createSet(
  url: string,
  { algorithm, hasSecret }: { readonly algorithm: Algorithm; readonly hasSecret: boolean },
): KeySet {
  if (hasSecret) throw new SignatureError("jwksUrl", "contradicts secret: the keys come from one of the two");
  if (isHmac(algorithm))
    throw new SignatureError("jwksUrl", "needs the algorithm RS256 or ES256: it publishes public keys");
  const { protocol, hostname, username = "", password = "" } = URL.parse(url) ?? {};
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  if (!(protocol === "https:" || (protocol === "http:" && isLocal)) || username + password !== "")
    throw new SignatureError(
      "jwksUrl",
      "must be an https address without a password: over http, anyone on the way could replace the keys",
    );
  return createKeySet(url, algorithm);
}

/** The token of a request; `undefined` if there is none, and a reason if it is not a token. */
function tokenIn({ header, prefix }: TokenScheme, headers: IncomingHttpHeaders): Token | string | undefined {
  const value = headers[header];
  if (typeof value !== "string" || value === "") return undefined;
  const parsed = value.startsWith(prefix) ? parseToken(value.slice(prefix.length)) : undefined;
  return parsed ?? `the header ${header} contains something that is not a token`;
}

function parseToken(text: string): Token | undefined {
  const [first = "", second = "", signature = "", ...more] = text.split(".");
  const header = readMembers(first);
  const claims = readMembers(second);
  const isToken = more.length === 0 && /^[A-Za-z0-9_-]+$/.test(signature);
  if (!isToken || header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${first}.${second}`, signature };
}

function readMembers(text: string): Members | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length === 0 || bytes.toString("base64url") !== text) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
  } catch {
    return undefined;
  }
}

const keyIdOf = ({ header: { kid } }: Token): string | undefined => (typeof kid === "string" ? kid : undefined);

const otherAlgorithm: Unverified = {
  ...refuse("wrong", "the token has another algorithm than the configuration"),
  hint: "Compare it with the sender's: a token cannot choose its algorithm.",
  setting: "algorithm",
};
const otherDigest: Unverified = {
  ...refuse("wrong", "the token does not contain the digest of the body"),
  setting: "bodyClaim",
};

const withoutTime: Unverified = {
  ...refuse("old", "the token does not say when it was issued (the claim iat)"),
  hint: "If the sender leaves the claim out, remove toleranceSeconds: repetitions run once within seven days.",
  setting: "toleranceSeconds",
};

function judge(
  scheme: TokenScheme,
  keysFor: (keyId: string | undefined) => readonly SignerKey[],
  { headers, body, now }: SignedRequest,
): Verdict {
  const token = tokenIn(scheme, headers);
  if (token === undefined) return refuse("missing", `the header ${scheme.header} is missing`);
  if (typeof token === "string") return refuse("wrong", token);
  if (token.header.alg !== scheme.name) return otherAlgorithm;
  // An extension that the receiver must understand (RFC 7515, 4.1.11).
  if (token.header.crit !== undefined) return refuse("wrong", "the token needs an extension that is not supported");
  const signer = signerIn(token, keysFor(keyIdOf(token)));
  if (signer === undefined) return refuse("wrong", "the signature does not match: another key signed the token");
  const stale = judgeTimes(token.claims, scheme, now);
  if (stale !== undefined) return stale;
  if (!hasDigest(token.claims[scheme.bodyClaim], body))
    return { ...otherDigest, hint: `The claim ${scheme.bodyClaim} must be the SHA-256 of the body.` };
  return { ok: true, signer, deliveryId: identify(scheme, token, body) };
}

/** Every key is tried, so that the time taken does not reveal which one matches. */
function signerIn({ signed, signature }: Token, keys: readonly SignerKey[]): string | undefined {
  let found: string | undefined;
  for (const { key, signer } of keys) {
    const decoded = decodeSignature(signature, { encoding: "base64url" }, key);
    if (decoded !== undefined && key.matches([signed], [decoded])) found = signer;
  }
  return found;
}

/** The times are optional, because senders leave them out. One that is present must be a number and right. */
function judgeTimes(
  { exp, nbf, iat }: Members,
  { tolerance, needsTime }: TokenScheme,
  now: number,
): Unverified | undefined {
  const odd = Object.entries({ exp, nbf, iat }).find(([, time]) => time !== undefined && !Number.isFinite(time));
  if (odd !== undefined) return refuse("wrong", `the claim ${odd[0]} of the token is not a time`);
  if (!Number.isFinite(now)) return refuse("old", "the gateway's clock is not available");
  const second = now / 1_000;
  if (exp !== undefined && Number(exp) + leewaySeconds <= second)
    return refuse("old", `the token has expired ${Math.ceil(second - Number(exp))} s ago`);
  if (nbf !== undefined && Number(nbf) - leewaySeconds > second)
    return refuse("old", `the token is valid in ${Math.ceil(Number(nbf) - second)} s only`);
  if (iat === undefined) return needsTime ? withoutTime : undefined;
  const fault = judgeAge(String(Math.floor(Number(iat))), { now, tolerance, format: "seconds" });
  return fault === undefined ? undefined : refuse("old", fault.reason);
}

/** Senders write the digest in hexadecimal or one of the two forms of base64; its length says which. */
function hasDigest(claim: unknown, body: Buffer): boolean {
  if (typeof claim !== "string") return false;
  const expected = hash("sha256", body, "buffer");
  if (/^[0-9a-fA-F]{64}$/.test(claim)) return isSameDigest(Buffer.from(claim, "hex"), expected);
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(claim) && isSameDigest(Buffer.from(claim, "base64"), expected);
}

/** A token without an id is its own: the one that arrives twice is the same delivery. */
function identify({ byBody }: TokenScheme, { claims: { jti }, signed }: Token, body: Buffer): string {
  if (byBody) return `sha256:${hash("sha256", body)}`;
  return typeof jti === "string" && isName(jti) ? jti : `sha256:${hash("sha256", signed)}`;
}

function createTokenSigner({ header, prefix, name, bodyClaim }: TokenScheme, key: SigningKey | undefined): Sign {
  return ({ body, now, newId }) => {
    if (key?.sign === undefined)
      throw new SigningError("only the platform has the private key; the configuration has the public key");
    const second = Math.floor(now / 1_000);
    const claims = {
      [bodyClaim]: hash("sha256", body, "base64"),
      ...{ iat: second, exp: second + lifetimeSeconds, jti: newId() },
    };
    const written = (members: object) => Buffer.from(JSON.stringify(members)).toString("base64url");
    const signed = `${written({ alg: name, typ: "JWT" })}.${written(claims)}`;
    return { body, headers: { [header]: `${prefix}${signed}.${key.sign([signed]).toString("base64url")}` } };
  };
}
