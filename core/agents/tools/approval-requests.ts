/**
 * The requests for approval in the store, and the grants that answers give. A request has the key of its call, so that a turn that a crash
 * repeats finds it again, and any node can take its answer. A grant belongs to a person, in one conversation, for one tool.
 */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { AskedCall } from "./approval-texts.ts";
import { keyOfPerson, type Person } from "./requester.ts";

const namespace = "approvals";
/** Requests are kept for a day, so that a late press learns the end. */
const keepMs = 24 * 60 * 60_000;
/** A conversation that lasts longer asks again. */
const grantMs = 30 * keepMs;
/** How often the store is read: another node may have taken the answer. */
const pollMs = 1_000;
/** Without letters that look alike. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export interface ApprovalRequest {
  /** What an owner types to answer it. */
  readonly code: string;
  readonly call: AskedCall;
  /** Whose open question it is. Absent in requests of earlier versions. */
  readonly countedAs?: Person;
  /** Who may be allowed to call the tool until /new; absent where only this call can be allowed. */
  readonly holder?: GrantHolder;
  readonly sessionKey: string;
  readonly generation: number;
  /** Where it is asked. */
  readonly at: readonly Address[];
  /** The events that send the question, in the same order; empty until all are stored. */
  readonly events: readonly string[];
  /** Until when an answer is accepted, epoch milliseconds. */
  readonly until: number;
  readonly state: "waiting" | "allowed" | "denied" | "expired" | "undelivered" | "withdrawn";
  /** Who answered, for the trace, and the event of the answer. */
  readonly by?: string;
  readonly byOwner?: Person;
  readonly answer?: string;
  /** Allowed for the rest of the conversation. */
  readonly lasting?: true;
}

/** A person who may hold a grant, with a name for the button. */
export interface GrantHolder extends Person {
  readonly name: string;
}

/** What a person may do without a question. The members that name the person are those by which `privacy` finds a row. */
export interface Grant extends Person {
  readonly sessionKey: string;
  readonly tool: string;
  /** The owner who gave it, in words. */
  readonly by: string;
  readonly byOwner?: Person;
}

export interface ApprovalRequests {
  read(key: string): Promise<ApprovalRequest | null>;
  /** The key of the request with this code. */
  keyOf(code: string): Promise<string | undefined>;
  open(key: string, request: Omit<ApprovalRequest, "code" | "generation" | "events" | "state">): Promise<ApprovalRequest>;
  /** Notes which events send the question. */
  asked(key: string, events: readonly string[]): Promise<unknown>;
  /** The first to end a request ends it; resolves with how it has ended. */
  end(key: string, how: Pick<ApprovalRequest, "state" | "by" | "byOwner" | "answer" | "lasting">): Promise<ApprovalRequest | null>;
  /** Resolves when the request may have ended, or when the signal is aborted. */
  pause(key: string, until: number, signal: AbortSignal): Promise<void>;
  /** Allows the holder of a request its tool for the rest of the conversation. */
  grant(request: ApprovalRequest): Promise<void>;
  /** The grant of a person for the tool, as it is now, in the conversation, as it is now. */
  grantOf(person: Person, sessionKey: string, call: Pick<AskedCall, "tool" | "definition">): Promise<Grant | undefined>;
}

const requestKey = (key: string) => `request:${key}`;
const codeKey = (code: string) => `code:${code.toUpperCase()}`;
/** Rows under `grant:` are of versions in which a grant belonged to a conversation. They are not read, and expire. */
const grantPrefix = "granted:";
const grantKey = (
  person: Person,
  sessionKey: string,
  { generation, tool, definition }: Pick<AskedCall, "tool" | "definition"> & { readonly generation: number },
) => `${grantPrefix}${JSON.stringify([sessionKey, generation, tool, definition, ...keyOfPerson(person)])}`;
const newCode = () => Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join("");

export function createApprovalRequests({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "set" | "update" | "session">;
  readonly now: () => number;
}): ApprovalRequests {
  /** Wakes the calls that wait in this process. */
  const waiting = new Map<string, () => void>();
  const kept = () => ({ expiresAt: now() + keepMs });
  const generationOf = async (sessionKey: string) => (await store.session(sessionKey))?.generation ?? 0;
  const textOf = (value: Json | null) => (typeof value === "string" ? value : undefined);

  /** `undefined` from `change` leaves the request as it is. */
  const change = async (key: string, changed: (request: ApprovalRequest) => ApprovalRequest | undefined) =>
    (await store.update(
      namespace,
      requestKey(key),
      (value) => (value === null ? undefined : (changed(value as unknown as ApprovalRequest) as unknown as Json | undefined)),
      kept(),
    )) as ApprovalRequest | null;

  return {
    read: async (key) => (await store.get(namespace, requestKey(key))) as ApprovalRequest | null,
    keyOf: async (code) => textOf(await store.get(namespace, codeKey(code))),
    async open(key, request) {
      const generation = await generationOf(request.sessionKey);
      const opened: ApprovalRequest = { ...request, code: newCode(), generation, events: [], state: "waiting" };
      await store.set(namespace, codeKey(opened.code), key, kept());
      await store.set(namespace, requestKey(key), opened as unknown as Json, kept());
      return opened;
    },
    asked: (key, events) => change(key, (request) => ({ ...request, events })),
    async end(key, how) {
      const ended = await change(key, (request) => (request.state === "waiting" ? { ...request, ...how } : undefined));
      waiting.get(key)?.();
      return ended;
    },
    async pause(key, until, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = () => resolve();
      waiting.set(key, leave);
      const timer = setTimeout(leave, Math.max(1, Math.min(pollMs, until - now())));
      signal.addEventListener("abort", leave, { once: true });
      if (!signal.aborted) await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", leave);
      waiting.delete(key);
    },
    async grant({ sessionKey, generation, call, holder, by = "", byOwner }) {
      if (holder === undefined) return;
      const { channel, account, senderId } = holder;
      const grant: Grant = { channel, account, senderId, sessionKey, tool: call.tool, by, ...(byOwner !== undefined && { byOwner }) };
      const key = grantKey(holder, sessionKey, { ...call, generation });
      await store.set(namespace, key, grant as unknown as Json, { expiresAt: now() + grantMs });
    },
    async grantOf(person, sessionKey, call) {
      const generation = await generationOf(sessionKey);
      const found = await store.get(namespace, grantKey(person, sessionKey, { ...call, generation }));
      return found === null ? undefined : (found as unknown as Grant);
    },
  };
}

/**
 * Withdraws the grants that `matches` names: those of a conversation that is deleted, whose number a new one would take, and those of a
 * person who may no longer write.
 */
export async function withdrawGrants(store: Pick<Store, "list" | "delete">, matches: (grant: Grant) => boolean): Promise<void> {
  for (const { key, value } of await store.list(namespace, { prefix: grantPrefix }))
    if (matches(value as unknown as Grant)) await store.delete(namespace, key);
}
