/** Verifies signed requests: who sent them, how recent they are, and how to recognize a repetition. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { answerChallenge, type ChallengeAnswer, readMember } from "./challenge.ts";
import { createGreeting, type Greet } from "./greeting.ts";
import { credentials, describeHeader, describeHmac, type SignatureScheme, type SignatureSettings, schemes } from "./schemes.ts";
import { createSharedCheck, createSharedSigner, signerOf } from "./shared-secret.ts";
import { judgeAge, judgeMember, readTimestamp } from "./signature-time.ts";
import { checkPublicUrl, compileSignedText, publicUrls, type SignedText, signedForm } from "./signed-text.ts";
import { createSigner, type Sign } from "./signing.ts";
import { createSigningKey, decodeSignature, SecretError, type SignedPart, type SigningKey } from "./signing-key.ts";
import type { SignatureFault, SignedRequest, Verdict } from "./verdict.ts";

export interface Signature {
  /** Headers that code behind the check must not see. */
  readonly secretHeaders: readonly string[];
  /** The names that stand for its secrets in verdicts. */
  readonly signers: readonly string[];
  /** Verifies a request. Never throws. */
  verify(request: SignedRequest): Verdict;
  /** Creates what the platform would send, for an operator who tests the mapping. */
  readonly sign: Sign;
  /** Answers a platform's test of this URL. Call it only with a verified body. */
  challenge?(body: Buffer, headers?: IncomingHttpHeaders): ChallengeAnswer | undefined;
  /** Answers a test of this URL without a signature, at most with an echo. `undefined` if the request is not such a test. */
  greet?: Greet;
  /** `verify` needs only the headers, so it can be called before the body is read. */
  readonly headersOnly?: true;
  /** Nothing is signed, so a delivery is identified by its headers, as with the hook token. */
  readonly namedByHeaders?: true;
  /** The HTTP authentication scheme that it implements. */
  readonly authenticates?: "Basic" | "Bearer";
  /** The sender sends the secret itself instead of a signature. */
  readonly isShared?: true;
  /**
   * `declared`: a form if Content-Type says so, else JSON, whatever the mapping's `body` says. `text-json`: JSON that is declared as text.
   */
  readonly bodyKind?: "declared" | "text-json";
}

