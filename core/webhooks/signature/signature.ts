/** Verifies signed requests: who sent them, how recent they are, and how to recognize a repetition. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { programCommand } from "../../contract/index.ts";
import { answerChallenge, type ChallengeAnswer, readMember } from "./challenge.ts";
import { createGreeting, type Greet } from "./greeting.ts";
import { credentials, describeHeader, describeSigned, type SignatureScheme, type SignatureSettings, schemes } from "./schemes.ts";
import { createSharedCheck, createSharedSigner, signerOf } from "./shared-secret.ts";
import { compileHeaderFormat, type HeaderFormat, passesOver } from "./signature-header.ts";
import { judgeAge, judgeMember, type TimeFault } from "./signature-time.ts";
import { checkPublicUrl, compileSignedText, publicUrls, type SignedText, signedForm } from "./signed-text.ts";
import { createSigner, type Sign, SigningError } from "./signing.ts";
import { createSigningKey, decodeSignature, SecretError, type SignedPart, type SigningKey } from "./signing-key.ts";
import type { SignatureFault, SignedRequest, Unverified, Verdict } from "./verdict.ts";

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
  /** There is no secret yet: everything is refused, and the test of the platform will say the secret. */
  readonly awaitsSecret?: true;
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
const defaultToleranceSeconds = 300;
/** The options that describe a sender without a scheme of its own. */
const descriptions = [
  "header",
  "algorithm",
  "encoding",
  "prefix",
  "format",
  "timestampHeader",
  "timestampFormat",
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
  const format = compileFormat(scheme);
  const text = compileText(scheme, format, settings);
  const isShared = scheme.algorithm === "shared";
  const keys = isShared ? [] : compileKeys(scheme, secrets);
  const verify = isShared ? createSharedCheck(scheme, secrets, settings.user) : createCheck({ scheme, format, text, keys }, settings);
  const sign = isShared
    ? createSharedSigner(scheme, secrets, settings.user)
    : createSigner({ scheme, format, text }, { keys: keys.map(({ key }) => key), settings });
  const { challenge, greeting } = scheme;
  const needsUser = scheme.carrier === "basic";
  if (needsUser !== (settings.user !== undefined))
    throw new SignatureError(
      "user",
      needsUser ? `is missing: the scheme ${settings.scheme} needs it` : "belongs to the schemes basic and aws-sns only",
    );
  const digest = keys[0]?.key.digest;
  return {
    secretHeaders: [scheme.header, ...(scheme.otherNames === undefined ? [] : [scheme.otherNames.header])],
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

/** The signature of a mapping whose secret the platform will show in its test. It accepts nothing. */
export function compileAwaiting(settings: SignatureSettings): Signature {
  const scheme = chooseScheme(settings, []);
  if (scheme.algorithm !== "shared") compileText(scheme, compileFormat(scheme), settings);
  return {
    secretHeaders: [scheme.header],
    signers: [],
    awaitsSecret: true,
    verify: () => ({
      ...refuse("missing", "the mapping has no secret yet"),
      hint: `Let the platform test the address, and set this to the value that \`${programCommand} hooks challenges\` shows.`,
    }),
    sign: () => {
      throw new SigningError("the mapping has no secret yet");
    },
  };
}

function chooseScheme(settings: SignatureSettings, secrets: readonly string[]): SignatureScheme {
  const { header, scheme, secretEncoding } = settings;
  if (scheme === "hmac" || scheme === "public-key") {
    if (header === undefined)
      throw new SignatureError("header", `is missing: the scheme ${scheme} needs the header that carries the signature`);
    checkAlgorithm(settings);
    return describeSigned({ ...settings, header });
  }
  const isStandard = scheme === "standard-webhooks" || scheme === "svix";
  const foreign = descriptions.find(
    (key) =>
      settings[key] !== undefined &&
      !(scheme === "header" && (key === "header" || key === "prefix")) &&
      !(isStandard && key === "secretEncoding"),
  );
  if (foreign !== undefined) throw new SignatureError(foreign, "belongs to the schemes hmac and public-key only");
  if (scheme === "header") {
    if (header === undefined) throw new SignatureError("header", "is missing: the scheme header needs the header that carries the secret");
    return describeHeader({ ...settings, header });
  }
  if (isStandard && secretEncoding !== undefined) return { ...schemes[scheme], secret: secretEncoding };
  if (scheme !== "gitlab" || !secrets.some((secret) => secret.startsWith("whsec_"))) return { ...schemes, ...credentials }[scheme];
  if (secrets.every((secret) => secret.startsWith("whsec_"))) return schemes["standard-webhooks"];
  throw new SignatureError("secret", "mixes secret tokens and signing tokens (whsec_...): only one kind can apply");
}

/** The algorithm is always the configuration's, never one that a request names. */
function checkAlgorithm({ scheme, algorithm, secretEncoding }: SignatureSettings): void {
  const isHash = algorithm?.startsWith("sha") ?? true;
  if (scheme === "hmac" && !isHash) throw new SignatureError("algorithm", `is ${algorithm}, which needs the scheme public-key`);
  if (scheme === "hmac") return;
  if (algorithm === undefined)
    throw new SignatureError("algorithm", "is missing: the scheme public-key needs ed25519, ecdsa-sha256 or rsa-sha256");
  if (isHash) throw new SignatureError("algorithm", `is ${algorithm}, which needs the scheme hmac`);
  if (secretEncoding !== undefined) throw new SignatureError("secretEncoding", "has no effect on a public key");
}

function compileFormat(scheme: SignatureScheme): HeaderFormat {
  try {
    return compileHeaderFormat(scheme);
  } catch (error) {
    throw new SignatureError("format", (error as Error).message);
  }
}

function compileText(scheme: SignatureScheme, format: HeaderFormat, settings: SignatureSettings): SignedText {
  let text: SignedText;
  try {
    text = compileSignedText(scheme.signed);
  } catch (error) {
    throw new SignatureError("payload", (error as Error).message);
  }
  const { uses } = text;
  if (settings.scheme === "hmac" || settings.scheme === "public-key") checkDescription(text, format, settings);
  if (settings.url !== undefined && !uses.has("url"))
    throw new SignatureError("url", "has no effect: this scheme does not sign the address");
  try {
    if (settings.url !== undefined) checkPublicUrl(settings.url);
  } catch (error) {
    throw new SignatureError("url", (error as Error).message);
  }
  return text;
}

/** Checks that nothing is left unsigned, and that the signed text can be read in one way only. */
function checkDescription({ uses, idIsEnded }: SignedText, { contains }: HeaderFormat, settings: SignatureSettings): void {
  const { timestampHeader, timestampFormat, idHeader } = settings;
  const refuse = (key: string, message: string) => new SignatureError(key, message);
  if (!uses.has("body")) throw refuse("payload", "must contain {body}, or the body could be replaced");
  if (uses.has("form")) throw refuse("payload", "contains {form}, which is none of {body}, {timestamp}, {id}, {method} and {url}");
  const hasTime = contains.has("timestamp") || timestampHeader !== undefined;
  if (uses.has("timestamp") !== hasTime)
    throw refuse(
      "payload",
      "must contain {timestamp} exactly when timestampHeader is set or format contains it, or the time would not be signed",
    );
  if (contains.has("timestamp") && timestampHeader !== undefined) throw refuse("timestampHeader", "contradicts {timestamp} in format");
  if (contains.has("id") && idHeader !== undefined) throw refuse("idHeader", "contradicts {id} in format");
  if (timestampFormat !== undefined && !hasTime) throw refuse("timestampFormat", "has no effect: no time is signed");
  const hasId = contains.has("id") || idHeader !== undefined;
  if (uses.has("id") && !hasId) throw refuse("idHeader", "is missing: the payload contains {id}");
  if (uses.has("id") && !idIsEnded) throw refuse("payload", "must have a character or {timestamp} after {id} that ends it");
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

const refuse = (fault: SignatureFault, reason: string): Unverified => ({ ok: false, fault, reason });

interface Check {
  readonly scheme: SignatureScheme;
  readonly format: HeaderFormat;
  readonly text: SignedText;
  readonly keys: readonly SecretKey[];
}

function createCheck({ scheme, format, text, keys }: Check, settings: SignatureSettings): Signature["verify"] {
  const tolerance = settings.toleranceSeconds ?? defaultToleranceSeconds;
  const renamed: SignatureScheme = { ...scheme, ...scheme.otherNames };
  const timeFormat = scheme.timeFormat ?? "seconds";
  return (request) => {
    const { headers, body, now, url, method = "POST" } = request;
    const used = headers[scheme.header] === undefined && headers[renamed.header] !== undefined ? renamed : scheme;
    const value = headers[used.header];
    if (typeof value !== "string" || value === "") return refuse("missing", `the header ${used.header} is missing`);
    const parts = format.read(value);
    if (parts === undefined) return refuse("wrong", `the header ${used.header} is malformed, or was sent twice`);
    const { signatures, timestamp = timestampIn(headers, used) } = parts;
    if (timestamp === "") return refuse("missing", "the time of the signature is missing");
    const stale = timestamp === undefined ? undefined : judgeAge(timestamp, { now, tolerance, format: timeFormat });
    if (stale !== undefined) return refuseTime(stale, settings);
    const id = text.uses.has("id") ? idIn(parts.id ?? headers[used.idHeader ?? ""]) : "";
    if (id === undefined || (text.behindId !== "" && id.includes(text.behindId)))
      return refuse("missing", `the id${used.idHeader === undefined ? "" : ` in the header ${used.idHeader}`} is missing, or is not an id`);
    const form = text.uses.has("form") ? signedForm(body, url) : "";
    if (form === undefined) return refuse("wrong", "the body does not match the digest in the address, or has too many fields");
    const urls = text.uses.has("url") ? publicUrls(request, settings.url) : [""];
    const texts = urls.map((address) => text.render({ body, timestamp: timestamp ?? "", id, method, url: address, form }));
    const found = findSigned(texts, keys, { signatures, scheme: used });
    if ("reason" in found) return refuse(found.fault, found.reason);
    const { signer, signed } = found;
    const staleMember = judgeMember(scheme, { body, now, tolerance });
    if (staleMember !== undefined) return refuseTime(staleMember, settings);
    const deliveryId = identify(scheme, { headers, body, id, signed });
    return deliveryId === undefined ? { ok: true, signer } : { ok: true, signer, deliveryId };
  };
}

function timestampIn(headers: IncomingHttpHeaders, { timestamp }: SignatureScheme): string | undefined {
  if (timestamp === undefined || !("header" in timestamp)) return undefined;
  const value = headers[timestamp.header];
  return typeof value === "string" ? value : "";
}

function refuseTime({ reason, format }: TimeFault, { scheme }: SignatureSettings): Unverified {
  if (format === undefined) return refuse("old", reason);
  if (scheme !== "hmac" && scheme !== "public-key") return { ...refuse("wrong", reason), hint: `Check that the sender uses ${scheme}.` };
  return { ...refuse("wrong", reason), hint: `Set it to ${JSON.stringify(format)}.`, setting: "timestampFormat" };
}

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
  { signatures: given, scheme }: { readonly signatures: readonly string[]; readonly scheme: SignatureScheme },
): Found | { readonly fault: SignatureFault; readonly reason: string } {
  let found: Found | undefined;
  let presented = 0;
  for (const { key, signer } of keys) {
    const signatures: Buffer[] = [];
    for (const item of given) {
      if (!item.startsWith(key.prefix)) continue;
      const signature = decodeSignature(item.slice(key.prefix.length), scheme, key);
      if (signature !== undefined) signatures.push(signature);
      else if (!passesOver(scheme))
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

/** Only visible characters are accepted, so that two headers joined by Node are not an id. */
const idIn = (value: unknown): string | undefined => (typeof value === "string" && isName(value) ? value : undefined);

const isName = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

function identify(
  { delivery }: SignatureScheme,
  {
    headers,
    body,
    id,
    signed,
  }: {
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
    readonly id: string;
    readonly signed: readonly SignedPart[];
  },
): string | undefined {
  if (delivery.signedId === true) return id;
  const named = delivery.header === undefined ? undefined : idIn(headers[delivery.header]);
  if (named !== undefined) return named;
  const member = delivery.member === undefined ? undefined : idIn(readMember(body, delivery.member));
  if (member !== undefined) return member;
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
