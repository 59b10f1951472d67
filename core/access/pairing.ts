/** Pairing of strangers in direct chats. Codes, approvals and owners are stored and belong to one account. */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 8;
/** How long a code is valid, in milliseconds. */
export const pairingLifetimeMs = 60 * 60_000;
const maxPending = 3;
const tellAgainMs = 10 * 60_000;
const maxWrongCodes = 10;
const lockMs = 10 * 60_000;

export interface PairingRequest {
  readonly code: string;
  readonly account: string;
  readonly senderId: string;
  readonly senderName?: string;
  /** Where the sender wrote, so that the approval can be announced there. */
  readonly address: Address;
  readonly createdAt: number;
  readonly toldAt: number;
  /**
   * The unit of work that sent the code. It is recorded before the notice is in the outbox, so that the unit sends the notice again after a
   * crash between the two.
   */
  readonly toldBy: string;
}

export interface PairedSender {
  readonly account: string;
  readonly senderId: string;
  readonly senderName?: string;
  readonly approvedAt: number;
}

export type ApproveResult =
  | { readonly ok: true; readonly request: PairingRequest; readonly madeOwner: boolean }
  | { readonly ok: false; readonly reason: "unknown_code" | "locked" };

export interface Pairing {
  /**
   * Returns a code for this sender; the same one until it expires. `tell` is true if `unit` must send the code, for example because an
   * earlier send failed. `null` when too many requests are pending.
   */
  request(who: {
    readonly address: Address;
    readonly senderId: string;
    readonly unit: string;
    readonly senderName?: string;
  }): Promise<{ readonly code: string; readonly tell: boolean } | null>;
  pending(channel: string, account?: string): Promise<readonly PairingRequest[]>;
  paired(channel: string, account?: string): Promise<readonly PairedSender[]>;
  isPaired(channel: string, account: string, senderId: string): Promise<boolean>;
  /**
   * Approves a code. The first sender approved for an account becomes its owner, unless `ownerNamed` says that the configuration names one.
   * With `owner`, the sender becomes an owner in any case.
   */
  approve(
    channel: string,
    code: string,
    options?: { readonly account?: string; readonly owner?: boolean; readonly ownerNamed?: (account: string) => boolean },
  ): Promise<ApproveResult>;
  deny(channel: string, code: string, account?: string): Promise<PairingRequest | null>;
  /** Withdraws approval and ownership, for one account or for all. */
  revoke(channel: string, senderId: string, account?: string): Promise<boolean>;
  /** Ids of the senders that pairing made owners of this account. */
  owners(channel: string, account: string): Promise<readonly string[]>;
}

interface WrongCodes {
  readonly count: number;
  /** Time of the first wrong code. It uses the wall clock because command-line processes count wrong codes, too. */
  readonly since: number;
  readonly lockedUntil: number;
}

type Pending = readonly PairingRequest[];

const namespace = (channel: string) => `pairing:${channel}`;
const pendingKey = (account: string) => `pending:${account}`;
const approvedKey = (account: string, senderId: string) => `approved:${account}:${senderId}`;
const ownersKey = (account: string) => `owners:${account}`;
const wrongKey = "wrong-codes";

