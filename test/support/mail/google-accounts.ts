/**
 * Accounts of the stand-in for Google: OAuth clients, permissions, service accounts, access tokens, and the keys that
 * sign pushes.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { type Call, Refusal, type Reply, refuse } from "./google-http.ts";

const scopes = {
  mail: "https://www.googleapis.com/auth/gmail.readonly",
  pubsub: "https://www.googleapis.com/auth/pubsub",
};

interface Issued {
  readonly scopes: readonly string[];
  /** The mailbox that it opens; absent: none. */
  readonly mailbox?: string;
}

const keyPair = () => generateKeyPairSync("rsa", { modulusLength: 2_048 });
// A pair takes a fifth of a second: each stand-in begins with the same two.
const serviceKeys = keyPair();
const firstSigningKeys = keyPair();

export function createAccounts({ url, address }: { readonly url: () => string; readonly address: string }) {
  const project = "mail-project-1";
  const client = {
    client_id: "1234-client.apps.test",
    client_secret: `client-secret-${randomBytes(6).toString("hex")}`,
  };
  const service = { client_email: `reader@${project}.test`, keys: serviceKeys, mayRead: true };
  let refreshToken = `1//refresh-${randomBytes(8).toString("hex")}`;
  let issued = new Map<string, Issued>();
  /** Codes of the consent page that were not exchanged yet. */
  const consents = new Map<
    string,
    { readonly challenge: string; readonly redirectUri: string; readonly scopes: readonly string[] }
  >();
  const consent = {
    /** Whose permission it is; absent: that of the mailbox. */
    as: address,
    /** Scopes that the user unticks. */
    unticked: [] as readonly string[],
  };
  let signing = new Map([["key-1", firstSigningKeys]]);
  const accounts = {
    project,
    consent,
    /** The consent page, whose user allows at once. */
    authorizePage({ query }: Call): Reply {
      const redirectUri = query.get("redirect_uri") ?? "";
      const isDesktop = /^http:\/\/127\.0\.0\.1:\d+$/.test(redirectUri) && query.get("client_id") === client.client_id;
      if (!isDesktop || query.get("code_challenge_method") !== "S256" || query.get("access_type") !== "offline")
        refuse(400, "INVALID_ARGUMENT");
      const code = `4/${randomBytes(8).toString("hex")}`;
      const scopesGiven = (query.get("scope") ?? "").split(" ").filter((scope) => !consent.unticked.includes(scope));
      consents.set(code, { challenge: query.get("code_challenge") ?? "", redirectUri, scopes: scopesGiven });
      const location = `${redirectUri}/?${new URLSearchParams({ state: query.get("state") ?? "", code })}`;
      return { status: 302, headers: { location } };
    },
    /** Gives a permission back, RFC 7009. */
    revoke({ body }: Call): Reply {
      if (new URLSearchParams(body).get("token") !== refreshToken) throw oauthError("invalid_token");
      refreshToken = `1//refresh-${randomBytes(8).toString("hex")}`;
      issued = new Map();
      return {};
    },
    /** The refresh token that is good now. */
    refreshToken: () => refreshToken,
    /** The user withdraws the permission, and gives another one, which it returns. */
    permitAgain() {
      refreshToken = `1//refresh-${randomBytes(8).toString("hex")}`;
      issued = new Map();
      return refreshToken;
    },
    /** Access tokens end; the permission stays. */
    endTokens() {
      issued = new Map();
    },
    service,
    clientFile: () =>
      JSON.stringify({
        installed: {
          ...client,
          project_id: project,
          auth_uri: `${url()}/o/oauth2/v2/auth`,
          token_uri: `${url()}/token`,
        },
      }),
    serviceFile: () =>
      JSON.stringify({
        type: "service_account",
        project_id: project,
        private_key_id: "service-key-1",
        private_key: service.keys.privateKey.export({ type: "pkcs8", format: "pem" }),
        client_email: service.client_email,
        token_uri: `${url()}/token`,
      }),
    /** Everything that must not be seen anywhere. */
    secrets: () => [client.client_secret, refreshToken, ...issued.keys()],
    /** The keys are replaced, as Google does every few days. */
    rotate(kid: string) {
      signing = new Map([[kid, keyPair()]]);
    },
    /** A token as Pub/Sub sends it along; `claims` and `key` may be wrong. */
    pushToken(
      claims: object,
      { kid, key, alg = "RS256" }: { kid?: string; key?: KeyObject; alg?: string } = {},
    ): string {
      const [[currentKid, current]] = [...signing] as [[string, ReturnType<typeof keyPair>]];
      const signed = [{ alg, kid: kid ?? currentKid, typ: "JWT" }, claims].map(encode).join(".");
      return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key ?? current.privateKey).toString("base64url")}`;
    },
    certificates: (): Reply => ({
      headers: { "cache-control": "public, max-age=20000, must-revalidate" },
      body: {
        keys: [...signing].map(([kid, { publicKey }]) => ({
          ...publicKey.export({ format: "jwk" }),
          kid,
          alg: "RS256",
          use: "sig",
        })),
      },
    }),
    /** The token endpoint, RFC 6749. */
    token({ method, headers, body }: Call): Reply {
      if (method !== "POST" || headers["content-type"] !== "application/x-www-form-urlencoded")
        refuse(400, "INVALID_ARGUMENT");
      const form = new URLSearchParams(body);
      const grant = form.get("grant_type");
      if (grant === "refresh_token") return refreshed(form);
      if (grant === "authorization_code") return exchanged(form);
      if (grant === "urn:ietf:params:oauth:grant-type:jwt-bearer") return asserted(form.get("assertion") ?? "");
      throw oauthError("unsupported_grant_type");
    },
    /** Who a call is made as; refuses one without a valid token, or without the scope. */
    authorize({ headers }: Call, scope: keyof typeof scopes): Issued {
      const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
      const found = token === undefined ? undefined : issued.get(token);
      if (found === undefined) return refuse(401, "UNAUTHENTICATED", { reason: "authError" });
      if (!found.scopes.includes(scopes[scope]))
        return refuse(403, "PERMISSION_DENIED", { reason: "ACCESS_TOKEN_SCOPE_INSUFFICIENT" });
      return found;
    },
  };

  function issue(one: Issued): Reply {
    const token = `ya29.${randomBytes(12).toString("hex")}`;
    issued.set(token, one);
    return { body: { access_token: token, expires_in: 3_599, token_type: "Bearer", scope: one.scopes.join(" ") } };
  }

  function refreshed(form: URLSearchParams): Reply {
    if (form.get("client_id") !== client.client_id || form.get("client_secret") !== client.client_secret)
      throw oauthError("invalid_client", 401);
    if (form.get("refresh_token") !== refreshToken) throw oauthError("invalid_grant");
    return issue({ scopes: Object.values(scopes), mailbox: address });
  }

  function exchanged(form: URLSearchParams): Reply {
    const given = consents.get(form.get("code") ?? "");
    consents.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isClient = form.get("client_id") === client.client_id && form.get("client_secret") === client.client_secret;
    if (
      given === undefined ||
      !isClient ||
      given.challenge !== challenge ||
      given.redirectUri !== form.get("redirect_uri")
    )
      throw oauthError("invalid_grant");
    const { body } = issue({ scopes: given.scopes, mailbox: consent.as });
    return { body: { ...(body as object), refresh_token: refreshToken } };
  }

  function asserted(assertion: string): Reply {
    const [head = "", body = "", signature = ""] = assertion.split(".");
    const header = decode(head);
    const { iss, sub, scope, aud, iat, exp } = decode(body) as Record<string, string | number | undefined>;
    const isSigned = verify(
      "RSA-SHA256",
      Buffer.from(`${head}.${body}`),
      createPublicKey(service.keys.publicKey.export({ type: "spki", format: "pem" })),
      Buffer.from(signature, "base64url"),
    );
    const lives = Number(exp) - Number(iat) <= 3_600 && Number(exp) > Date.now() / 1_000;
    if (header.alg !== "RS256" || !isSigned || iss !== service.client_email || aud !== `${url()}/token` || !lives)
      throw oauthError("invalid_grant");
    if (sub !== undefined && (!service.mayRead || sub !== address)) throw oauthError("unauthorized_client", 401);
    return issue({ scopes: String(scope).split(" "), ...(sub === undefined ? {} : { mailbox: String(sub) }) });
  }
  return accounts;
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Record<string, unknown>;

const oauthError = (error: string, status = 400) =>
  new Refusal({ status, body: { error, error_description: "Bad Request" } });
