/** Creates a key that recognizes signatures from the text of a secret. */
import { createHmac, createPublicKey, type DSAEncoding, type KeyObject, verify as verifyWithKey } from "node:crypto";
import { isSameDigest } from "../../http/index.ts";
import type { HashAlgorithm, PublicKeyAlgorithm, SecretForm, SignatureEncoding, SignatureScheme } from "./schemes.ts";

export type SignedPart = Buffer | string;

export interface SigningKey {
  /** The text before each signature that this key may have made. */
  readonly prefix: string;
  /** Length of a signature in bytes: the longest, and whether it may be this one. */
  readonly longest: number;
  isLength(bytes: number): boolean;
  /** Checks all signatures, even after a match. */
  matches(signed: readonly SignedPart[], signatures: readonly Buffer[]): boolean;
  /** The digest of a text, for challenges; absent if the key can only verify. */
  digest?(text: string): string;
  /** Signs a text; absent if the key can only verify. */
  sign?(signed: readonly SignedPart[]): Buffer;
}

export class SecretError extends Error {}

const digestLength = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;
const textInstead = 'if the sender uses it as text, set secretEncoding: "text"';
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Creates a key. Throws `SecretError`, which says what is wrong with the secret but never contains it. */
export function createSigningKey(
  secret: string,
  scheme: Pick<SignatureScheme, "algorithm" | "prefix" | "secret">,
): SigningKey {
  if (secret.trim() === "") throw new SecretError("is blank");
  const { algorithm, prefix } = scheme;
  if (algorithm === "shared") throw new SecretError("is not a signing key");
  if (isPublicKeyAlgorithm(algorithm)) {
    const key = scheme.secret === "hex" ? readRawKey(secret, "hex") : readPublicKey(secret, algorithm);
    return createPublicSigningKey(key, prefix, algorithm);
  }
  if (scheme.secret === "prefixed" && secret.startsWith("whsk_")) {
    throw new SecretError("is a private key (whsk_...): use the public key (whpk_...)");
  }
  if (scheme.secret === "prefixed" && secret.startsWith("whpk_")) {
    return createPublicSigningKey(readRawKey(secret.slice(5), "base64"), "v1a,", "ed25519");
  }
  const key = readSecret(secret, scheme.secret);
  const hmac = (signed: readonly SignedPart[]): Buffer => {
    const running = createHmac(algorithm, key);
    for (const part of signed) running.update(part);
    return running.digest();
  };
  return {
    prefix,
    longest: digestLength[algorithm],
    isLength: (bytes) => bytes === digestLength[algorithm],
    matches(signed, signatures) {
      const expected = hmac(signed);
      let found = false;
      for (const signature of signatures) found = isSameDigest(signature, expected) || found;
      return found;
    },
    digest: (text) => hmac([text]).toString("hex"),
    sign: hmac,
  };
}

interface PublicKeyForm {
  /** `null`: the algorithm includes its hash function. */
  readonly hash: HashAlgorithm | null;
  readonly type: string;
  /** Why a key of this type is not accepted. */
  readonly wrong?: (key: KeyObject) => string | undefined;
}

/** The configuration chooses the algorithm, never a request, and a key of another type is an error. */
const publicKeyForms: Readonly<Record<PublicKeyAlgorithm, PublicKeyForm>> = {
  ed25519: { hash: null, type: "ed25519" },
  "ecdsa-sha256": {
    hash: "sha256",
    type: "ec",
    wrong: ({ asymmetricKeyDetails }) =>
      curves.has(asymmetricKeyDetails?.namedCurve ?? "")
        ? undefined
        : "is not a key of the curve P-256, P-384 or P-521",
  },
  es256: {
    hash: "sha256",
    type: "ec",
    wrong: ({ asymmetricKeyDetails }) =>
      asymmetricKeyDetails?.namedCurve === "prime256v1" ? undefined : "is not a key of the curve P-256",
  },
  "rsa-sha256": {
    hash: "sha256",
    type: "rsa",
    wrong: ({ asymmetricKeyDetails }) =>
      (asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048 ? undefined : "is an RSA key of fewer than 2048 bits",
  },
};

/** The length of a number in a signature of the curve, in bytes. */
const curves: ReadonlyMap<string, number> = new Map([
  ["prime256v1", 32],
  ["secp384r1", 48],
  ["secp521r1", 66],
]);

const isPublicKeyAlgorithm = (algorithm: string): algorithm is PublicKeyAlgorithm =>
  Object.hasOwn(publicKeyForms, algorithm);

export function createPublicSigningKey(key: KeyObject, prefix: string, algorithm: PublicKeyAlgorithm): SigningKey {
  const { hash } = publicKeyForms[algorithm];
  const { namedCurve = "", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const half = curves.get(namedCurve);
  const fixed = algorithm === "rsa-sha256" ? modulusLength / 8 : 64;
  const mayBeDer = half !== undefined && algorithm !== "es256";
  // ECDSA is written as the two numbers in DER, whose length varies, or as the two numbers alone.
  const encodingOf = (signature: Buffer): DSAEncoding => (signature.length === (half ?? 0) * 2 ? "ieee-p1363" : "der");
  return {
    prefix,
    longest: mayBeDer ? half * 2 + 12 : fixed,
    isLength: (bytes) => (mayBeDer ? bytes >= 8 && bytes <= half * 2 + 12 : bytes === fixed),
    matches(signed, signatures) {
      const text = Buffer.concat(signed.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part)));
      let found = false;
      for (const signature of signatures) {
        const verifying = half === undefined ? key : { key, dsaEncoding: encodingOf(signature) };
        found = verifyWithKey(hash, text, verifying, signature) || found;
      }
      return found;
    },
  };
}