export function createPairing({ store, now }: { readonly store: Store; readonly now: () => number }): Pairing {
  const alive = (value: Json | null): Pending =>
    ((value as unknown as Pending | null) ?? []).filter((request) => request.createdAt + pairingLifetimeMs > now());
  const save = (pending: Pending): Json | null => (pending.length === 0 ? null : (pending as unknown as Json));

  async function accounts(channel: string, account?: string): Promise<readonly Pending[]> {
    if (account !== undefined) return [alive(await store.get(namespace(channel), pendingKey(account)))];
    const rows = await store.list(namespace(channel), { prefix: "pending:" });
    return rows.map((row) => alive(row.value));
  }

  /**
   * Ten wrong codes within ten minutes lock approvals for ten minutes. If the clock was set back, the ten minutes restart at that moment.
   */
  async function isLocked(channel: string): Promise<boolean> {
    const wrong = (await store.get(namespace(channel), wrongKey)) as WrongCodes | null;
    if (wrong === null || wrong.lockedUntil <= now()) return false;
    if (wrong.lockedUntil - now() > lockMs) {
      const again: WrongCodes = { ...wrong, since: now(), lockedUntil: now() + lockMs };
      await store.set(namespace(channel), wrongKey, { ...again }, { expiresAt: now() + 2 * lockMs });
    }
    return true;
  }

  async function countWrong(channel: string): Promise<void> {
    await store.update(
      namespace(channel),
      wrongKey,
      (value) => {
        const seen = (value as WrongCodes | null) ?? { count: 0, since: now(), lockedUntil: 0 };
        const fresh = seen.since + lockMs > now() ? seen : { count: 0, since: now(), lockedUntil: 0 };
        const count = fresh.count + 1;
        const since = Math.min(fresh.since, now());
        return { count, since, lockedUntil: count >= maxWrongCodes ? now() + lockMs : fresh.lockedUntil };
      },
      { expiresAt: now() + 2 * lockMs },
    );
  }

  /** Removes a request from the row of its account. If two callers compete, only one gets it. */
  async function take(channel: string, code: string, account?: string): Promise<PairingRequest | null> {
    const wanted = code.trim().toUpperCase();
    const found = (await accounts(channel, account)).flat().find((request) => request.code === wanted);
    if (found === undefined) return null;
    let taken = false;
    await store.update(namespace(channel), pendingKey(found.account), (value) => {
      const pending = alive(value);
      taken = pending.some((request) => request.code === wanted);
      return taken ? save(pending.filter((request) => request.code !== wanted)) : undefined;
    });
    return taken ? found : null;
  }

  async function makeOwner(
    channel: string,
    { account, senderId }: PairingRequest,
    { always, first }: { readonly always: boolean; readonly first: boolean },
  ): Promise<boolean> {
    let made = false;
    await store.update(namespace(channel), ownersKey(account), (value) => {
      const owners = (value as readonly string[] | null) ?? [];
      made = (always || (first && owners.length === 0)) && !owners.includes(senderId);
      return made ? [...owners, senderId] : undefined;
    });
    return made;
  }

  async function dismiss(channel: string, account: string, senderId: string): Promise<void> {
    await store.update(namespace(channel), ownersKey(account), (value) => {
      const owners = (value as readonly string[] | null) ?? [];
      const rest = owners.filter((owner) => owner !== senderId);
      return rest.length === owners.length ? undefined : rest.length === 0 ? null : rest;
    });
  }

  return {
    async request({ address, senderId, senderName, unit }) {
      let result: { code: string; tell: boolean } | null = null;
      const before = alive(await store.get(namespace(address.channel), pendingKey(address.account))).find(
        (one) => one.senderId === senderId,
      );
      // A code whose delivery failed is sent with the next message. A delivery that is still being retried is not repeated.
      const lost = before !== undefined && (await store.failedPart(before.toldBy)) !== null ? before.toldBy : undefined;
      await store.update(namespace(address.channel), pendingKey(address.account), (value) => {
        const pending = alive(value);
        const known = pending.find((request) => request.senderId === senderId);
        if (known !== undefined) {
          const again = known.toldBy === lost || known.toldAt + tellAgainMs <= now();
          result = { code: known.code, tell: again || known.toldBy === unit };
          const told = { ...known, toldAt: now(), toldBy: unit };
          return again ? save(pending.map((request) => (request === known ? told : request))) : undefined;
        }
        if (pending.length >= maxPending) {
          result = null;
          return undefined;
        }
        const code = newCode();
        result = { code, tell: true };
        const request: PairingRequest = {
          code,
          account: address.account,
          senderId,
          ...(senderName === undefined ? {} : { senderName }),
          address,
          createdAt: now(),
          toldAt: now(),
          toldBy: unit,
        };
        return save([...pending, request]);
      });
      return result;
    },
    async pending(channel, account) {
      return (await accounts(channel, account)).flat().sort((a, b) => a.createdAt - b.createdAt);
    },
    async paired(channel, account) {
      const rows = await store.list(namespace(channel), { prefix: account === undefined ? "approved:" : `approved:${account}:` });
      return rows.map((row) => row.value as unknown as PairedSender);
    },
    async isPaired(channel, account, senderId) {
      return (await store.get(namespace(channel), approvedKey(account, senderId))) !== null;
    },
    async approve(channel, code, options = {}) {
      if (await isLocked(channel)) return { ok: false, reason: "locked" };
      const request = await take(channel, code, options.account);
      if (request === null) {
        await countWrong(channel);
        return { ok: false, reason: "unknown_code" };
      }
      const sender: PairedSender = {
        account: request.account,
        senderId: request.senderId,
        ...(request.senderName === undefined ? {} : { senderName: request.senderName }),
        approvedAt: now(),
      };
      await store.set(namespace(channel), approvedKey(request.account, request.senderId), sender as unknown as Json, { durable: true });
      const madeOwner = await makeOwner(channel, request, {
        always: options.owner ?? false,
        first: options.ownerNamed?.(request.account) !== true,
      });
      return { ok: true, request, madeOwner };
    },
    deny: (channel, code, account) => take(channel, code, account),
    async revoke(channel, senderId, account) {
      const rows = await store.list(namespace(channel), { prefix: "approved:" });
      const mine = rows.filter((row) => {
        const sender = row.value as unknown as PairedSender;
        return sender.senderId === senderId && (account === undefined || sender.account === account);
      });
      for (const row of mine) await store.delete(namespace(channel), row.key);
      for (const row of mine) await dismiss(channel, (row.value as unknown as PairedSender).account, senderId);
      return mine.length > 0;
    },
    async owners(channel, account) {
      return ((await store.get(namespace(channel), ownersKey(account))) as readonly string[] | null) ?? [];
    },
  };
}

function newCode(): string {
  return Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join("");
}
