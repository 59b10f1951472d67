/**
 * The limits of the REST API. The platform names them in the headers of each answer: a *bucket* is shared by some
 * routes, for each channel, server or webhook. See https://discord.com/developers/docs/topics/rate-limits.
 */
import { createTokenBucket, pause, retryAfterOf } from "service-gateway/sdk/channel";

interface Bucket {
  readonly limit: number;
  remaining: number;
  /** By the clock of the account. */
  readonly resetAt: number;
}

/** What limits are counted for: the method and the kind of call, and the channel, server or webhook of its path. */
export interface CallRoute {
  readonly kind: string;
  readonly place: string;
}

export interface RateLimits {
  /** Milliseconds until a call may be made; 0: now. */
  delay(route: CallRoute): number;
  /** Counts a call. `undefined`: it may be made; else resolves when it may, or when the signal aborts. */
  take(route: CallRoute, signal: AbortSignal): Promise<void> | undefined;
  /** Reads what an answer says of the limits. */
  answered(
    route: CallRoute,
    answer: { readonly status: number; readonly headers: Headers; readonly body?: unknown },
  ): void;
}

/** Calls a second over all routes, which the platform does not name in headers. */
const perSecond = 50;
const mostRemembered = 5_000;

export function routeOf(method: string, path: string): CallRoute {
  const [, place = "", rest = ""] =
    /^(\/(?:channels|guilds|webhooks\/\d+|interactions\/\d+)\/[^/?]+)?([^?]*)/.exec(path) ?? [];
  const plain = rest.replace(/\/reactions\/.*/, "/reactions").replace(/\d{5,}/g, "#");
  return { kind: `${method} ${place.split("/")[1] ?? ""}${plain}`, place };
}

export function createRateLimits(now: () => number): RateLimits {
  const global = createTokenBucket({ burst: perSecond, everyMs: 1_000 / perSecond, now });
  /** The bucket of each kind of call; unknown before its first answer. */
  const names = new Map<string, string>();
  const buckets = new Map<string, Bucket>();
  let globalUntil = 0;

  const keyOf = ({ kind, place }: CallRoute) => `${names.get(kind) ?? kind} ${place}`;

  function delay(route: CallRoute): number {
    const bucket = buckets.get(keyOf(route));
    const ownUntil = bucket !== undefined && bucket.remaining <= 0 ? bucket.resetAt : 0;
    return Math.max(0, Math.max(ownUntil, globalUntil) - now());
  }

  function remember(key: string, bucket: Bucket): void {
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= mostRemembered) break;
      buckets.delete(oldest);
    }
  }

  function count(route: CallRoute): void {
    const bucket = buckets.get(keyOf(route));
    if (bucket === undefined) return;
    if (bucket.resetAt <= now() && bucket.remaining < bucket.limit) bucket.remaining = bucket.limit;
    bucket.remaining -= 1;
  }

  async function wait(route: CallRoute, signal: AbortSignal): Promise<void> {
    for (let ms = delay(route); ms > 0 && !signal.aborted; ms = delay(route)) await pause(ms, signal);
    count(route);
    await global.take(signal);
  }

  return {
    delay,
    take(route, signal) {
      if (delay(route) > 0) return wait(route, signal);
      count(route);
      return global.take(signal);
    },
    answered(route, { status, headers, body }) {
      const name = headers.get("x-ratelimit-bucket");
      if (name !== null) names.set(route.kind, name);
      const key = keyOf(route);
      if (status === 429) {
        const until = now() + (retryAfterOf({ status, headers, body }) ?? 1_000);
        const isGlobal = headers.get("x-ratelimit-global") !== null || headers.get("x-ratelimit-scope") === "global";
        if (isGlobal) globalUntil = until;
        else remember(key, { limit: 1, remaining: 0, resetAt: until });
        return;
      }
      const [limit, remaining, seconds] = ["limit", "remaining", "reset-after"].map((header) =>
        Number(headers.get(`x-ratelimit-${header}`) ?? Number.NaN),
      ) as [number, number, number];
      if ([limit, remaining, seconds].some(Number.isNaN)) return;
      // Calls that are on their way may have been counted already.
      const known = buckets.get(key);
      const left = known !== undefined && known.resetAt > now() ? Math.min(known.remaining, remaining) : remaining;
      remember(key, { limit, remaining: left, resetAt: now() + Math.ceil(seconds * 1_000) });
    },
  };
}
