/**
 * The way to a link: a code that a person asks for in one chat and types in another, and a request that an owner
 * confirms. Both are used up by their first use, and expire.
 */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import { createWrongCodeLimit } from "../wrong-codes.ts";
import { isSameId, type LinkedId, linksNamespace, writtenId } from "./people.ts";

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 8;
const linkCodeMs = 10 * 60_000;
const requestMs = 24 * 60 * 60_000;
/** The oldest gives way. */
const most = 200;

/** One of the two ids, and the direct chat in which its person has written. */
export interface LinkEnd extends LinkedId {
  readonly name?: string;
  readonly address: Address;
}

interface PendingCode {
  readonly code: string;
  readonly end: LinkEnd;
  readonly createdAt: number;
}

/** Two people say that they are one, and an owner has to confirm it. */
export interface LinkRequest {
  readonly code: string;
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly createdAt: number;
  /** It stays until it expires, so that an owner is not asked again and again. */
  readonly denied?: true;
}

export type UsedCode = { readonly ok: true; readonly end: LinkEnd } | { readonly ok: false; readonly locked: boolean };

export interface LinkRequests {
  /** A new code for this id. An earlier one no longer works. */
  begin(end: LinkEnd): Promise<string>;
  /** Uses a code up. After ten wrong ones of one id within ten minutes, none of it is looked at for ten minutes. */
  use(code: string, by: LinkedId): Promise<UsedCode>;
  /** Resolves with the code of the request. `isNew` is false if the same two ids wait already. */
  propose(
    ends: LinkRequest["ends"],
  ): Promise<{ readonly code: string; readonly isNew: boolean; readonly denied: boolean }>;
  waiting(): Promise<readonly LinkRequest[]>;
  /** Uses a request up, to confirm or to deny it. */
  take(code: string): Promise<LinkRequest | undefined>;
  /** The same two ids cannot ask again for a day. */
  deny(request: LinkRequest): Promise<void>;
  /** Removes the codes and requests of an id; with `denied`, the memory of denied ones too. */
  forget(id: LinkedId, also?: { readonly denied?: boolean }): Promise<void>;
}

const newCode = (): string => Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join("");

export function createLinkRequests({
  store,
  now,
}: {
  readonly store: Store;
  readonly now: () => number;
}): LinkRequests {
  const wrongCodes = createWrongCodeLimit({ store, now, namespace: linksNamespace });

  /** Changes one of the two lists in one step, so that of two callers only one gets an entry. */
  async function change<T extends { readonly createdAt: number }>(
    key: "codes" | "requests",
    lifetimeMs: number,
    update: (entries: readonly T[]) => readonly T[],
  ): Promise<void> {
    await store.update(linksNamespace, key, (value) => {
      const alive = ((value ?? []) as unknown as readonly T[]).filter(
        ({ createdAt }) => createdAt <= now() && now() < createdAt + lifetimeMs,
      );
      const next = update(alive).slice(-most);
      return next.length === 0 ? null : (next as unknown as Json);
    });
  }

  async function take(code: string): Promise<LinkRequest | undefined> {
    const wanted = code.trim().toUpperCase();
    let found: LinkRequest | undefined;
    await change<LinkRequest>("requests", requestMs, (requests) => {
      found = requests.find((request) => request.code === wanted && request.denied !== true);
      return requests.filter((request) => request !== found);
    });
    return found;
  }

  return {
    async begin(end) {
      const code = newCode();
      await change<PendingCode>("codes", linkCodeMs, (codes) => [
        ...codes.filter((one) => !isSameId(one.end, end)),
        { code, end, createdAt: now() },
      ]);
      return code;
    },
    async use(code, by) {
      const who = writtenId(by);
      if (await wrongCodes.isLocked(who)) return { ok: false, locked: true };
      const wanted = code.trim().toUpperCase();
      let found: PendingCode | undefined;
      await change<PendingCode>("codes", linkCodeMs, (codes) => {
        found = codes.find((one) => one.code === wanted);
        return codes.filter((one) => one !== found);
      });
      if (found !== undefined) return { ok: true, end: found.end };
      await wrongCodes.count(who);
      return { ok: false, locked: false };
    },
    async propose(ends) {
      let known: LinkRequest | undefined;
      const fresh: LinkRequest = { code: newCode(), ends, createdAt: now() };
      await change<LinkRequest>("requests", requestMs, (requests) => {
        known = requests.find((request) => ends.every((end) => request.ends.some((other) => isSameId(end, other))));
        return known === undefined ? [...requests, fresh] : requests;
      });
      const { code, denied = false } = known ?? fresh;
      return { code, isNew: known === undefined, denied };
    },
    async waiting() {
      const all = ((await store.get(linksNamespace, "requests")) ?? []) as unknown as readonly LinkRequest[];
      return all.filter(({ createdAt, denied }) => denied !== true && now() < createdAt + requestMs);
    },
    take,
    deny: (request) =>
      change<LinkRequest>("requests", requestMs, (requests) => [...requests, { ...request, denied: true }]),
    async forget(id, { denied: alsoDenied = false } = {}) {
      const isOf = (ends: readonly LinkedId[]) => ends.some((end) => isSameId(end, id));
      await change<PendingCode>("codes", linkCodeMs, (codes) => codes.filter(({ end }) => !isOf([end])));
      await change<LinkRequest>("requests", requestMs, (requests) =>
        requests.filter(({ ends, denied }) => (denied === true && !alsoDenied) || !isOf(ends)),
      );
    },
  };
}
