/**
 * Setup codes, requests and devices. All data is in the store, so the gateway and the command line always see the same.
 */
import type { Address, Json, PluginStore } from "service-gateway/sdk";
import { digestOf, isDigestOf, newCode, newSecret, readCode } from "./secret.ts";

export interface Device {
  readonly id: string;
  /** The name that the device chose. */
  readonly name: string;
  readonly askedAt: number;
  /** The client address that sent the request. */
  readonly askedFrom: string;
  /** When the device was approved; absent while it waits for approval. */
  readonly approvedAt?: number;
  /** True once the device has fetched its token. */
  readonly connected: boolean;
  /** When the token was last used, with a precision of one minute. */
  readonly usedAt?: number;
}

/**
 * A device as stored. `secret` is the digest of the secret that the device polls with; `token` is the digest of its
 * token.
 */
interface DeviceRecord extends Omit<Device, "id" | "connected"> {
  readonly secret: string | null;
  /** The chat in which the code was requested, which shows who owns the device. */
  readonly invitedAt?: Address | null;
  readonly token: string | null;
  /** The deadline for the approval, and afterwards for fetching the token. */
  readonly until: number;
}

export interface Devices {
  /** Creates a setup code, valid once. `at` is the chat in which it was requested. */
  invite(at: Address | null): Promise<string>;
  /** Creates a device's request. The code is invalid afterwards. */
  ask(request: { readonly code: string; readonly name: string; readonly from: string }): Promise<Asked>;
  /** Returns a device's token in exchange for its secret. Can be repeated until the device has used a token. */
  collect(id: string, secret: string): Promise<Collected>;
  /** Whether a token belongs to a device. */
  holds(token: string): Promise<boolean>;
  /** All devices and requests, oldest request first. */
  list(): Promise<readonly Device[]>;
  /** Approves a request; without an id, the latest one. `null` if there is no such request. */
  approve(id?: string): Promise<Device | null>;
  /** Revokes a token or rejects a request. `null` if there is no such device. */
  revoke(id: string): Promise<Device | null>;
}

export type Asked =
  | {
      readonly ok: true;
      readonly id: string;
      readonly secret: string;
      /** The chat in which the code was requested. */
      readonly invitedAt: Address | null;
    }
  | { readonly ok: false; readonly reason: "code" | "full" };
export type Collected =
  | { readonly state: "unknown" }
  | { readonly state: "pending" }
  | { readonly state: "approved"; readonly token: string };

/** A code as stored. */
interface CodeRecord {
  readonly made: number;
  readonly at: Address | null;
}

const mostCodes = 3;
const mostWaiting = 10;
const usedEveryMs = 60_000;
const keyOf = (id: string) => `device:${id}`;
const idPattern = /^[A-Z2-9]{8}$/;

