/** Pairing of strangers in direct chats. Codes, approvals and owners are stored and belong to one account. */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../contract/index.ts";
import type { Store } from "../state/index.ts";
import { pairingNamespace } from "./pairing-namespace.ts";
import { createPairingOwners } from "./pairing-owners.ts";
import { createWrongCodeLimit } from "./wrong-codes.ts";

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 8;
/** How long a code is valid, in milliseconds. */
export const pairingLifetimeMs = 60 * 60_000;
/** How long the approval of an identity lasts that another person can take over, in milliseconds. */
const weakApprovalMs = 24 * 60 * 60_000;
/** How many requests of one account are kept. An owner approves by the code that a sender passes on. */
export const maxPending = 100;
/** How long a request cannot be displaced by another one. */
const protectedMs = 10 * 60_000;
const resendAfterMs = 10 * 60_000;

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
   * The unit of work that sent the code. It is recorded before the notice is in the outbox, so that the unit sends the
   * notice again after a crash between the two.
   */
  readonly toldBy: string;
  /** The event of the sender's newest message, which the approval runs. Absent in requests of earlier versions. */
  readonly newest?: string;
  /** The unit that sent the notice that the request waits for an owner. */
  readonly waitToldBy?: string;
  /** Another person can take the sender's id over. */
  readonly weak?: true;
}

export interface PairedSender {
  readonly account: string;
  readonly senderId: string;
  readonly senderName?: string;
  readonly approvedAt: number;
  /** Epoch milliseconds; absent: the approval does not expire. */
  readonly expiresAt?: number;
}

export type ApproveResult =
  | { readonly ok: true; readonly request: PairingRequest; readonly madeOwner: boolean; readonly expiresAt?: number }
  | { readonly ok: false; readonly reason: "unknown_code" | "locked" };

export interface PairingOffer {
  readonly code: string;
  readonly notify: boolean;
  readonly waits?: true;
}

export interface Pairing {
  /**
   * Returns a code for this sender; the same one until it expires. `notify` is true if `unit` must send the code, for
   * example because an earlier send failed; `waits` if it must say, once, that the request waits for an owner. `unit`
   * is the newest message of the sender, which the approval runs. If too many requests are pending, the oldest one
   * gives way, so that strangers cannot keep out a sender for long. It keeps its place for ten minutes, so that
   * strangers cannot push out a request that an owner is about to approve; `null` if all are younger.
   */
  request(who: {
    readonly address: Address;
    readonly senderId: string;
    readonly unit: string;
    readonly senderName?: string;
    readonly weak?: boolean;
  }): Promise<PairingOffer | null>;
  pending(channel: string, account?: string): Promise<readonly PairingRequest[]>;
  paired(channel: string, account?: string): Promise<readonly PairedSender[]>;
  isPaired(channel: string, account: string, senderId: string): Promise<boolean>;
  /**
   * Approves a code. The first sender approved for an account becomes its owner, unless `ownerNamed` says that the
   * configuration names one. With `owner`, the sender becomes an owner in any case. An id that another person can take
   * over never does, and its approval expires.
   */
  approve(
    channel: string,
    code: string,
    options?: {
      readonly account?: string;
      readonly owner?: boolean;
      readonly ownerNamed?: (account: string) => boolean;
    },
  ): Promise<ApproveResult>;
  deny(channel: string, code: string, account?: string): Promise<PairingRequest | null>;
  /** Withdraws approval and ownership, for one account or for all. */
  revoke(channel: string, senderId: string, account?: string): Promise<boolean>;
  /** Ids of the senders that pairing made owners of this account. */
  owners(channel: string, account: string): Promise<readonly string[]>;
}

type Pending = readonly PairingRequest[];

const pendingKey = (account: string) => `pending:${account}`;
const approvedKey = (account: string, senderId: string) => `approved:${account}:${senderId}`;

