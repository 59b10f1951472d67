/** How senders sign their requests: one row for each platform. signature.ts says what is done with a row. */
import type { GatewayConfig } from "../../config/index.ts";

/** `signature` of a mapping, as in the configuration; its secrets are passed separately, resolved. */
export type SignatureSettings = Omit<NonNullable<GatewayConfig["hooks"]["mappings"][number]["signature"]>, "secret" | "verifyToken">;

export type SchemeName = SignatureSettings["scheme"];

export type CredentialName = "microsoft-graph" | "aws-sns" | "basic" | "token";

/** How the text of a secret becomes a key. `prefixed`: base64 behind `whsec_`, or the public key behind `whpk_`. */
export type SecretForm = "text" | "hex" | "base64" | "prefixed";

export type SignatureEncoding = "hex" | "base64" | "base64url";

/** Where the time of the signature stands: in a header, in a field of the signature header, or in a member of the signed body. */
export type TimestampSource =
  | { readonly header: string }
  | { readonly field: string }
  | { readonly member: string; readonly unit: "milliseconds" };

/**
 * What a sender repeats when it delivers the same event again. The first that the request has is used. Only what is signed
 * names a delivery: under an unsigned id, one captured request would be a new event as often as its thief likes.
 */
export interface DeliveryIdentity {
  /** A header that is signed, or, where nothing is signed, one that names the delivery together with its body. */
  readonly header?: string;
  /** Path of a member of the body. */
  readonly member?: readonly string[];
  /**
   * `signed`: everything that was signed, its time included. `body`: the body alone, where a retry has a new time.
   * Absent: two equal deliveries are two events.
   */
  readonly digest?: "signed" | "body";
  /** A member of the body that changes with each attempt: the digest is of the others. */
  readonly without?: string;
}

export interface SignatureScheme {
  /** The header that carries the signature; lower-case, like all headers here. */
  readonly header: string;
  /** `shared`: the header carries the secret itself, and nothing is signed. */
  readonly algorithm: "sha1" | "sha256" | "sha384" | "sha512" | "ed25519" | "shared";
  readonly encoding: SignatureEncoding;
  /** Whether hexadecimal digits may be capitals: only where the sender is not known. */
  readonly anyCase?: true;
  /** Stands before each signature. */
  readonly prefix: string;
  /** Between several signatures of one header; absent where there is only one. */
  readonly separator?: "," | ";" | " ";
  /** What is signed: text with {body}, {timestamp}, {id}, {url} and {form}. */
  readonly signed: string;
  readonly timestamp?: TimestampSource;
  /** The header that {id} stands for. */
  readonly idHeader?: string;
  readonly secret: SecretForm;
  readonly delivery: DeliveryIdentity;
  /** The platform posts forms as well as JSON, and says which by Content-Type. */
  readonly bodyKind?: "declared" | "text-json";
  /** Of `shared`: what carries the secret, where it is not `header` alone. */
  readonly carrier?: "basic" | "token" | "client-state";
  /** How the platform checks that the receiver knows the secret. */
  readonly challenge?: "echo" | "digest" | "ping" | "github-ping" | "sns";
  /** How the platform tests the address by its query alone, before it has anything to sign. */
  readonly greeting?: "hub" | "challenge" | "validation-token";
}

const overBody = { algorithm: "sha256", encoding: "hex", prefix: "", signed: "{body}", secret: "text" } as const;

const shared = { ...overBody, algorithm: "shared", signed: "" } as const;

/** Signature header of the form `t=<time>,v1=<signature>`. */
const fields = { ...overBody, prefix: "v1=", separator: ",", signed: "{timestamp}.{body}", timestamp: { field: "t" } } as const;

const standard = {
  algorithm: "sha256",
  encoding: "base64",
  prefix: "v1,",
  separator: " ",
  signed: "{id}.{timestamp}.{body}",
  secret: "prefixed",
} as const;

export const schemes: Readonly<Record<Exclude<SchemeName, CredentialName | "hmac" | "header">, SignatureScheme>> = {
  github: { ...overBody, header: "x-hub-signature-256", prefix: "sha256=", delivery: { digest: "signed" }, challenge: "github-ping" },
  gitlab: { ...overBody, header: "x-gitlab-token", algorithm: "shared", signed: "", delivery: { header: "idempotency-key" } },
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
    timestamp: { member: "webhookTimestamp", unit: "milliseconds" },
    delivery: { without: "webhookTimestamp" },
  },
  "standard-webhooks": {
    ...standard,
    header: "webhook-signature",
    timestamp: { header: "webhook-timestamp" },
    idHeader: "webhook-id",
    delivery: { header: "webhook-id" },
  },
  svix: {
    ...standard,
    header: "svix-signature",
    timestamp: { header: "svix-timestamp" },
    idHeader: "svix-id",
    delivery: { header: "svix-id" },
  },
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
  meta: { ...overBody, header: "x-hub-signature-256", prefix: "sha256=", delivery: { digest: "signed" }, greeting: "hub" },
  // It says only whose files changed: two equal bodies are two changes.
  dropbox: { ...overBody, header: "x-dropbox-signature", delivery: {}, greeting: "challenge" },
};

/** Senders that sign nothing, and send the secret itself. */
export const credentials: Readonly<Record<CredentialName, SignatureScheme>> = {
  "microsoft-graph": { ...shared, header: "clientState", carrier: "client-state", delivery: {}, greeting: "validation-token" },
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

/** Headers in which platforms sign, or send their secret: no business of anybody behind the check, also where none is made. */
export const signatureHeaders: ReadonlySet<string> = new Set(Object.values(schemes).map(({ header }) => header));

/** For senders that put a secret into a header, such as `X-Api-Key`. */
export function describeHeader({ header, prefix = "" }: SignatureSettings & { readonly header: string }): SignatureScheme {
  return { ...shared, header: header.toLowerCase(), prefix, delivery: {} };
}

/** A row of the table made from options, for senders that have none. */
export function describeHmac(settings: SignatureSettings & { readonly header: string }): SignatureScheme {
  const { timestampHeader, idHeader, payload = "{body}" } = settings;
  return {
    header: settings.header.toLowerCase(),
    algorithm: settings.algorithm ?? "sha256",
    encoding: settings.encoding ?? "hex",
    anyCase: true,
    prefix: settings.prefix ?? "",
    signed: payload,
    secret: settings.secretEncoding ?? "text",
    ...(timestampHeader === undefined ? {} : { timestamp: { header: timestampHeader.toLowerCase() } }),
    ...(idHeader === undefined ? {} : { idHeader: idHeader.toLowerCase() }),
    delivery: identityOf(settings),
  };
}

function identityOf({ timestampHeader, idHeader, payload = "", dedupe }: SignatureSettings): DeliveryIdentity {
  if (dedupe === "body") return { digest: "body" };
  // A retry has a new time, and so another signature; its signed id stays.
  if (timestampHeader !== undefined && idHeader !== undefined && payload.includes("{id}")) return { header: idHeader.toLowerCase() };
  // Without a time and an id, a repetition looks like a second event with the same content.
  return timestampHeader === undefined && idHeader === undefined ? {} : { digest: "signed" };
}