/** Shorter keys can be guessed, however long their text is. */
const leastKeyBytes = 8;

function readSecret(secret: string, form: SecretForm): Buffer {
  const key = decodeSecret(secret, form);
  if (form !== "text" && key.length < leastKeyBytes)
    throw new SecretError(`is a key of fewer than ${leastKeyBytes} bytes, so it is not used`);
  return key;
}

function decodeSecret(secret: string, form: SecretForm): Buffer {
  if (form === "text") return Buffer.from(secret, "utf8");
  if (form === "hex") {
    if (!/^(?:[0-9a-fA-F]{2})+$/.test(secret)) throw new SecretError("is not hexadecimal");
    return Buffer.from(secret, "hex");
  }
  const text = form === "prefixed" && secret.startsWith("whsec_") ? secret.slice(6) : secret;
  const key = base64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (key.length > 0) return key;
  throw new SecretError(form === "prefixed" ? `is not base64 after whsec_; ${textInstead}` : "is not base64");
}

/** Reads a public key: PEM, the same in base64 alone, or the 32 bytes of an Ed25519 key in hexadecimal or base64. */
function readPublicKey(secret: string, algorithm: PublicKeyAlgorithm): KeyObject {
  // In an environment variable, line breaks are often written as two characters.
  const text = secret.trim().replaceAll("\\n", "\n");
  if (/PRIVATE KEY-----/.test(text)) throw new SecretError("is a private key: use the public key");
  if (algorithm === "ed25519" && /^[0-9a-fA-F]{64}$/.test(text)) return readRawKey(text, "hex");
  if (algorithm === "ed25519" && base64.test(text) && Buffer.from(text, "base64").length === 32)
    return readRawKey(text, "base64");
  let key: KeyObject;
  try {
    const der = text.replace(/\s/g, "");
    key = base64.test(der)
      ? createPublicKey({ key: Buffer.from(der, "base64"), format: "der", type: "spki" })
      : createPublicKey({ key: text, format: "pem" });
  } catch {
    const raw = algorithm === "ed25519" ? ", or its 32 bytes in hexadecimal or base64" : "";
    throw new SecretError(`is not a public key: it must be PEM (-----BEGIN PUBLIC KEY-----), the base64 of it${raw}`);
  }
  const problem = publicKeyFault(key, algorithm);
  if (problem !== undefined) throw new SecretError(problem);
  return key;
}

/** Why the algorithm cannot use a key; `undefined` if it can. */
export function publicKeyFault(key: KeyObject, algorithm: PublicKeyAlgorithm): string | undefined {
  const { type, wrong } = publicKeyForms[algorithm];
  return key.asymmetricKeyType === type ? wrong?.(key) : `is a key of type ${key.asymmetricKeyType}, not ${type}`;
}

function readRawKey(text: string, encoding: "hex" | "base64"): KeyObject {
  const bytes = encoding === "hex" || base64.test(text) ? Buffer.from(text, encoding) : Buffer.alloc(0);
  if (bytes.length !== 32) throw new SecretError(`is not a public key of 32 bytes in ${encoding}`);
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") }, format: "jwk" });
  } catch {
    throw new SecretError("is not a public key");
  }
}

/** Decodes a signature strictly: correct length, no other characters, no unused bits. `undefined` if it is invalid. */
export function decodeSignature(
  text: string,
  { encoding, anyCase }: { readonly encoding: SignatureEncoding; readonly anyCase?: true | undefined },
  { longest, isLength }: Pick<SigningKey, "longest" | "isLength">,
): Buffer | undefined {
  if (text.length > longest * 2) return undefined;
  if (encoding === "hex") {
    const digits = anyCase ? /^[0-9a-fA-F]*$/ : /^[0-9a-f]*$/;
    return text.length % 2 === 0 && isLength(text.length / 2) && digits.test(text)
      ? Buffer.from(text, "hex")
      : undefined;
  }
  const bytes = Buffer.from(text, encoding);
  if (!isLength(bytes.length)) return undefined;
  const written = bytes.toString(encoding);
  return text === written ||
    (encoding === "base64url" && text === bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_"))
    ? bytes
    : undefined;
}
