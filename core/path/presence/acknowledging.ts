/**
 * The reaction that says "seen": set when a message's turn begins and, unless it should stay, removed when the reply
 * has arrived. A reaction is recorded in the state before it is set, so that a killed process leaves none behind.
 */

import { type LiveAccount, retryPolicy, sleep, unlimitedRetryWait } from "../../channels/index.ts";
import { type Address, ChannelError, type Json } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

const namespace = "acknowledged";
/** Older messages are ignored. */
const keepMs = 7 * 24 * 60 * 60_000;
/** A removal that the platform rejects this often is left to the next start. */
const mostTries = 5;

/** The message that carries the reaction. */
interface Place {
  readonly address: Address;
  readonly messageId: string;
}

export interface Acknowledgement {
  /** The reply has arrived, or none will come. */
  done(): void;
  /** Another reaction takes the place of this one. Resolves when this one can no longer come later. */
  giveWay(): Promise<void>;
}

export interface Acknowledgements {
  set(
    unitId: string,
    place: Place,
    options: { readonly emoji: string; readonly removeAfter: boolean; readonly onError: (error: unknown) => void },
  ): Acknowledgement;
  /** Removes what an earlier process left on the message of a unit that ends without a turn. */
  mend(unitId: string): Promise<void>;
  /** The same for units that have already ended; the others are handled as they end. Call once, at the start. */
  mendEnded(): Promise<void>;
}

export function createAcknowledgements(options: {
  readonly store: Pick<Store, "get" | "set" | "delete" | "list" | "event">;
  readonly account: (channel: string, account: string) => LiveAccount | undefined;
  readonly now: () => number;
  readonly random: () => number;
  /** Aborted when the gateway closes. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown, unitId: string) => void;
}): Acknowledgements {
  const { store, account, now, random, signal } = options;

  async function remove(unitId: string, { address, messageId }: Place): Promise<void> {
    const live = account(address.channel, address.account);
    if (live === undefined) return;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await live.connection.react?.(messageId, null, address);
        break;
      } catch (error) {
        options.onError(error, unitId);
        // A deleted message has no reaction either, and a permanent refusal would only be repeated.
        if (!(error instanceof ChannelError && (error.retryable || error.fate === "unknown"))) break;
        const wait = error.retryAfterMs ?? unlimitedRetryWait(attempt, retryPolicy(live.options), random);
        if (attempt >= mostTries || !(await sleep(wait, signal))) return;
      }
    }
    await store.delete(namespace, unitId);
  }

  /** Logged and never thrown: a reaction must not make a turn fail. */
  async function mendOne(unitId: string, left: Json | null): Promise<void> {
    if (left !== null) await remove(unitId, left as unknown as Place);
  }

  return {
    set(unitId, place, { emoji, removeAfter, onError }) {
      const { address, messageId } = place;
      const waiting = new AbortController();
      /** Whether the reaction may be there. */
      async function react(): Promise<boolean> {
        try {
          await account(address.channel, address.account)?.connection.react?.(
            messageId,
            emoji,
            address,
            waiting.signal,
          );
          return true;
        } catch (error) {
          const surelyNot = error instanceof ChannelError && error.fate === "not-sent";
          if (!(surelyNot && error.reason === "aborted")) onError(error);
          return !surelyNot;
        }
      }
      async function reactAndKeep(): Promise<boolean> {
        const stood = (await store.get(namespace, unitId)) !== null;
        await store.set(namespace, unitId, place as unknown as Json, { expiresAt: now() + keepMs });
        return (await react()) || stood;
      }
      if (!removeAfter) {
        const reacted = react();
        return { done() {}, giveWay: async () => void (await reacted) };
      }
      const reacted = reactAndKeep();
      // Without a record, the reaction could not be removed after a crash, so none is set.
      reacted.catch(onError);
      let isOver = false;
      return {
        async giveWay() {
          isOver = true;
          waiting.abort();
          await reacted.catch(() => {});
          await store.delete(namespace, unitId);
        },
        done() {
          if (isOver) return;
          // A reaction that still waits for rate limits would come too late; a call in progress ends before its removal
          // begins.
          waiting.abort();
          void reacted
            .then(async (stands) => void (await (stands ? remove(unitId, place) : store.delete(namespace, unitId))))
            .catch(() => {});
        },
      };
    },
    async mend(unitId) {
      try {
        await mendOne(unitId, await store.get(namespace, unitId));
      } catch {
        // The store is away. The next start removes the reaction.
      }
    },
    async mendEnded() {
      for (const { key, value } of await store.list(namespace)) {
        const event = await store.event(key);
        if (event === null || event.state === "settled") void mendOne(key, value).catch(() => {});
      }
    },
  };
}
