/** Calls between two threads: each side makes and answers calls over one port. Values cross by structured clone. */
import { reasonOf } from "../contract/index.ts";
import type { CurrentCall } from "./current-call.ts";
import { isPackedError, type PackedError, packError, unpackError } from "./packed-error.ts";

export type Message =
  | { readonly type: "ask"; readonly id: number; readonly call: string; readonly args: readonly unknown[] }
  | { readonly type: "tell"; readonly call: string; readonly args: readonly unknown[] }
  /** The caller of an ask has no use for its answer any more. */
  | { readonly type: "abort"; readonly id: number }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "failure"; readonly id: number; readonly error: PackedError };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A message of the other side; `undefined` if the value is none. */
export function asMessage(value: unknown): Message | undefined {
  if (!isObject(value)) return undefined;
  const { type, id, call, args, error } = value;
  const isCall = typeof call === "string" && Array.isArray(args);
  const isWhole = {
    ask: isCall && Number.isSafeInteger(id),
    tell: isCall,
    abort: Number.isSafeInteger(id),
    answer: Number.isSafeInteger(id),
    failure: Number.isSafeInteger(id) && isPackedError(error),
  };
  const isKnown = typeof type === "string" && Object.hasOwn(isWhole, type) && isWhole[type as Message["type"]];
  return isKnown ? (value as Message) : undefined;
}

/** What one side does for the other, by the name of the call. The signal aborts when the caller gives up. */
export type Handlers = Readonly<Record<string, (args: never, signal: AbortSignal) => unknown>>;

export interface Peer {
  /** Resolves with the answer. Rejects with what the handler threw, or when the connection ends. */
  ask<T>(call: string, args: readonly unknown[], signal?: AbortSignal): Promise<T>;
  /** A call without an answer. */
  tell(call: string, args: readonly unknown[]): void;
  /** Resolves once an ask is answered. */
  receive(message: Message): Promise<void>;
  /** Rejects every ask that waits, by its id, and every later one, which has none. */
  end(errorOf: (id?: number) => Error): void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
  readonly leave: () => void;
}

const unseen: CurrentCall = { during: (_id, run) => run() };

export function createPeer(post: (message: Message) => void, handlers: Handlers, current: CurrentCall = unseen): Peer {
  const waiting = new Map<number, Waiting>();
  const running = new Map<number, AbortController>();
  let lastId = 0;
  let ended: Error | undefined;

  async function handle(call: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
    const handler = handlers[call];
    if (handler === undefined) throw new Error(`there is no call ${call}`);
    return await handler(args as never, signal);
  }

  async function answer({ id, call, args }: Message & { readonly type: "ask" }): Promise<void> {
    const stop = new AbortController();
    running.set(id, stop);
    try {
      const value = await current.during(id, () => handle(call, args, stop.signal));
      try {
        post({ type: "answer", id, value });
      } catch (error) {
        throw new Error(`the answer of ${call} cannot cross between threads: ${reasonOf(error)}`);
      }
    } catch (error) {
      post({ type: "failure", id, error: packError(error) });
    } finally {
      running.delete(id);
    }
  }

  function take(id: number): Waiting | undefined {
    const one = waiting.get(id);
    waiting.delete(id);
    one?.leave();
    return one;
  }

  return {
    ask(call, args, signal) {
      if (ended !== undefined) return Promise.reject(ended);
      lastId += 1;
      const id = lastId;
      try {
        post({ type: "ask", id, call, args });
      } catch (error) {
        return Promise.reject(new Error(`the call ${call} cannot cross between threads: ${reasonOf(error)}`));
      }
      return new Promise((resolve, reject) => {
        const abort = () => post({ type: "abort", id });
        waiting.set(id, { resolve, reject, leave: () => signal?.removeEventListener("abort", abort) });
        if (signal?.aborted === true) abort();
        else signal?.addEventListener("abort", abort, { once: true });
      });
    },
    tell(call, args) {
      if (ended === undefined) post({ type: "tell", call, args });
    },
    async receive(message) {
      if (ended !== undefined) return;
      if (message.type === "ask") await answer(message);
      else if (message.type === "tell")
        void handle(message.call, message.args, new AbortController().signal).catch(() => {});
      else if (message.type === "abort") running.get(message.id)?.abort();
      else if (message.type === "answer") take(message.id)?.resolve(message.value as never);
      else take(message.id)?.reject(unpackError(message.error));
    },
    end(errorOf) {
      ended ??= errorOf();
      for (const id of [...waiting.keys()]) take(id)?.reject(errorOf(id));
      for (const stop of running.values()) stop.abort();
    },
  };
}
