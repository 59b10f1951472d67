/** Senders that sign as the platforms do: written from their documents, with nothing of what is tested. */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signWithKey,
} from "node:crypto";
import type { SignatureSettings } from "../../core/webhooks/signature/schemes.ts";

export interface SentHook {
  readonly headers: Record<string, string>;
  readonly url: string;
  readonly body: Buffer;
}

export interface Sender {
  /** Of the test, where a scheme has several forms. */
  readonly name: string;
  readonly settings: SignatureSettings;
  /** What the operator writes into the configuration. */
  readonly secret: string;
  readonly otherSecret: string;
  /** The header that carries the signature. */
  readonly header: string;
  /** Where the time in seconds stands that is signed; absent where none is, or in another format. */
  readonly stamp?: "header" | "field" | "body";
  send(options: {
    readonly body?: string;
    readonly at: number;
    readonly id?: string;
    readonly secret?: string;
  }): SentHook;
}

const hmac = (
  algorithm: string,
  key: string | Buffer,
  text: string,
  encoding: "hex" | "base64" | "base64url" = "hex",
): string => createHmac(algorithm, key).update(text, "utf8").digest(encoding);

const seconds = (at: number): string => String(Math.floor(at / 1_000));

/** `build` gets what is to be signed; everything else is the same for most senders. */
function sender(
  name: string,
  header: string,
  build: (sent: { readonly body: string; readonly at: number; readonly id: string; readonly secret: string }) => {
    readonly headers: Record<string, string>;
    readonly url?: string;
    readonly body?: string;
  },
  more: {
    readonly settings?: Partial<SignatureSettings>;
    readonly stamp?: Sender["stamp"];
    readonly secrets?: readonly [string, string];
  } = {},
): Sender {
  const [secret, otherSecret] = more.secrets ?? ["a secret of the test", "another secret of it"];
  return {
    name,
    header,
    secret,
    otherSecret,
    settings: { scheme: name.split(" ")[0] as SignatureSettings["scheme"], ...more.settings },
    ...(more.stamp === undefined ? {} : { stamp: more.stamp }),
    send(options) {
      const { at, id = "delivery-1" } = options;
      const built = build({
        body: options.body ?? `{"text":"Grüße","at":${at}}`,
        at,
        id,
        secret: options.secret ?? secret,
      });
      const body = built.body ?? options.body ?? `{"text":"Grüße","at":${at}}`;
      return {
        headers: { "content-type": "application/json", ...built.headers },
        url: built.url ?? "/hooks/signed",
        body: Buffer.from(body, "utf8"),
      };
    },
  };
}

const keyOf = (whsec: string): Buffer => Buffer.from(whsec.slice("whsec_".length), "base64");
const standardSecrets = [
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "whsec_c2VjcmV0LW9mLXRoZS10ZXN0LW51bWJlci0y",
] as const;

/** The private keys of two Ed25519 pairs, by their public halves. */
const seeds = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)] as const;
const privateKey = (seed: Buffer): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
    format: "der",
    type: "pkcs8",
  });
const publicKeys = seeds.map((seed) => Buffer.from(String(privateKey(seed).export({ format: "jwk" }).x), "base64url"));
const publicText = (encoding: "hex" | "base64", prefix = ""): readonly [string, string] => [
  prefix + publicKeys[0]?.toString(encoding),
  prefix + publicKeys[1]?.toString(encoding),
];
const signEd25519 = (secret: string, text: string, encoding: "hex" | "base64"): string => {
  const raw = secret.startsWith("whpk_") ? Buffer.from(secret.slice(5), "base64") : Buffer.from(secret, "hex");
  const seed = publicKeys[0]?.equals(raw) ? seeds[0] : seeds[1];
  return signWithKey(null, Buffer.from(text, "utf8"), privateKey(seed)).toString(encoding);
};

/** Two fixed keys of the curve P-256, made by multiplying its base point by 7 and by 9. */
const p256 = (scalar: number): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([
      Buffer.from("30310201010420", "hex"),
      Buffer.concat([Buffer.alloc(31), Buffer.from([scalar])]),
      Buffer.from("a00a06082a8648ce3d030107", "hex"),
    ]),
    format: "der",
    type: "sec1",
  });
