/**
 * The requests for approval in the store. A request has the key of its call, so that a turn that a crash repeats finds
 * it again, and any node can take its answer.
 */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { AskedCall } from "./approval-texts.ts";
import { approvalsNamespace as namespace } from "./approvals-namespace.ts";
import type { Person } from "./requester.ts";

/** Requests are kept for a day, so that a late press learns the end. */
const keepMs = 24 * 60 * 60_000;
/** How often the store is read: another node may have taken the answer. */
const pollMs = 1_000;
/** Without letters that look alike. */
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export interface ApprovalRequest {
  /** What an owner types to answer it. */
  readonly code: string;
  readonly call: AskedCall;
  /** The event whose turn asks. Absent in requests of earlier versions. */
  readonly event?: string;
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
  /** The call that was allowed has begun, and the request allows no other. */
  readonly begun?: true;
  /** Why it was withdrawn; absent where its turn has ended. */
  readonly why?: "stopped" | "replaced";
  /** The messages of the question say how it ended. */
  readonly shown?: true;
}

/** A person who may hold a grant, with a name for the button. */
export interface GrantHolder extends Person {
  readonly name: string;
}

/** For a message about a request: it contains words of the person who caused the call. */
export const aboutOf = ({ countedAs }: ApprovalRequest): { readonly about?: Person } =>
  countedAs === undefined ? {} : { about: countedAs };

export interface ApprovalRequests {
  read(key: string): Promise<ApprovalRequest | null>;
  /** The key of the request with this code. */
  keyOf(code: string): Promise<string | undefined>;
  open(
    key: string,
    request: Omit<ApprovalRequest, "code" | "generation" | "events" | "state">,
  ): Promise<ApprovalRequest>;
  /** Notes which events send the question. */
  asked(key: string, events: readonly string[]): Promise<unknown>;
  /** Notes a further message of the question. */
  addCopy(key: string, address: Address, event: string): Promise<unknown>;
  /** The first to end a request ends it; resolves with how it has ended. */
  end(
    key: string,
    how: Pick<ApprovalRequest, "state" | "by" | "byOwner" | "answer" | "lasting" | "why">,
  ): Promise<ApprovalRequest | null>;
  /** Notes that the allowed call has begun. */
  begun(key: string): Promise<ApprovalRequest | null>;
  /**
   * Voids a request that is open, or that was allowed without effect. Resolves with it; `null` if there was nothing to
   * void.
   */
  withdraw(key: string, why?: ApprovalRequest["why"]): Promise<ApprovalRequest | null>;
  /** Notes that the messages of the request with this code say how it ended. */
  shown(key: string, code: string): Promise<unknown>;
  /** Every request of the last day. */
  all(): Promise<readonly ApprovalRequest[]>;
  /** The keys of the requests of an event's turn. */
  keysOf(event: string): Promise<readonly string[]>;
  /** Resolves when the request may have ended, or when the signal is aborted. */
  pause(key: string, until: number, signal: AbortSignal): Promise<void>;
}

const requestKey = (key: string) => `request:${key}`;
const codeKey = (code: string) => `code:${code.toUpperCase()}`;
const newCode = () => Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join("");

export function createApprovalRequests({
  store,
  now,
}: {
  readonly store: Pick<Store, "get" | "set" | "update" | "list" | "session">;
  readonly now: () => number;
}): ApprovalRequests {
  /** Wakes the calls that wait in this process. */
  const waiting = new Map<string, () => void>();
  const expiry = () => ({ expiresAt: now() + keepMs });
  const textOf = (value: Json | null) => (typeof value === "string" ? value : undefined);

  /** `undefined` from `change` leaves the request as it is. */
  const change = async (key: string, changed: (request: ApprovalRequest) => ApprovalRequest | undefined) =>
    (await store.update(
      namespace,
      requestKey(key),
      (value) =>
        value === null ? undefined : (changed(value as unknown as ApprovalRequest) as unknown as Json | undefined),
      expiry(),
    )) as ApprovalRequest | null;

  return {
    read: async (key) => (await store.get(namespace, requestKey(key))) as ApprovalRequest | null,
    keyOf: async (code) => textOf(await store.get(namespace, codeKey(code))),
    async open(key, request) {
      const generation = (await store.session(request.sessionKey))?.generation ?? 0;
      const opened: ApprovalRequest = { ...request, code: newCode(), generation, events: [], state: "waiting" };
      await store.set(namespace, codeKey(opened.code), key, expiry());
      await store.set(namespace, requestKey(key), opened as unknown as Json, expiry());
      return opened;
    },
    asked: (key, events) => change(key, (request) => ({ ...request, events })),
    addCopy: (key, address, event) =>
      change(key, (request) =>
        request.events.includes(event)
          ? undefined
          : { ...request, at: [...request.at, address], events: [...request.events, event] },
      ),
    async end(key, how) {
      const ended = await change(key, (request) => (request.state === "waiting" ? { ...request, ...how } : undefined));
      waiting.get(key)?.();
      return ended;
    },
    begun: (key) =>
      change(key, (request) =>
        request.state === "allowed" && request.begun !== true ? { ...request, begun: true } : undefined,
      ),
    async withdraw(key, why) {
      let withdrawn: ApprovalRequest | null = null;
      await change(key, (request) => {
        const isVoid = request.state === "waiting" || (request.state === "allowed" && request.begun !== true);
        withdrawn = isVoid ? { ...request, state: "withdrawn", ...(why !== undefined && { why }) } : null;
        return withdrawn ?? undefined;
      });
      waiting.get(key)?.();
      return withdrawn;
    },
    shown: (key, code) => change(key, (request) => (request.code === code ? { ...request, shown: true } : undefined)),
    async all() {
      const found = await store.list(namespace, { prefix: requestKey("") });
      return found.map(({ value }) => value as unknown as ApprovalRequest);
    },
    async keysOf(event) {
      const found = await store.list(namespace, { prefix: requestKey(`${event}:`) });
      return found.map(({ key }) => key.slice(requestKey("").length));
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
  };
}
