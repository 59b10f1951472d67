/** How the sender of a hook signs its requests, and how it tests the address. */
import Type from "typebox";
import { secretSchema, secretsSchema } from "./annotations.ts";
import { matchSchema } from "./hook-match.ts";

const hashes = ["sha1", "sha256", "sha384", "sha512"] as const;
const publicKeys = ["ed25519", "ecdsa-sha256", "rsa-sha256"] as const;
const tokens = ["HS256", "HS384", "HS512", "RS256", "ES256"] as const;

export const signatureSchema = Type.Object(
  {
    scheme: Type.Enum(
      [
        "github",
        "gitlab",
        "stripe",
        "slack",
        "shopify",
        "twilio",
        "linear",
        "standard-webhooks",
        "svix",
        "bitbucket",
        "calendly",
        "discord",
        "pagerduty",
        "sentry",
        "typeform",
        "zoom",
        "meta",
        "dropbox",
        "microsoft-graph",
        "aws-sns",
        "hmac",
        "public-key",
        "jwt",
        "header",
        "basic",
        "token",
        "query",
      ],
      { description: "How the sender signs its requests." },
    ),
    secret: Type.Optional(
      secretsSchema(
        "Signing secret that the sender shares, or its public key; a list while it is being replaced, the " +
          "new one first. Required, except with jwksUrl, and while challenge.show waits for it.",
      ),
    ),
    toleranceSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: "Age at which a time-stamped request is refused; 300 when absent.",
      }),
    ),
    verifyToken: Type.Optional(secretSchema("meta: the token that the platform shows when it tests the address.")),
    user: Type.Optional(
      Type.String({ minLength: 1, pattern: "^[^:]+$", description: "basic, aws-sns: user name, without a colon." }),
    ),
    header: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "hmac, public-key, jwt: header that carries the signature. header: the one that carries the secret.",
      }),
    ),
    algorithm: Type.Optional(
      Type.Enum([...hashes, ...publicKeys, ...tokens], {
        description:
          `hmac: hash function; sha256 when absent. public-key: ${publicKeys.join(", ")}; required. ` +
          `jwt: ${tokens.join(", ")}; required.`,
      }),
    ),
    encoding: Type.Optional(
      Type.Enum(["hex", "base64", "base64url"], {
        description: "Encoding of the signature; when absent, hex for hmac and base64 for public-key.",
      }),
    ),
    prefix: Type.Optional(
      Type.String({
        description: "hmac, public-key, jwt, header: text before the signature or secret, such as sha256=.",
      }),
    ),
    format: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "hmac, public-key: what the header contains if it is more than the signature: {signature}, " +
          "{timestamp} and {id}, such as t={timestamp},v1={signature}.",
      }),
    ),
    timestampHeader: Type.Optional(
      Type.String({ minLength: 1, description: "hmac, public-key: header that carries the time." }),
    ),
    timestampFormat: Type.Optional(
      Type.Enum(["seconds", "milliseconds", "rfc3339"], {
        description:
          "hmac, public-key: how the time is written: since 1970 in seconds or milliseconds, or as RFC " +
          "3339; seconds when absent.",
      }),
    ),
    idHeader: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "hmac, public-key: header with the delivery's id. It is used as a name only with {id} in payload, " +
          "because otherwise it is not signed.",
      }),
    ),
    payload: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "hmac, public-key: the signed text, built from {body}, {timestamp}, {id}, {method} and {url}; " +
          "{body} when absent.",
      }),
    ),
    dedupe: Type.Optional(
      Type.Enum(["body"], {
        description:
          "hmac, public-key, jwt: body runs equal bodies once in seven days. When absent, two equal bodies " +
          "without a signed time or an id are two events.",
      }),
    ),
    jwksUrl: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "jwt: https address where the sender publishes its public keys as a JSON Web Key Set, in place of secret.",
      }),
    ),
    bodyClaim: Type.Optional(
      Type.String({
        minLength: 1,
        description: "jwt: claim with the SHA-256 of the body; request_body_sha256 when absent.",
      }),
    ),
    parameter: Type.Optional(
      Type.String({ minLength: 1, description: "query: name that the secret has in the address." }),
    ),
    secretEncoding: Type.Optional(
      Type.Enum(["text", "hex", "base64"], {
        description:
          "hmac: encoding of the secret; text when absent. standard-webhooks, svix: text for a secret that " +
          "is not base64.",
      }),
    ),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "twilio, or {url} in payload: public address of this hook, without query; needed behind a proxy " +
          "that changes it.",
      }),
    ),
  },
  { description: "Replaces the hook token for this mapping; checked on the raw body. Needs match.path." },
);

export const challengeSchema = Type.Object(
  {
    method: Type.Enum(["POST", "GET", "HEAD", "OPTIONS"], { default: "POST", description: "Method of the test." }),
    when: Type.Optional(
      Type.Object(
        { headers: matchSchema.properties.headers, where: matchSchema.properties.where },
        {
          additionalProperties: false,
          description:
            "Which requests are tests, as in match. When absent: a POST whose payload has no other field " +
            "than the value.",
        },
      ),
    ),
    value: Type.Optional(
      Type.String({
        minLength: 1,
        description: "What the test contains, as in a template: challenge, headers.X-Name or query.name.",
      }),
    ),
    echo: Type.Optional(
      Type.Enum(["text", "json", "header", "none"], {
        description:
          "How the value is sent back: as plain text, as a field of JSON, as a header, or not; text when absent.",
      }),
    ),
    name: Type.Optional(
      Type.String({ minLength: 1, description: "json, header: name of the field or header of the response." }),
    ),
    unsigned: Type.Optional(
      Type.Boolean({
        description: "true: a POST is answered without the signature or token. Other methods never need one.",
      }),
    ),
    show: Type.Optional(
      Type.Boolean({
        description:
          "true: `service hooks challenges` shows the value to you for an hour, because a person has to " +
          "copy it. Without a signature, only while signature.secret is not set.",
      }),
    ),
  },
  { description: "How the platform tests the address before it sends events. Needs match.path." },
);