const p256Keys = new Map(
  [7, 9].map((scalar) => {
    const key = p256(scalar);
    return [createPublicKey(key).export({ format: "der", type: "spki" }).toString("base64"), key] as const;
  }),
);
const p256Secrets = [...p256Keys.keys()] as unknown as readonly [string, string];

export const publicUrl = "https://hooks.example.com/in/signed";

export const senders: readonly Sender[] = [
  sender("github", "x-hub-signature-256", ({ body, id, secret }) => ({
    headers: {
      "x-hub-signature-256": `sha256=${hmac("sha256", secret, body)}`,
      "x-github-delivery": id,
      "x-github-event": "push",
    },
  })),
  sender("gitlab", "x-gitlab-token", ({ id, secret }) => ({
    headers: { "x-gitlab-token": secret, "idempotency-key": id },
  })),
  sender(
    "stripe",
    "stripe-signature",
    ({ body, at, secret }) => ({
      headers: {
        "stripe-signature": `t=${seconds(at)},v0=${"0".repeat(64)},v1=${hmac("sha256", secret, `${seconds(at)}.${body}`)}`,
      },
    }),
    { stamp: "field" },
  ),
  sender(
    "slack",
    "x-slack-signature",
    ({ body, at, secret }) => ({
      headers: {
        "x-slack-signature": `v0=${hmac("sha256", secret, `v0:${seconds(at)}:${body}`)}`,
        "x-slack-request-timestamp": seconds(at),
      },
    }),
    { stamp: "header" },
  ),
  sender("shopify", "x-shopify-hmac-sha256", ({ body, id, secret }) => ({
    headers: { "x-shopify-hmac-sha256": hmac("sha256", secret, body, "base64"), "x-shopify-webhook-id": id },
  })),
  sender(
    "twilio",
    "x-twilio-signature",
    ({ at, secret }) => {
      const fields = { To: "+18005551212", From: "+14158675309", Body: "Grüße & more", MessageSid: `SM${at}` };
      const text =
        publicUrl +
        Object.keys(fields)
          .sort()
          .map((name) => name + fields[name as keyof typeof fields])
          .join("");
      return {
        headers: {
          "x-twilio-signature": hmac("sha1", secret, text, "base64"),
          "content-type": "application/x-www-form-urlencoded",
        },
        body: new URLSearchParams(fields).toString(),
      };
    },
    { settings: { url: publicUrl } },
  ),
  sender(
    "linear",
    "linear-signature",
    ({ at, id, secret }) => {
      const body = `{"action":"update","data":{"id":"i1"},"webhookTimestamp":${at}}`;
      return { headers: { "linear-signature": hmac("sha256", secret, body), "linear-delivery": id }, body };
    },
    { stamp: "body" },
  ),
  sender(
    "standard-webhooks",
    "webhook-signature",
    ({ body, at, id, secret }) => ({
      headers: {
        "webhook-id": id,
        "webhook-timestamp": seconds(at),
        "webhook-signature": `v1,${hmac("sha256", keyOf(secret), `${id}.${seconds(at)}.${body}`, "base64")}`,
      },
    }),
    { stamp: "header", secrets: standardSecrets },
  ),
  sender(
    "standard-webhooks with a public key",
    "webhook-signature",
    ({ body, at, id, secret }) => ({
      headers: {
        "webhook-id": id,
        "webhook-timestamp": seconds(at),
        "webhook-signature": `v1a,${signEd25519(secret, `${id}.${seconds(at)}.${body}`, "base64")}`,
      },
    }),
    { stamp: "header", secrets: publicText("base64", "whpk_") },
  ),
  sender(
    "gitlab with a signing token",
    "webhook-signature",
    ({ body, at, id, secret }) => ({
      headers: {
        "webhook-id": id,
        "webhook-timestamp": seconds(at),
        "webhook-signature": `v1,${hmac("sha256", keyOf(secret), `${id}.${seconds(at)}.${body}`, "base64")}`,
      },
    }),
    { stamp: "header", secrets: standardSecrets },
  ),
  sender(
    "svix",
    "svix-signature",
    ({ body, at, id, secret }) => ({
      headers: {
        "svix-id": id,
        "svix-timestamp": seconds(at),
        "svix-signature": `v1,${hmac("sha256", keyOf(secret), `${id}.${seconds(at)}.${body}`, "base64")}`,
      },
    }),
    { stamp: "header", secrets: standardSecrets },
  ),
  sender("meta", "x-hub-signature-256", ({ body, secret }) => ({
    headers: { "x-hub-signature-256": `sha256=${hmac("sha256", secret, body)}` },
  })),
  sender("dropbox", "x-dropbox-signature", ({ body, secret }) => ({
    headers: { "x-dropbox-signature": hmac("sha256", secret, body) },
  })),
  sender("bitbucket", "x-hub-signature", ({ body, id, secret }) => ({
    headers: { "x-hub-signature": `sha256=${hmac("sha256", secret, body)}`, "x-request-uuid": id },
  })),
  sender(
    "calendly",
    "calendly-webhook-signature",
    ({ body, at, secret }) => ({
      headers: {
        "calendly-webhook-signature": `t=${seconds(at)},v1=${hmac("sha256", secret, `${seconds(at)}.${body}`)}`,
      },
    }),
    { stamp: "field" },
  ),
  sender(
    "discord",
    "x-signature-ed25519",
    ({ body, at, secret }) => ({
      headers: {
        "x-signature-ed25519": signEd25519(secret, seconds(at) + body, "hex"),
        "x-signature-timestamp": seconds(at),
      },
    }),
    { stamp: "header", secrets: publicText("hex") },
  ),
  sender("pagerduty", "x-pagerduty-signature", ({ body, secret }) => ({
    headers: { "x-pagerduty-signature": `v1=${hmac("sha256", "replaced", body)},v1=${hmac("sha256", secret, body)}` },
  })),
  sender("sentry", "sentry-hook-signature", ({ body, id, secret }) => ({
    headers: { "sentry-hook-signature": hmac("sha256", secret, body), "request-id": id },
  })),
  sender("typeform", "typeform-signature", ({ body, secret }) => ({
    headers: { "typeform-signature": `sha256=${hmac("sha256", secret, body, "base64")}` },
  })),
  sender(
    "zoom",
    "x-zm-signature",
    ({ body, at, secret }) => ({
      headers: {
        "x-zm-signature": `v0=${hmac("sha256", secret, `v0:${seconds(at)}:${body}`)}`,
        "x-zm-request-timestamp": seconds(at),
      },
    }),
    { stamp: "header" },
  ),
  sender(
    "jwt",
    "x-fusionauth-signature-jwt",
    ({ body, secret }) => {
      const part = (members: object) => Buffer.from(JSON.stringify(members)).toString("base64url");
      const digest = createHash("sha256").update(body, "utf8").digest("base64");
      const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({ request_body_sha256: digest })}`;
      return { headers: { "x-fusionauth-signature-jwt": `${signed}.${hmac("sha256", secret, signed, "base64url")}` } };
    },
    { settings: { header: "X-FusionAuth-Signature-JWT", algorithm: "HS256" } },
  ),
  sender("hmac", "x-signature", ({ body, secret }) => ({ headers: { "x-signature": hmac("sha256", secret, body) } }), {
    settings: { header: "X-Signature" },
  }),
  sender(
    "hmac with a time and an id",
    "authorization",
    ({ body, at, id, secret }) => ({
      headers: {
        authorization: `HMAC ${hmac("sha512", Buffer.from(secret, "hex"), `${id}:${seconds(at)}:${body}`, "base64url")}`,
        "x-time": seconds(at),
        "x-event": id,
      },
    }),
    {
      stamp: "header",
      secrets: ["00ff1a".repeat(8), "00ff1b".repeat(8)],
      settings: {
        header: "Authorization",
        prefix: "HMAC ",
        algorithm: "sha512",
        encoding: "base64url",
        secretEncoding: "hex",
        timestampHeader: "X-Time",
        idHeader: "X-Event",
        payload: "{id}:{timestamp}:{body}",
      },
    },
  ),
  sender(
    "hmac with parts in order",
    "x-docuseal-signature",
    ({ body, at, secret }) => ({
      headers: { "x-docuseal-signature": `${seconds(at)}.${hmac("sha256", secret, `${seconds(at)}.${body}`)}` },
    }),
    {
      stamp: "field",
      settings: { header: "X-Docuseal-Signature", format: "{timestamp}.{signature}", payload: "{timestamp}.{body}" },
    },
  ),
  sender(
    "hmac with parts by name",
    "paddle-signature",
    ({ body, at, secret }) => ({
      headers: { "paddle-signature": `ts=${seconds(at)};h1=${hmac("sha256", secret, `${seconds(at)}:${body}`)}` },
    }),
    {
      stamp: "field",
      settings: { header: "Paddle-Signature", format: "ts={timestamp};h1={signature}", payload: "{timestamp}:{body}" },
    },
  ),
  sender(
    "hmac with milliseconds in one header",
    "workos-signature",
    ({ body, at, secret }) => ({
      headers: { "workos-signature": `t=${at}, v1=${hmac("sha256", secret, `${at}.${body}`)}` },
    }),
    {
      settings: {
        header: "WorkOS-Signature",
        format: "t={timestamp}, v1={signature}",
        timestampFormat: "milliseconds",
        payload: "{timestamp}.{body}",
      },
    },
  ),
  sender(
    "hmac with an id and a time as in RFC 3339",
    "twitch-eventsub-message-signature",
    ({ body, at, id, secret }) => {
      // With nanoseconds, as Twitch sends it.
      const time = new Date(at).toISOString().replace("Z", "123456Z");
      return {
        headers: {
          "twitch-eventsub-message-id": id,
          "twitch-eventsub-message-timestamp": time,
          "twitch-eventsub-message-signature": `sha256=${hmac("sha256", secret, `${id}${time}${body}`)}`,
        },
      };
    },
    {
      settings: {
        header: "Twitch-Eventsub-Message-Signature",
        prefix: "sha256=",
        timestampHeader: "Twitch-Eventsub-Message-Timestamp",
        timestampFormat: "rfc3339",
        idHeader: "Twitch-Eventsub-Message-Id",
        payload: "{id}{timestamp}{body}",
      },
    },
  ),
  sender(
    "public-key with ECDSA",
    "x-twilio-email-event-webhook-signature",
    ({ body, at, secret }) => ({
      headers: {
        "x-twilio-email-event-webhook-timestamp": seconds(at),
        "x-twilio-email-event-webhook-signature": signWithKey(
          "sha256",
          Buffer.from(seconds(at) + body, "utf8"),
          p256Keys.get(secret) ?? p256(11),
        ).toString("base64"),
      },
    }),
    {
      stamp: "header",
      secrets: p256Secrets,
      settings: {
        algorithm: "ecdsa-sha256",
        header: "X-Twilio-Email-Event-Webhook-Signature",
        timestampHeader: "X-Twilio-Email-Event-Webhook-Timestamp",
        payload: "{timestamp}{body}",
      },
    },
  ),
  sender(
    "public-key with Ed25519",
    "x-signature-ed25519",
    ({ body, at, secret }) => ({
      headers: {
        "x-signature-ed25519": signEd25519(secret, seconds(at) + body, "hex"),
        "x-signature-timestamp": seconds(at),
      },
    }),
    {
      stamp: "header",
      secrets: publicText("hex"),
      settings: {
        algorithm: "ed25519",
        encoding: "hex",
        header: "X-Signature-Ed25519",
        timestampHeader: "X-Signature-Timestamp",
        payload: "{timestamp}{body}",
      },
    },
  ),
];

export function senderOf(name: string): Sender {
  const found = senders.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`there is no sender ${name}`);
  return found;
}