export function createDevices(options: {
  readonly store: PluginStore;
  readonly now: () => number;
  readonly codeTtlSeconds: number;
  readonly requestTtlSeconds: number;
}): Devices {
  const { store, now, codeTtlSeconds, requestTtlSeconds } = options;

  async function read(id: string): Promise<DeviceRecord | null> {
    return idPattern.test(id) ? ((await store.get(keyOf(id))) as DeviceRecord | null) : null;
  }

  /** Changes a record; `undefined` leaves it unchanged. A device that is removed meanwhile stays removed. */
  async function change(
    id: string,
    next: (record: DeviceRecord) => DeviceRecord | undefined,
  ): Promise<DeviceRecord | null> {
    const update = (value: Json | null) =>
      value === null ? undefined : (next(value as unknown as DeviceRecord) as Json | undefined);
    return (await store.update(keyOf(id), update)) as DeviceRecord | null;
  }

  const isLive = ({ token, until }: DeviceRecord) => token !== null || until > now();

  async function records(): Promise<readonly (readonly [id: string, DeviceRecord])[]> {
    const all = await store.list({ prefix: "device:" });
    return all
      .map(({ key, value }) => [key.slice("device:".length), value as unknown as DeviceRecord] as const)
      .sort(([, a], [, b]) => a.askedAt - b.askedAt);
  }

  /**
   * Deletes requests that were not approved or fetched in time, so that only approved devices remain. Returns the
   * number of waiting requests.
   */
  async function waiting(): Promise<number> {
    const all = await records();
    for (const [id, record] of all) if (!isLive(record)) await store.delete(keyOf(id));
    return all.filter(([, record]) => isLive(record) && record.approvedAt === undefined).length;
  }

  return {
    async invite(at) {
      const codes = await store.list({ prefix: "code:" });
      const old = codes.toSorted((a, b) => madeAt(b.value) - madeAt(a.value)).slice(mostCodes - 1);
      for (const { key } of old) await store.delete(key);
      const code = newCode(8);
      const record: CodeRecord = { made: now(), at };
      await store.set(`code:${digestOf(code)}`, record as unknown as Json, { ttlSeconds: codeTtlSeconds });
      return code;
    },
    async ask({ code, name, from }) {
      if ((await waiting()) >= mostWaiting) return { ok: false, reason: "full" };
      const key = `code:${digestOf(readCode(code))}`;
      const invitation = (await store.get(key)) as CodeRecord | null;
      // If two requests use the same code, only one of them finds it to delete.
      if (invitation === null || !(await store.delete(key))) return { ok: false, reason: "code" };
      const id = newCode(8);
      const secret = newSecret();
      const askedAt = now();
      const until = askedAt + requestTtlSeconds * 1_000;
      const record: DeviceRecord = {
        name,
        askedAt,
        askedFrom: from,
        secret: digestOf(secret),
        token: null,
        until,
        invitedAt: invitation.at ?? null,
      };
      await store.set(keyOf(id), record as unknown as Json);
      return { ok: true, id, secret, invitedAt: invitation.at ?? null };
    },
    async collect(id, secret) {
      const record = await read(id);
      const known =
        record !== null && record.secret !== null && record.until > now() && isDigestOf(secret, record.secret);
      if (!known) return { state: "unknown" };
      if (record.approvedAt === undefined) return { state: "pending" };
      // The token contains the device's id, so that checking it takes one look-up by a public name and one comparison
      // of digests.
      const token = `${id}.${newSecret()}`;
      const digest = digestOf(token);
      const after = await change(id, (next) =>
        next.secret === record.secret ? { ...next, token: digest } : undefined,
      );
      return after?.token === digest ? { state: "approved", token } : { state: "unknown" };
    },
    async holds(token) {
      const [id = ""] = token.split(".", 1);
      const record = await read(id);
      if (record === null || record.token === null || !isDigestOf(token, record.token)) return false;
      if (record.secret !== null || now() - (record.usedAt ?? 0) >= usedEveryMs) {
        // A full disk must not lock out the device that could free space.
        await change(id, (next) => ({ ...next, secret: null, usedAt: now() })).catch(() => {});
      }
      return true;
    },
    async list() {
      return (await records()).filter(([, record]) => isLive(record)).map(([id, record]) => toDevice(id, record));
    },
    async approve(asked) {
      const open = (await records()).filter(([, record]) => isLive(record) && record.approvedAt === undefined);
      const id = asked === undefined ? open.at(-1)?.[0] : readCode(asked);
      if (id === undefined || !open.some(([one]) => one === id)) return null;
      // The time limit starts again after the approval. It is derived from the request, because the command line does
      // not know the options.
      const again = ({ until, askedAt }: DeviceRecord) => now() + (until - askedAt);
      const record = await change(id, (next) =>
        next.approvedAt === undefined ? { ...next, approvedAt: now(), until: again(next) } : undefined,
      );
      return record === null ? null : toDevice(id, record);
    },
    async revoke(asked) {
      const id = readCode(asked);
      const record = await read(id);
      return record !== null && (await store.delete(keyOf(id))) ? toDevice(id, record) : null;
    },
  };
}

function madeAt(code: Json): number {
  return (code as unknown as CodeRecord).made ?? 0;
}

function toDevice(
  id: string,
  { secret: _secret, until: _until, invitedAt: _place, token, ...device }: DeviceRecord,
): Device {
  return { id, ...device, connected: token !== null };
}
