/**
 * Notifications that Pub/Sub posts to the gateway. Any client can post there, so each must carry a token that Google
 * signed for this gateway.
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { SourceError } from "../source.ts";
import { type Notice, readNotice } from "./notices.ts";
import { send } from "./request.ts";

export interface Push {
  /**
   * The status to answer with: 204 if the notification was accepted, 401 without a valid token, 503 if that could not
   * be checked.
   */
  receive(authorization: string | undefined, body: unknown): Promise<204 | 400 | 401 | 503>;
}

interface Expected {
  readonly audience: string;
  /** The service account with which the subscription posts. */
  readonly email: string;
}

/** RFC 7517; only RSA keys sign these tokens. */
interface JsonWebKey {
  readonly kty?: string;
  readonly kid?: string;
  readonly n?: string;
  readonly e?: string;
}

interface KnownKeys {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly until: number;
  readonly readAt: number;
}

const issuers = ["https://accounts.google.com", "accounts.google.com"];
const maxTokenLength = 8_192;
/** Allows for small differences between clocks. */
const skewMs = 30_000;
/** Shortest pause between look-ups of unknown keys, so that not each request causes one. */
const lookAgainMs = 1_000;

export function createPush({
  expected,
  certificates,
  now,
  signal,
  onNotice,
}: {
  readonly expected: Expected;
  /** URL of Google's public keys, as a JSON Web Key Set. */
  readonly certificates: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly onNotice: (notice: Notice) => void;
}): Push {
  let known: KnownKeys | undefined;
  let reading: Promise<KnownKeys> | undefined;

  async function keyOf(kid: string): Promise<KeyObject | undefined> {
    const isCurrent = known !== undefined && known.until > now();
    const found = isCurrent ? known?.keys.get(kid) : undefined;
    if (found !== undefined || (isCurrent && known !== undefined && now() - known.readAt < lookAgainMs)) return found;
    reading ??= readKeys(certificates, { now, signal }).finally(() => {
      reading = undefined;
    });
    known = await reading;
    return known.keys.get(kid);
  }

  async function isGenuine(authorization: string | undefined): Promise<boolean> {
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined || token.length > maxTokenLength) return false;
    const [head = "", claims = "", signature = ""] = token.split(".");
    const { alg, kid } = readJson(head);
    // The key of a token for another recipient is not even fetched.
    if (alg !== "RS256" || typeof kid !== "string" || !isFor(readJson(claims), expected, now())) return false;
    const key = await keyOf(kid);
    return (
      key !== undefined &&
      verify("RSA-SHA256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url"))
    );
  }

  return {
    async receive(authorization, body) {
      try {
        if (!(await isGenuine(authorization))) return 401;
      } catch (error) {
        if (error instanceof SourceError) return 503;
        return 401;
      }
      const { message } = (body ?? {}) as { readonly message?: { readonly data?: unknown } };
      const notice = readNotice(message?.data);
      if (notice === undefined) return 400;
      onNotice(notice);
      return 204;
    },
  };
}

function isFor(
  { iss, aud, email, email_verified, exp }: Readonly<Record<string, unknown>>,
  expected: Expected,
  now: number,
): boolean {
  return (
    issuers.includes(String(iss)) &&
    aud === expected.audience &&
    email === expected.email &&
    email_verified === true &&
    typeof exp === "number" &&
    exp * 1_000 > now - skewMs
  );
}

function readJson(part: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(Buffer.from(part, "base64url").toString("utf8")) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

async function readKeys(
  url: string,
  { now, signal }: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<KnownKeys> {
  const { status, headers, body } = await send(url, { signal, timeoutMs: 10_000 });
  const { keys = [] } = (body ?? {}) as { readonly keys?: readonly JsonWebKey[] };
  if (status !== 200 || keys.length === 0)
    throw new SourceError("outage", `Google's keys could not be read (${status}).`, "Pub/Sub posts the notice again.");
  const maxAge = Number(/\bmax-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? 300);
  const usable = keys.flatMap((key) =>
    key.kty === "RSA" && typeof key.kid === "string" ? [[key.kid, keyFrom(key)] as const] : [],
  );
  return { keys: new Map(usable), until: now() + maxAge * 1_000, readAt: now() };
}

const keyFrom = (key: JsonWebKey) =>
  createPublicKey({ key: { kty: "RSA", n: key.n ?? "", e: key.e ?? "" }, format: "jwk" });