/** An error in the settings: `key` below `signature`, and a message without path and full stop. */
export class SignatureError extends Error {
  readonly key: string;
  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

const maxSecrets = 8;
const maxSignatures = 16;
const maxHeaderLength = 4_096;
const defaultToleranceSeconds = 300;
const hmacOptions = [
  "header",
  "algorithm",
  "encoding",
  "prefix",
  "timestampHeader",
  "idHeader",
  "payload",
  "secretEncoding",
  "dedupe",
] as const;

/** Compiles and validates a signature. Throws `SignatureError`. `verifyToken` is the resolved token of the scheme meta. */
export function compileSignature(settings: SignatureSettings, secrets: readonly string[], verifyToken?: string): Signature {
  if (secrets.length === 0) throw new SignatureError("secret", "is missing");
  if (secrets.length > maxSecrets) throw new SignatureError("secret", `is a list of more than ${maxSecrets}`);
  if (secrets.some((secret) => secret.trim() === "")) throw new SignatureError("secret", "is blank");
  const scheme = chooseScheme(settings, secrets);
  const text = compileText(scheme, settings);
  const isShared = scheme.algorithm === "shared";
  const keys = isShared ? [] : compileKeys(scheme, secrets);
  const verify = isShared ? createSharedCheck(scheme, secrets, settings.user) : createCheck(scheme, text, keys, settings);
  const sign = isShared
    ? createSharedSigner(scheme, secrets, settings.user)
    : createSigner(scheme, text, { keys: keys.map(({ key }) => key), settings });
  const { challenge, greeting } = scheme;
  const needsUser = scheme.carrier === "basic";
  if (needsUser !== (settings.user !== undefined))
    throw new SignatureError(
      "user",
      needsUser ? `is missing: the scheme ${settings.scheme} needs it` : "belongs to the schemes basic and aws-sns only",
    );
  const digest = keys[0]?.key.digest;
  return {
    secretHeaders: [scheme.header],
    signers: secrets.map(signerOf),
    verify,
    sign,
    ...(scheme.bodyKind === undefined ? {} : { bodyKind: scheme.bodyKind }),
    ...(challenge === undefined
      ? {}
      : { challenge: (body, headers = {}) => answerChallenge(challenge, { body, headers }, digest ?? (() => "")) }),
    ...(greeting === undefined ? {} : { greet: createGreeting(greeting, verifyToken) }),
    ...(scheme.algorithm === "shared" ? { isShared: true } : {}),
    ...(scheme.algorithm === "shared" && scheme.carrier !== "client-state" ? { headersOnly: true } : {}),
    ...(scheme.algorithm === "shared" && scheme.delivery.header === undefined ? { namedByHeaders: true } : {}),
    ...(scheme.carrier === "basic" ? { authenticates: "Basic" } : scheme.carrier === "token" ? { authenticates: "Bearer" } : {}),
  };
}

function chooseScheme(settings: SignatureSettings, secrets: readonly string[]): SignatureScheme {
  const { header } = settings;
  if (settings.scheme === "hmac") {
    if (header === undefined) throw new SignatureError("header", "is missing: the scheme hmac needs the header that carries the signature");
    return describeHmac({ ...settings, header });
  }
  const isHeader = settings.scheme === "header";
  const foreign = hmacOptions.find((key) => settings[key] !== undefined && !(isHeader && (key === "header" || key === "prefix")));
  if (foreign !== undefined) throw new SignatureError(foreign, "belongs to the scheme hmac only");
  if (settings.scheme === "header") {
    if (header === undefined) throw new SignatureError("header", "is missing: the scheme header needs the header that carries the secret");
    return describeHeader({ ...settings, header });
  }
  if (settings.scheme !== "gitlab" || !secrets.some((secret) => secret.startsWith("whsec_")))
    return { ...schemes, ...credentials }[settings.scheme];
  if (secrets.every((secret) => secret.startsWith("whsec_"))) return schemes["standard-webhooks"];
  throw new SignatureError("secret", "mixes secret tokens and signing tokens (whsec_...): only one kind can apply");
}

function compileText(scheme: SignatureScheme, settings: SignatureSettings): SignedText {
  let text: SignedText;
  try {
    text = compileSignedText(scheme.signed);
  } catch (error) {
    throw new SignatureError("payload", (error as Error).message);
  }
  const { uses, behindId } = text;
  if (settings.scheme === "hmac") {
    if (!uses.has("body")) throw new SignatureError("payload", "must contain {body}, or the body could be replaced");
    if (uses.has("form")) throw new SignatureError("payload", "contains {form}, which is none of {body}, {timestamp}, {id} and {url}");
    if (uses.has("timestamp") !== (scheme.timestamp !== undefined)) {
      throw new SignatureError("payload", "must contain {timestamp} exactly when timestampHeader is set, or the time would not be signed");
    }
    if (uses.has("id") && scheme.idHeader === undefined) throw new SignatureError("idHeader", "is missing: the payload contains {id}");
    if (uses.has("id") && behindId === "") throw new SignatureError("payload", "must have a character after {id} that ends it");
  }
  if (settings.url !== undefined && !uses.has("url"))
    throw new SignatureError("url", "has no effect: this scheme does not sign the address");
  try {
    if (settings.url !== undefined) checkPublicUrl(settings.url);
  } catch (error) {
    throw new SignatureError("url", (error as Error).message);
  }
  return text;
}

interface SecretKey {
  readonly key: SigningKey;
  readonly signer: string;
}

function compileKeys(scheme: SignatureScheme, secrets: readonly string[]): readonly SecretKey[] {
  return secrets.map((secret) => {
    try {
      return { key: createSigningKey(secret, scheme), signer: signerOf(secret) };
    } catch (error) {
      if (error instanceof SecretError) throw new SignatureError("secret", error.message);
      throw error;
    }
  });
}

const refuse = (fault: SignatureFault, reason: string): Verdict => ({ ok: false, fault, reason });

function createCheck(
  scheme: SignatureScheme,
  text: SignedText,
  keys: readonly SecretKey[],
  settings: SignatureSettings,
): Signature["verify"] {
  const tolerance = settings.toleranceSeconds ?? defaultToleranceSeconds;
  return (request) => {
    const { headers, body, now, url } = request;
    const value = headers[scheme.header];
    if (typeof value !== "string" || value === "") return refuse("missing", `the header ${scheme.header} is missing`);
    const items = splitHeader(value, scheme);
    if (items === undefined) return refuse("wrong", `the header ${scheme.header} is malformed, or was sent twice`);
    const timestamp = readTimestamp(scheme, headers, items);
    if (timestamp === "") return refuse("missing", "the time of the signature is missing");
    if (timestamp !== undefined) {
      const stale = judgeAge(timestamp, { now, tolerance, unit: "seconds" });
      if (stale !== undefined) return refuse("old", stale);
    }
    const id = text.uses.has("id") ? namedBy(headers, scheme.idHeader) : "";
    if (id === undefined || (text.behindId !== "" && id.includes(text.behindId))) {
      return refuse("missing", `the header ${scheme.idHeader} is missing, or is not an id`);
    }
    const form = text.uses.has("form") ? signedForm(body, url) : "";
    if (form === undefined) return refuse("wrong", "the body does not match the digest in the address, or has too many fields");
    const urls = text.uses.has("url") ? publicUrls(request, settings.url) : [""];
    const texts = urls.map((address) => text.render({ body, timestamp: timestamp ?? "", id, url: address, form }));
    const found = findSigned(texts, keys, { items, scheme });
    if ("reason" in found) return refuse(found.fault, found.reason);
    const { signer, signed } = found;
    const stale = judgeMember(scheme, { body, now, tolerance });
    if (stale !== undefined) return refuse("old", stale);
    const deliveryId = identify(scheme, { headers, body, signed });
    return deliveryId === undefined ? { ok: true, signer } : { ok: true, signer, deliveryId };
  };
}

/** Splits the signature header. A value that Node joined from two headers is rejected; it contains a comma and a space. */
function splitHeader(value: string, { separator }: SignatureScheme): readonly string[] | undefined {
  if (value.length > maxHeaderLength) return undefined;
  if (separator === undefined) return [value];
  const items = passesOver(separator) ? value.split(separator).filter((item) => item !== "") : value.split(separator);
  if (items.length > maxSignatures) return undefined;
  if (passesOver(separator)) return value.includes(", ") ? undefined : items;
  return items.every((item) => /^[a-z][a-z0-9]{0,15}=[A-Za-z0-9+/=_-]+$/.test(item)) ? items : undefined;
}

/** Whether unreadable items are ignored. Standard Webhooks allows signatures of future versions, and its reference library ignores them. */
const passesOver = (separator: SignatureScheme["separator"]): boolean => separator === " ";

interface Found {
  readonly signed: readonly SignedPart[];
  readonly signer: string;
}

/**
 * Finds the text that was signed, or the reason why there is none. Every key checks every signature, so that the time taken does not reveal
 * which one matches.
 */
function findSigned(
  texts: readonly (readonly SignedPart[])[],
  keys: readonly SecretKey[],
  { items, scheme }: { readonly items: readonly string[]; readonly scheme: SignatureScheme },
): Found | { readonly fault: SignatureFault; readonly reason: string } {
  let found: Found | undefined;
  let presented = 0;
  for (const { key, signer } of keys) {
    const signatures: Buffer[] = [];
    for (const item of items) {
      if (!item.startsWith(key.prefix)) continue;
      const { encoding, anyCase } = scheme;
      const signature = decodeSignature(item.slice(key.prefix.length), { encoding, anyCase, length: key.length });
      if (signature !== undefined) signatures.push(signature);
      else if (!passesOver(scheme.separator))
        return { fault: "wrong", reason: `the header ${scheme.header} contains something that is not a signature` };
    }
    presented += signatures.length;
    for (const signed of texts) if (key.matches(signed, signatures)) found = { signed, signer };
  }
  if (found !== undefined) return found;
  return presented === 0
    ? { fault: "missing", reason: `the header ${scheme.header} contains no signature of this scheme` }
    : { fault: "wrong", reason: "the signature does not match: another secret, or another body" };
}

/** The id in a header. Only visible characters are accepted, so that two headers joined by Node are not an id. */
function namedBy(headers: IncomingHttpHeaders, name = ""): string | undefined {
  const value = headers[name];
  return typeof value === "string" && isName(value) ? value : undefined;
}

const isName = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

function identify(
  { delivery }: SignatureScheme,
  { headers, body, signed }: { readonly headers: IncomingHttpHeaders; readonly body: Buffer; readonly signed: readonly SignedPart[] },
): string | undefined {
  const named = namedBy(headers, delivery.header);
  if (named !== undefined) return named;
  const member = delivery.member === undefined ? undefined : readMember(body, delivery.member);
  if (typeof member === "string" && isName(member)) return member;
  const without = delivery.without === undefined ? undefined : readMember(body, []);
  if (typeof without === "object" && without !== null) {
    return digestOf([JSON.stringify({ ...without, [delivery.without ?? ""]: undefined })]);
  }
  if (delivery.digest === undefined) return undefined;
  return digestOf(delivery.digest === "body" ? [body] : signed);
}

function digestOf(parts: readonly SignedPart[]): string {
  return `sha256:${hash("sha256", Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "utf8") : part))))}`;
}
