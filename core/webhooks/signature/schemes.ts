/** How senders sign their requests: one entry for each platform. signature.ts implements the schemes. */
import type { GatewayConfig } from "../../config/index.ts";

/** The `signature` of a mapping as in the configuration. Its secrets are passed separately, already resolved. */
export type SignatureSettings = Omit<
  NonNullable<GatewayConfig["hooks"]["mappings"][number]["signature"]>,
  "secret" | "verifyToken"
>;

export type SchemeName = SignatureSettings["scheme"];

/** The schemes that the configuration describes by options. */
export type GeneralName = "hmac" | "public-key" | "header" | "query";

/** The schemes that have a file of their own. */
export type TokenName = "jwt";

export type CredentialName = "microsoft-graph" | "aws-sns" | "basic" | "token";

/** How a secret's text becomes a key. `prefixed`: base64 after `whsec_`, or the public key after `whpk_`. */
export type SecretForm = "text" | "hex" | "base64" | "prefixed";

export type HashAlgorithm = "sha1" | "sha256" | "sha384" | "sha512";
/** `es256`: as `ecdsa-sha256`, but only with the curve P-256, and written as two numbers of 32 bytes. */
export type PublicKeyAlgorithm = "ed25519" | "ecdsa-sha256" | "es256" | "rsa-sha256";

export type TimeFormat = "seconds" | "milliseconds" | "rfc3339";

export type SignatureEncoding = "hex" | "base64" | "base64url";

/**
 * The location of the signature's time, unless it is in the signature header: another header, or a member of the signed
 * body.
 */
export type TimestampSource = { readonly header: string } | { readonly member: string };

/**
 * How to recognize that a sender delivers the same event again. The first of these that the request has is used. Only
 * signed data identifies a delivery: with an unsigned id, a captured request could be replayed as a new event any
 * number of times.
 */
export interface DeliveryIdentity {
  /** The id that is signed. */
  readonly signedId?: true;
  /** If nothing is signed, a header that identifies the delivery together with its body. */
  readonly header?: string;
  /** The path of a member of the body. */
  readonly member?: readonly string[];
  /**
   * `signed`: a digest of everything that was signed, including its time. `body`: a digest of the body alone, because a
   * retry has a new time. Absent: two equal deliveries are two events.
   */
  readonly digest?: "signed" | "body";
  /** A member of the body that changes with each attempt and is left out of the digest. */
  readonly without?: string;
}

type HeaderNames = Pick<SignatureScheme, "header" | "timestamp" | "idHeader">;

export interface SignatureScheme {
  /** The header that contains the signature, in lower case. */
  readonly header: string;
  /** `shared`: the header contains the secret itself, and nothing is signed. */
  readonly algorithm: HashAlgorithm | PublicKeyAlgorithm | "shared";
  readonly encoding: SignatureEncoding;
  /** Allows upper-case hexadecimal digits; used only if the sender is unknown. */
  readonly anyCase?: true;
  /** The text before each signature. */
  readonly prefix: string;
  /** The separator between several signatures in one header; absent if there is only one. */
  readonly separator?: "," | " ";
  /** The template of a header with more than signatures: {signature}, {timestamp} and {id}. */
  readonly format?: string;
  /** The template of the signed text, with {body}, {timestamp}, {id}, {method}, {url} and {form}. */
  readonly signed: string;
  readonly timestamp?: TimestampSource;
  /** Absent: seconds. */
  readonly timeFormat?: TimeFormat;
  /** The header that {id} refers to, unless it is in the signature header. */
  readonly idHeader?: string;
  /** The names that the same headers have at other senders of this scheme. */
  readonly otherNames?: HeaderNames;
  readonly secret: SecretForm;
  readonly delivery: DeliveryIdentity;
  /** The platform posts both forms and JSON; Content-Type says which. */
  readonly bodyKind?: "declared" | "text-json";
  /** For `shared`: what contains the secret, if it is not just `header`. */
  readonly carrier?: "basic" | "token" | "client-state" | "query";
  /** For `query`: the name of the parameter. */
  readonly parameter?: string;
  /** How the platform checks that the receiver knows the secret. */
  readonly challenge?: "echo" | "digest" | "ping" | "github-ping" | "sns";
  /** How the platform tests the URL by its query alone, before it has anything to sign. */
  readonly greeting?: "hub" | "challenge" | "validation-token";
}

