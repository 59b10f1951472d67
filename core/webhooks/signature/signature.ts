/** Compiles the signature of a mapping: checks its settings and its secrets. */
import type { IncomingHttpHeaders } from "node:http";
import { programCommand } from "../../contract/index.ts";
import { answerChallenge, type ChallengeAnswer } from "./challenge.ts";
import { createGreeting, type Greet } from "./greeting.ts";
import {
  credentials,
  describeHeader,
  describeSigned,
  type SignatureScheme,
  type SignatureSettings,
  schemes,
} from "./schemes.ts";
import { createSharedCheck, createSharedSigner, signerOf } from "./shared-secret.ts";
import { compileHeaderFormat, type HeaderFormat } from "./signature-header.ts";
import { checkPublicUrl, compileSignedText, type SignedText } from "./signed-text.ts";
import { createSigner, type Sign, SigningError } from "./signing.ts";
import { createSigningKey, SecretError } from "./signing-key.ts";
import type { SignedRequest, Verdict } from "./verdict.ts";
import { createCheck, refuse, type SecretKey } from "./verification.ts";

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
  /**
   * Answers a test of this URL without a signature, at most with an echo. `undefined` if the request is not such a
   * test.
   */
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
   * `declared`: a form if Content-Type says so, else JSON, whatever the mapping's `body` says. `text-json`: JSON that
   * is declared as text.
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

/**
 * Compiles and validates a signature. Throws `SignatureError`. `verifyToken` is the resolved token of the scheme meta.
 */
export function compileSignature(
  settings: SignatureSettings,
  secrets: readonly string[],
  verifyToken?: string,
): Signature {
  if (secrets.length === 0) throw new SignatureError("secret", "is missing");
  if (secrets.length > maxSecrets) throw new SignatureError("secret", `is a list of more than ${maxSecrets}`);
  if (secrets.some((secret) => secret.trim() === "")) throw new SignatureError("secret", "is blank");
  const scheme = chooseScheme(settings, secrets);
  const format = compileFormat(scheme);
  const text = compileText(scheme, format, settings);
  const isShared = scheme.algorithm === "shared";
  const keys = isShared ? [] : compileKeys(scheme, secrets);
  const verify = isShared
    ? createSharedCheck(scheme, secrets, settings.user)
    : createCheck({ scheme, format, text, keys }, settings);
  const sign = isShared
    ? createSharedSigner(scheme, secrets, settings.user)
    : createSigner({ scheme, format, text }, { keys: keys.map(({ key }) => key), settings });
  const { challenge, greeting } = scheme;
  const needsUser = scheme.carrier === "basic";
  if (needsUser !== (settings.user !== undefined))
    throw new SignatureError(
      "user",
      needsUser
        ? `is missing: the scheme ${settings.scheme} needs it`
        : "belongs to the schemes basic and aws-sns only",
    );
  const digest = keys[0]?.key.digest;
  return {
    secretHeaders: [scheme.header, ...(scheme.otherNames === undefined ? [] : [scheme.otherNames.header])],
    signers: secrets.map(signerOf),
    verify,
    sign,
    bodyKind: scheme.bodyKind,
    ...(challenge === undefined
      ? {}
      : { challenge: (body, headers = {}) => answerChallenge(challenge, { body, headers }, digest ?? (() => "")) }),
    ...(greeting === undefined ? {} : { greet: createGreeting(greeting, verifyToken) }),
    ...(scheme.algorithm === "shared" ? { isShared: true } : {}),
    ...(scheme.algorithm === "shared" && scheme.carrier !== "client-state" ? { headersOnly: true } : {}),
    ...(scheme.algorithm === "shared" && scheme.delivery.header === undefined ? { namedByHeaders: true } : {}),
    ...(scheme.carrier === "basic"
      ? { authenticates: "Basic" }
      : scheme.carrier === "token"
        ? { authenticates: "Bearer" }
        : {}),
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
      hint:
        `Let the platform test the address, and set this to the value that \`${programCommand} hooks ` +
        `challenges\` shows.`,
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
      throw new SignatureError(
        "header",
        `is missing: the scheme ${scheme} needs the header that carries the signature`,
      );
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
    if (header === undefined)
      throw new SignatureError("header", "is missing: the scheme header needs the header that carries the secret");
    return describeHeader({ ...settings, header });
  }
  if (isStandard && secretEncoding !== undefined) return { ...schemes[scheme], secret: secretEncoding };
  if (scheme !== "gitlab" || !secrets.some((secret) => secret.startsWith("whsec_")))
    return { ...schemes, ...credentials }[scheme];
  if (secrets.every((secret) => secret.startsWith("whsec_"))) return schemes["standard-webhooks"];
  throw new SignatureError("secret", "mixes secret tokens and signing tokens (whsec_...): only one kind can apply");
}

/** The algorithm is always the configuration's, never one that a request names. */
function checkAlgorithm({ scheme, algorithm, secretEncoding }: SignatureSettings): void {
  const isHash = algorithm?.startsWith("sha") ?? true;
  if (scheme === "hmac" && !isHash)
    throw new SignatureError("algorithm", `is ${algorithm}, which needs the scheme public-key`);
  if (scheme === "hmac") return;
  if (algorithm === undefined)
    throw new SignatureError(
      "algorithm",
      "is missing: the scheme public-key needs ed25519, ecdsa-sha256 or rsa-sha256",
    );
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
function checkDescription(
  { uses, idIsEnded }: SignedText,
  { contains }: HeaderFormat,
  settings: SignatureSettings,
): void {
  const { timestampHeader, timestampFormat, idHeader } = settings;
  const refuse = (key: string, message: string) => new SignatureError(key, message);
  if (!uses.has("body")) throw refuse("payload", "must contain {body}, or the body could be replaced");
  if (uses.has("form"))
    throw refuse("payload", "contains {form}, which is none of {body}, {timestamp}, {id}, {method} and {url}");
  const hasTime = contains.has("timestamp") || timestampHeader !== undefined;
  if (uses.has("timestamp") !== hasTime)
    throw refuse(
      "payload",
      "must contain {timestamp} exactly when timestampHeader is set or format contains it, or the time " +
        "would not be signed",
    );
  if (contains.has("timestamp") && timestampHeader !== undefined)
    throw refuse("timestampHeader", "contradicts {timestamp} in format");
  if (contains.has("id") && idHeader !== undefined) throw refuse("idHeader", "contradicts {id} in format");
  if (timestampFormat !== undefined && !hasTime) throw refuse("timestampFormat", "has no effect: no time is signed");
  const hasId = contains.has("id") || idHeader !== undefined;
  if (uses.has("id") && !hasId) throw refuse("idHeader", "is missing: the payload contains {id}");
  if (uses.has("id") && !idIsEnded)
    throw refuse("payload", "must have a character or {timestamp} after {id} that ends it");
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
