/**
 * The key of a call in its message, so that a server can recognize a call that it has had before. The library has no
 * parameter for it, and sends the message within the call.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** The member of `_meta`. */
const member = "service-gateway/call-key";

const keys = new AsyncLocalStorage<string>();

export const withKey = <Result>(key: string, call: () => Result): Result => keys.run(key, call);

/** Adds the key of the call in progress to its message. */
export function keyed<Message extends object>(message: Message): Message {
  const key = keys.getStore();
  const { method, params = {} } = message as {
    readonly method?: unknown;
    readonly params?: { readonly _meta?: object };
  };
  if (key === undefined || method !== "tools/call") return message;
  // The arguments are the largest part, and stay last.
  const { _meta, ...rest } = params;
  return { ...message, params: { _meta: { ..._meta, [member]: key }, ...rest } };
}