const overBody = { algorithm: "sha256", encoding: "hex", prefix: "", signed: "{body}", secret: "text" } as const;

const shared = { ...overBody, algorithm: "shared", signed: "" } as const;

/** A signature header of the form `t=<time>,v1=<signature>`. */
const fields = { ...overBody, format: "t={timestamp},v1={signature}", signed: "{timestamp}.{body}" } as const;

const standard = {
  algorithm: "sha256",
  encoding: "base64",
  prefix: "v1,",
  separator: " ",
  signed: "{id}.{timestamp}.{body}",
  secret: "prefixed",
  delivery: { signedId: true },
} as const;

const standardNames = (start: "webhook" | "svix"): HeaderNames => ({
  header: `${start}-signature`,
  timestamp: { header: `${start}-timestamp` },
  idHeader: `${start}-id`,
});

export const schemes: Readonly<Record<Exclude<SchemeName, CredentialName | GeneralName | TokenName>, SignatureScheme>> =
  {
    github: {
      ...overBody,
      header: "x-hub-signature-256",
      prefix: "sha256=",
      delivery: { digest: "signed" },
      challenge: "github-ping",
    },
    gitlab: {
      ...overBody,
      header: "x-gitlab-token",
      algorithm: "shared",
      signed: "",
      delivery: { header: "idempotency-key" },
    },
    stripe: { ...fields, header: "stripe-signature", delivery: { member: ["id"], digest: "signed" } },
    slack: {
      ...overBody,
      header: "x-slack-signature",
      prefix: "v0=",
      signed: "v0:{timestamp}:{body}",
      timestamp: { header: "x-slack-request-timestamp" },
      delivery: { member: ["event_id"], digest: "signed" },
      bodyKind: "declared",
      challenge: "echo",
    },
    shopify: {
      ...overBody,
      header: "x-shopify-hmac-sha256",
      encoding: "base64",
      delivery: { digest: "signed" },
    },
    twilio: {
      ...overBody,
      header: "x-twilio-signature",
      algorithm: "sha1",
      encoding: "base64",
      signed: "{url}{form}",
      delivery: { digest: "signed" },
      bodyKind: "declared",
    },
    linear: {
      ...overBody,
      header: "linear-signature",
      timestamp: { member: "webhookTimestamp" },
      timeFormat: "milliseconds",
      delivery: { without: "webhookTimestamp" },
    },
    // Senders change from one set of names to the other, and Svix's own libraries accept both under one secret.
    "standard-webhooks": { ...standard, ...standardNames("webhook"), otherNames: standardNames("svix") },
    svix: { ...standard, ...standardNames("svix"), otherNames: standardNames("webhook") },
    bitbucket: { ...overBody, header: "x-hub-signature", prefix: "sha256=", delivery: { digest: "signed" } },
    calendly: { ...fields, header: "calendly-webhook-signature", delivery: { digest: "body" } },
    discord: {
      ...overBody,
      header: "x-signature-ed25519",
      algorithm: "ed25519",
      signed: "{timestamp}{body}",
      timestamp: { header: "x-signature-timestamp" },
      secret: "hex",
      delivery: { member: ["id"], digest: "body" },
      challenge: "ping",
    },
    pagerduty: {
      ...overBody,
      header: "x-pagerduty-signature",
      prefix: "v1=",
      separator: ",",
      delivery: { member: ["event", "id"], digest: "signed" },
    },
    sentry: { ...overBody, header: "sentry-hook-signature", delivery: { digest: "signed" } },
    typeform: {
      ...overBody,
      header: "typeform-signature",
      encoding: "base64",
      prefix: "sha256=",
      delivery: { member: ["event_id"], digest: "signed" },
    },
    zoom: {
      ...overBody,
      header: "x-zm-signature",
      prefix: "v0=",
      signed: "v0:{timestamp}:{body}",
      timestamp: { header: "x-zm-request-timestamp" },
      delivery: { digest: "body" },
      challenge: "digest",
    },
    meta: {
      ...overBody,
      header: "x-hub-signature-256",
      prefix: "sha256=",
      delivery: { digest: "signed" },
      greeting: "hub",
    },
    // Dropbox only says whose files changed, so two equal bodies are two changes.
    dropbox: { ...overBody, header: "x-dropbox-signature", delivery: {}, greeting: "challenge" },
  };

