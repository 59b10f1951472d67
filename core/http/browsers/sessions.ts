/** The sessions of browsers, in the store by the digest of their secret. They survive a restart, and can be revoked. */
import { hash, randomBytes } from "node:crypto";
import type { Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { isRole, type Role } from "./roles.ts";

const namespace = "browser-sessions";
const secretBytes = 32;
/** A session ends after this time without a request. */
const idleMs = 12 * 3_600_000;
/** It ends in any case after this time. */
export const longestMs = 30 * 24 * 3_600_000;
/** A request is noted at most this often. */
const noteMs = 5 * 60_000;
/** The one that was used longest ago gives way. */
const mostSessions = 100;

export interface Session {
  /** Names the session to people. It opens nothing. */
  readonly id: string;
  readonly role: Role;
  /** The browser that signed in, in its own words. */
  readonly browser: string;
  /** The address that it signed in from. */
  readonly from: string;
  readonly createdAt: number;
  readonly usedAt: number;
}

export interface Sessions {
  /** Resolves with the secret for the cookie. */
  begin(
    who: Pick<Session, "role" | "browser" | "from">,
  ): Promise<{ readonly secret: string; readonly session: Session }>;
  /** The session of a secret; `null` if there is none, or it has ended. Notes that it is used. */
  find(secret: string): Promise<Session | null>;
  list(): Promise<readonly Session[]>;
  /** Resolves with false if there is none. Its open streams end at once. */
  revoke(id: string): Promise<boolean>;
  /** Removes the sessions of other gateway tokens, so that a token that is set again opens none of them. */
  endOfOtherTokens(): Promise<void>;
  /** Aborted when the session is revoked here, or found to have ended. */
  ending(id: string): AbortSignal;
}

interface Stored extends Session {
  /** The digest of the gateway token: replacing the token ends all sessions. */
  readonly token: string;
}

/** `gatewayToken`: the current one. */
export function createSessions({
  store,
  now,
  gatewayToken,
}: {
  readonly store: Pick<Store, "get" | "set" | "delete" | "list" | "update">;
  readonly now: () => number;
  readonly gatewayToken: () => string | undefined;
}): Sessions {
  const endings = new Map<string, AbortController>();
  const keyOf = (secret: string) => hash("sha256", secret);
  const tokenDigest = () => hash("sha256", gatewayToken() ?? "");
  const until = ({ createdAt, usedAt }: Session) => Math.min(usedAt + idleMs, createdAt + longestMs);
  const shown = ({ token: _, ...session }: Stored): Session => session;
  const isOfToken = ({ token }: Stored) => token === tokenDigest();
  const isAlive = (value: Json | null): value is Json & Stored => {
    const session = value as unknown as Stored | null;
    return session !== null && isRole(session.role) && isOfToken(session) && until(session) > now();
  };
  const rows = async () => {
    const all = await store.list(namespace);
    return all.flatMap(({ key, value }) => (isAlive(value) ? [{ key, session: value as Stored }] : []));
  };
  const finish = ({ id }: Session) => {
    endings.get(id)?.abort();
    endings.delete(id);
  };
  const end = async (key: string, session: Session) => {
    const removed = await store.delete(namespace, key);
    finish(session);
    return removed;
  };

  return {
    async begin(who) {
      const secret = randomBytes(secretBytes).toString("base64url");
      const at = now();
      const session: Stored = {
        ...{ id: randomBytes(5).toString("hex"), ...who, createdAt: at, usedAt: at },
        token: tokenDigest(),
      };
      const known = (await rows()).toSorted((one, other) => one.session.usedAt - other.session.usedAt);
      for (const { key, session: old } of known.slice(0, Math.max(0, known.length + 1 - mostSessions)))
        await end(key, old);
      await store.set(namespace, keyOf(secret), session as unknown as Json, { expiresAt: at + longestMs });
      return { secret, session: shown(session) };
    },
    async find(secret) {
      const key = keyOf(secret);
      const value = await store.get(namespace, key);
      if (!isAlive(value)) {
        if (value !== null) finish(value as unknown as Stored);
        return null;
      }
      const session = shown(value as Stored);
      if (now() - session.usedAt < noteMs) return session;
      // A session that was revoked meanwhile does not come back.
      await store.update(
        namespace,
        key,
        (current) => (isAlive(current) ? ({ ...(current as Stored), usedAt: now() } as unknown as Json) : undefined),
        {
          expiresAt: session.createdAt + longestMs,
        },
      );
      return { ...session, usedAt: now() };
    },
    list: async () => (await rows()).map(({ session }) => shown(session)).toSorted((a, b) => b.usedAt - a.usedAt),
    async revoke(id) {
      const found = (await rows()).find(({ session }) => session.id === id);
      return found !== undefined && (await end(found.key, found.session));
    },
    async endOfOtherTokens() {
      for (const { key, value } of await store.list(namespace)) {
        const session = value as unknown as Stored;
        if (!isOfToken(session)) await end(key, session);
      }
    },
    ending(id) {
      const known = endings.get(id) ?? new AbortController();
      endings.set(id, known);
      return known.signal;
    },
  };
}
