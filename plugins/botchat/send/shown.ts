/**
 * What the messages of a preview showed when it ended, until the answer takes them over: where that says the same, it is there already. An
 * edit that changes nothing would be refused, and cost the chat the second in which the rest of a long answer could go out.
 */
import { isDeepStrictEqual } from "node:util";
import type { Address, Json } from "service-gateway/sdk";
import type { Part } from "service-gateway/sdk/channel";
import { bodyOf } from "./part-body.ts";

type Payload = { readonly [key: string]: Json };

export interface Shown {
  keep(chat: string, messageId: string, payload: Payload): void;
  /** The part takes over a message that shows it. */
  has(part: Part, address: Address): boolean;
  forget(chat: string, messageId: string): void;
}

/** Of answers that were never sent something stays; one that is dropped too early is only edited in vain. */
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
      const payload = part.replaces === undefined || part.inPlace === true ? undefined : payloads.get(keyOf(chat, part.replaces));
      return payload !== undefined && isDeepStrictEqual(payload, bodyOf(part).payload);
    },
    forget: (chat, messageId) => void payloads.delete(keyOf(chat, messageId)),
  };
}
