/** Creates a key that recognizes signatures from the text of a secret. */
import { createHmac, createPublicKey, type KeyObject, verify as verifyWithKey } from "node:crypto";
import { isSameDigest } from "../../http/index.ts";
import type { SecretForm, SignatureEncoding, SignatureScheme } from "./schemes.ts";

export type SignedPart = Buffer | string;

export interface SigningKey {
  /** The text before each signature that this key may have made. */
  readonly prefix: string;
  /** Length of a signature in bytes. */
  readonly length: number;
  /** Checks all signatures, even after a match. */
  matches(signed: readonly SignedPart[], signatures: readonly Buffer[]): boolean;
  /** The digest of a text, for challenges; absent if the key can only verify. */
  digest?(text: string): string;
  /** Signs a text; absent if the key can only verify. */
  sign?(signed: readonly SignedPart[]): Buffer;
}

export class SecretError extends Error {}

const digestLength = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Creates a key. Throws `SecretError`, which says what is wrong with the secret but never contains it. */
export function createSigningKey(secret: string, scheme: SignatureScheme): SigningKey {
  if (secret.trim() === "") throw new SecretError("is blank");
  const { algorithm, prefix } = scheme;
  if (algorithm === "shared") throw new SecretError("is not a signing key");
  if (algorithm === "ed25519") return createPublicSigningKey(readPublicKey(secret, "hex"), prefix);
  if (scheme.secret === "prefixed" && secret.startsWith("whsk_")) {
    throw new SecretError("is a private key (whsk_...): use the public key (whpk_...)");
  }
  if (scheme.secret === "prefixed" && secret.startsWith("whpk_")) {
    return createPublicSigningKey(readPublicKey(secret.slice(5), "base64"), "v1a,");
  }
  const key = readSecret(secret, scheme.secret);
  const hmac = (signed: readonly SignedPart[]): Buffer => {
    const running = createHmac(algorithm, key);
    for (const part of signed) running.update(part);
    return running.digest();
  };
  return {
    prefix,
    length: digestLength[algorithm],
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

function createPublicSigningKey(key: KeyObject, prefix: string): SigningKey {
  return {
    prefix,
    length: 64,
    matches(signed, signatures) {
      const text = Buffer.concat(signed.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part)));
      let found = false;
      for (const signature of signatures) found = verifyWithKey(null, text, key, signature) || found;
      return found;
    },
  };
}

function readSecret(secret: string, form: SecretForm): Buffer {
  if (form === "text") return Buffer.from(secret, "utf8");
  if (form === "hex") {
    if (!/^(?:[0-9a-fA-F]{2})+$/.test(secret)) throw new SecretError("is not hexadecimal");
    return Buffer.from(secret, "hex");
  }
  const text = form === "prefixed" && secret.startsWith("whsec_") ? secret.slice(6) : secret;
  const key = base64.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (key.length > 0) return key;
  throw new SecretError(form === "prefixed" ? "is not base64 after whsec_" : "is not base64");
}

function readPublicKey(text: string, encoding: "hex" | "base64"): KeyObject {
  const wellFormed = encoding === "hex" ? /^[0-9a-fA-F]{64}$/.test(text) : base64.test(text);
  const bytes = wellFormed ? Buffer.from(text, encoding) : Buffer.alloc(0);
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
  form: { readonly encoding: SignatureEncoding; readonly anyCase?: true | undefined; readonly length: number },
): Buffer | undefined {
  const { encoding, length } = form;
  if (text.length > length * 2) return undefined;
  if (encoding === "hex") {
    const digits = form.anyCase ? /^[0-9a-fA-F]*$/ : /^[0-9a-f]*$/;
    return text.length === length * 2 && digits.test(text) ? Buffer.from(text, "hex") : undefined;
  }
  const bytes = Buffer.from(text, encoding);
  if (bytes.length !== length) return undefined;
  const written = bytes.toString(encoding);
  return text === written || (encoding === "base64url" && text === bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_"))
    ? bytes
    : undefined;
}
