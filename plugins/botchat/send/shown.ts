/**
 * Remembers what a preview's messages showed at its end, until the reply replaces them. If the reply is the same, no
 * edit is needed: it would be refused, and would use the second in which the rest of a long reply could be sent.
 */
import { isDeepStrictEqual } from "node:util";
import type { Address, Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import { bodyOf } from "./part-body.ts";

type Payload = { readonly [key: string]: Json };

export interface Shown {
  keep(chat: string, messageId: string, payload: Payload): void;
  /** Whether the part replaces a message that already shows it. */
  has(part: Part, address: Address): boolean;
  forget(chat: string, messageId: string): void;
}

/** Entries of replies that were never sent remain; one that is dropped too early only causes a needless edit. */
const most = 1_000;

export function createShown(): Shown {
  const payloads = new Map<string, Payload>();
  const keyOf = (chat: string, messageId: string) => `${chat} ${messageId}`;
  return {
    keep(chat, messageId, payload) {
      payloads.set(keyOf(chat, messageId), payload);
      if (payloads.size > most) payloads.delete(payloads.keys().next().value as string);
    },
    has(part, { chat }) {
      const payload =
        part.replaces === undefined || part.inPlace === true ? undefined : payloads.get(keyOf(chat, part.replaces));
      return payload !== undefined && isDeepStrictEqual(payload, bodyOf(part).payload);
    },
    forget: (chat, messageId) => void payloads.delete(keyOf(chat, messageId)),
  };
}