export function createPairing({ store, now }: { readonly store: Store; readonly now: () => number }): Pairing {
  const wrongCodes = createWrongCodeLimit({ store, now });
  const owners = createPairingOwners(store);
  const alive = (value: Json | null): Pending =>
    ((value as unknown as Pending | null) ?? []).filter((request) => request.createdAt + pairingLifetimeMs > now());
  const save = (pending: Pending): Json | null => (pending.length === 0 ? null : (pending as unknown as Json));

  /** `null` if the oldest request is still protected. They are in the order in which they were made. */
  function withoutOldest([oldest, ...rest]: Pending): Pending | null {
    return oldest !== undefined && oldest.createdAt + protectedMs <= now() ? rest : null;
  }

  async function accounts(channel: string, account?: string): Promise<readonly Pending[]> {
    if (account !== undefined) return [alive(await store.get(pairingNamespace(channel), pendingKey(account)))];
    const rows = await store.list(pairingNamespace(channel), { prefix: "pending:" });
    return rows.map((row) => alive(row.value));
  }

  /** Removes a request from the row of its account. If two callers compete, only one gets it. */
  async function take(channel: string, code: string, account?: string): Promise<PairingRequest | null> {
    const wanted = code.trim().toUpperCase();
    const found = (await accounts(channel, account)).flat().find((request) => request.code === wanted);
    if (found === undefined) return null;
    let taken = false;
    await store.update(pairingNamespace(channel), pendingKey(found.account), (value) => {
      const pending = alive(value);
      taken = pending.some((request) => request.code === wanted);
      return taken ? save(pending.filter((request) => request.code !== wanted)) : undefined;
    });
    return taken ? found : null;
  }

  return {
    async request({ address, senderId, senderName, unit, weak = false }) {
      let result: PairingOffer | null = null;
      const before = alive(await store.get(pairingNamespace(address.channel), pendingKey(address.account))).find(
        (one) => one.senderId === senderId,
      );
      // A code whose delivery failed is sent with the next message. A delivery that is still being retried is not
      // repeated.
      const lost = before !== undefined && (await store.failedPart(before.toldBy)) !== null ? before.toldBy : undefined;
      await store.update(pairingNamespace(address.channel), pendingKey(address.account), (value) => {
        const pending = alive(value);
        const known = pending.find((request) => request.senderId === senderId);
        if (known !== undefined) {
          const again = known.toldBy === lost || known.toldAt + resendAfterMs <= now();
          const notify = again || known.toldBy === unit;
          const waits = !notify && (known.waitToldBy === undefined || known.waitToldBy === unit);
          result = { code: known.code, notify, ...(waits && { waits }) };
          const notified = again ? { toldAt: now(), toldBy: unit } : waits ? { waitToldBy: unit } : {};
          const next = { ...known, ...notified, newest: unit };
          return save(pending.map((request) => (request === known ? next : request)));
        }
        const room = pending.length < maxPending ? pending : withoutOldest(pending);
        if (room === null) {
          result = null;
          return undefined;
        }
        const code = newCode();
        result = { code, notify: true };
        const request: PairingRequest = {
          code,
          account: address.account,
          senderId,
          senderName,
          address,
          createdAt: now(),
          toldAt: now(),
          toldBy: unit,
          newest: unit,
          ...(weak && { weak }),
        };
        return save([...room, request]);
      });
      return result;
    },
    async pending(channel, account) {
      return (await accounts(channel, account)).flat().sort((a, b) => a.createdAt - b.createdAt);
    },
    async paired(channel, account) {
      const rows = await store.list(pairingNamespace(channel), {
        prefix: account === undefined ? "approved:" : `approved:${account}:`,
      });
      return rows.map((row) => row.value as unknown as PairedSender);
    },
    async isPaired(channel, account, senderId) {
      return (await store.get(pairingNamespace(channel), approvedKey(account, senderId))) !== null;
    },
    async approve(channel, code, options = {}) {
      if (await wrongCodes.isLocked(channel)) return { ok: false, reason: "locked" };
      const request = await take(channel, code, options.account);
      if (request === null) {
        await wrongCodes.count(channel);
        return { ok: false, reason: "unknown_code" };
      }
      const sender: PairedSender = {
        account: request.account,
        senderId: request.senderId,
        senderName: request.senderName,
        approvedAt: now(),
        ...(request.weak && { expiresAt: now() + weakApprovalMs }),
      };
      await store.set(
        pairingNamespace(channel),
        approvedKey(request.account, request.senderId),
        sender as unknown as Json,
        {
          durable: true,
          expiresAt: sender.expiresAt,
        },
      );
      if (sender.expiresAt !== undefined) return { ok: true, request, madeOwner: false, expiresAt: sender.expiresAt };
      const madeOwner = await owners.make(channel, request, {
        always: options.owner ?? false,
        first: options.ownerNamed?.(request.account) !== true,
      });
      return { ok: true, request, madeOwner };
    },
    deny: (channel, code, account) => take(channel, code, account),
    async revoke(channel, senderId, account) {
      const rows = await store.list(pairingNamespace(channel), { prefix: "approved:" });
      const mine = rows.filter((row) => {
        const sender = row.value as unknown as PairedSender;
        return sender.senderId === senderId && (account === undefined || sender.account === account);
      });
      for (const row of mine) await store.delete(pairingNamespace(channel), row.key);
      for (const row of mine) await owners.dismiss(channel, (row.value as unknown as PairedSender).account, senderId);
      return mine.length > 0;
    },
    owners: owners.of,
  };
}

function newCode(): string {
  return Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join("");
}