/** Senders that do not sign, but send the secret itself. */
export const credentials: Readonly<Record<CredentialName, SignatureScheme>> = {
  "microsoft-graph": {
    ...shared,
    header: "clientState",
    carrier: "client-state",
    delivery: {},
    greeting: "validation-token",
  },
  "aws-sns": {
    ...shared,
    header: "authorization",
    carrier: "basic",
    delivery: { header: "x-amz-sns-message-id" },
    bodyKind: "text-json",
    challenge: "sns",
  },
  basic: { ...shared, header: "authorization", carrier: "basic", delivery: {} },
  token: { ...shared, header: "authorization", carrier: "token", delivery: {} },
};

/**
 * Headers that contain a platform's signature or secret. Code behind the check never sees them, even if no check is
 * configured.
 */
export const signatureHeaders: ReadonlySet<string> = new Set(Object.values(schemes).map(({ header }) => header));

/** The scheme of senders that send a secret in a header, such as `X-Api-Key`. */
export function describeHeader({
  header,
  prefix = "",
}: SignatureSettings & { readonly header: string }): SignatureScheme {
  return { ...shared, header: header.toLowerCase(), prefix, delivery: {} };
}

/** The scheme of senders that can only send a secret as a parameter of the address. */
export function describeQuery(parameter: string): SignatureScheme {
  return { ...shared, header: "", carrier: "query", parameter, delivery: {} };
}

/** Creates a scheme from options, for senders without a predefined one. */
export function describeSigned(settings: SignatureSettings & { readonly header: string }): SignatureScheme {
  const { timestampHeader, idHeader, format, payload = "{body}" } = settings;
  return {
    header: settings.header.toLowerCase(),
    algorithm: (settings.algorithm as HashAlgorithm | PublicKeyAlgorithm | undefined) ?? "sha256",
    encoding: settings.encoding ?? (settings.scheme === "hmac" ? "hex" : "base64"),
    anyCase: true,
    prefix: settings.prefix ?? "",
    signed: payload,
    secret: settings.secretEncoding ?? "text",
    format,
    ...(timestampHeader === undefined ? {} : { timestamp: { header: timestampHeader.toLowerCase() } }),
    timeFormat: settings.timestampFormat,
    ...(idHeader === undefined ? {} : { idHeader: idHeader.toLowerCase() }),
    delivery: identityOf(settings),
  };
}

function identityOf({
  timestampHeader,
  idHeader,
  format = "",
  payload = "",
  dedupe,
}: SignatureSettings): DeliveryIdentity {
  if (dedupe === "body") return { digest: "body" };
  const hasTime = timestampHeader !== undefined || format.includes("{timestamp}");
  const hasId = idHeader !== undefined || format.includes("{id}");
  // A retry has a new time and therefore another signature, but the same signed id.
  if (hasTime && hasId && payload.includes("{id}")) return { signedId: true };
  // Without a time and an id, a repetition is indistinguishable from a second event with the same content.
  return hasTime || hasId ? { digest: "signed" } : {};
}
