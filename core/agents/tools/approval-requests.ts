/**
 * The requests for approval in the store. A request has the key of its call, so that a turn that a crash repeats finds it again, and any
 * node can take its answer.
 */
import { randomInt } from "node:crypto";
import type { Address, Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";
import type { AskedCall } from "./approval-texts.ts";

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
  readonly answer?: string;
  /** Allowed for the rest of the conversation. */
  readonly lasting?: true;
}

export interface ApprovalRequests {
  read(key: string): Promise<ApprovalRequest | null>;
  /** The key of the request with this code. */
  keyOf(code: string): Promise<string | undefined>;
  open(key: string, request: Pick<ApprovalRequest, "call" | "sessionKey" | "at" | "until">): Promise<ApprovalRequest>;
  /** Notes which events send the question. */
  asked(key: string, events: readonly string[]): Promise<unknown>;
  /** The first to end a request ends it; resolves with how it has ended. */
  end(key: string, how: Pick<ApprovalRequest, "state" | "by" | "answer" | "lasting">): Promise<ApprovalRequest | null>;
  /** Resolves when the request may have ended, or when the signal is aborted. */
  pause(key: string, until: number, signal: AbortSignal): Promise<void>;
  /** Allows the tool of a request for the rest of its conversation. */
  grant(request: ApprovalRequest): Promise<void>;
  /** Who allowed the tool, as it is now, for the conversation, as it is now. */
  grantedBy(sessionKey: string, call: Pick<AskedCall, "tool" | "definition">): Promise<string | undefined>;
}

const requestKey = (key: string) => `request:${key}`;
const codeKey = (code: string) => `code:${code.toUpperCase()}`;
const grantKey = (sessionKey: string, generation: number, { tool, definition }: Pick<AskedCall, "tool" | "definition">) =>
  `grant:${JSON.stringify([sessionKey, generation, tool, definition])}`;
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
    async grant({ sessionKey, generation, call, by = "" }) {
      await store.set(namespace, grantKey(sessionKey, generation, call), by, { expiresAt: now() + grantMs });
    },
    grantedBy: async (sessionKey, call) => textOf(await store.get(namespace, grantKey(sessionKey, await generationOf(sessionKey), call))),
  };
}
