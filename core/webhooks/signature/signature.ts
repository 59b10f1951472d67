/** Compiles the signature of a mapping: checks its settings and its secrets. */
import { programCommand } from "../../contract/index.ts";
import { answerChallenge } from "./challenge.ts";
import { type Signature, SignatureError } from "./compiled-signature.ts";
import { createGreeting } from "./greeting.ts";
import { compileJsonWebToken, tokenSettings } from "./json-web-token.ts";
import {
  credentials,
  describeHeader,
  describeQuery,
  describeSigned,
  type SignatureScheme,
  type SignatureSettings,
  schemes,
} from "./schemes.ts";
import { createSharedCheck, createSharedSigner, signerOf } from "./shared-secret.ts";
import { compileHeaderFormat, type HeaderFormat } from "./signature-header.ts";
import { checkPublicUrl, compileSignedText, type SignedText } from "./signed-text.ts";
import { createSigner, SigningError } from "./signing.ts";
import { createSigningKey, SecretError } from "./signing-key.ts";
import { createCheck, refuse, type SecretKey } from "./verification.ts";

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
  if (secrets.length === 0 && settings.jwksUrl === undefined) throw new SignatureError("secret", "is missing");
  if (secrets.length > maxSecrets) throw new SignatureError("secret", `is a list of more than ${maxSecrets}`);
  if (secrets.some((secret) => secret.trim() === "")) throw new SignatureError("secret", "is blank");
  checkOwnSettings(settings);
  if (settings.scheme === "jwt") return compileJsonWebToken(settings, secrets);
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
    secretHeaders: [scheme.header, scheme.otherNames?.header ?? ""].filter((name) => name !== ""),
    signers: secrets.map(signerOf),
    verify,
    sign,
    bodyKind: scheme.bodyKind,
    ...(challenge === undefined
      ? {}
      : { challenge: (body, headers = {}) => answerChallenge(challenge, { body, headers }, digest ?? (() => "")) }),
    ...(greeting === undefined ? {} : { greet: createGreeting(greeting, verifyToken) }),
    ...(scheme.algorithm === "shared" ? { isShared: true } : {}),
    ...(scheme.parameter === undefined ? {} : { secretParameter: scheme.parameter }),
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
  // No platform shows such a secret in a test.
  if (settings.scheme === "jwt" || settings.scheme === "query") throw new SignatureError("secret", "is missing");
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
  if (scheme === "query" || scheme === "jwt") return chooseQuery(settings, secrets);
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

/** Settings that belong to one scheme. */
function checkOwnSettings(settings: SignatureSettings): void {
  const { scheme } = settings;
  const foreign = (["jwksUrl", "bodyClaim"] as const).find((key) => settings[key] !== undefined);
  if (foreign !== undefined && scheme !== "jwt") throw new SignatureError(foreign, "belongs to the scheme jwt only");
  if (settings.parameter !== undefined && scheme !== "query")
    throw new SignatureError("parameter", "belongs to the scheme query only");
  if (scheme !== "jwt") return;
  const unused = [...descriptions, "url", "user"].find(
    (key) => settings[key as keyof SignatureSettings] !== undefined && !tokenSettings.includes(key),
  );
  if (unused !== undefined) throw new SignatureError(unused, "has no effect with the scheme jwt");
}

/** Characters that clients and proxies neither encode nor decode in an address. */
const plainInAddress = /^[A-Za-z0-9._~-]+$/;

function chooseQuery({ parameter }: SignatureSettings, secrets: readonly string[]): SignatureScheme {
  if (parameter === undefined)
    throw new SignatureError("parameter", "is missing: the scheme query needs the name that the address has for it");
  if (!plainInAddress.test(parameter))
    throw new SignatureError("parameter", "must consist of letters, digits, - . _ and ~");
  // `?token=` is refused for every hook, because people put the hook token there.
  if (parameter.toLowerCase() === "token")
    throw new SignatureError("parameter", "is token, which the gateway refuses in every address: use another name");
  if (secrets.some((secret) => !plainInAddress.test(secret)))
    throw new SignatureError(
      "secret",
      "must consist of letters, digits, - . _ and ~: clients encode other characters of an address in several ways",
    );
  return describeQuery(parameter);
}

/** The algorithm is always the configuration's, never one that a request names. */
function checkAlgorithm({ scheme, algorithm, secretEncoding }: SignatureSettings): void {
  const isHash = algorithm?.startsWith("sha") ?? true;
  if (algorithm !== undefined && /^[A-Z]/.test(algorithm))
    throw new SignatureError("algorithm", `is ${algorithm}, which needs the scheme jwt`);
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
