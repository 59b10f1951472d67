/**
 * Strangers learn their id by `/whoami` in a direct chat: an allowlist begins with it. They learn nothing else, and
 * once a minute.
 */
import type { Inbound, Refusal } from "../contract/index.ts";
import { idNotice } from "./refusals.ts";

const everyMs = 60_000;
const mostRemembered = 10_000;

/**
 * The refusals of a person who is not admitted yet. Where direct chats are disabled, `/whoami` gets no answer either.
 */
const ofStrangers: ReadonlySet<string> = new Set(["sender_not_allowed", "pairing_required"]);

/** Adds the sender's id to the refusal of `/whoami`; `undefined` if the id is not to be sent. */
export type StrangerIds = (inbound: Inbound, refusal: Refusal) => Refusal | undefined;

export function createStrangerIds({ now }: { readonly now: () => number }): StrangerIds {
  /**
   * The last answer to each sender, oldest first. An event that runs again after a failed attempt is answered again.
   */
  const answered = new Map<string, { readonly event: string; readonly at: number }>();

  function mayAnswer(sender: string, event: string): boolean {
    const at = now();
    const last = answered.get(sender);
    if (last !== undefined && last.event !== event && Math.abs(at - last.at) < everyMs) return false;
    answered.delete(sender);
    answered.set(sender, { event, at });
    const [oldest] = answered.keys();
    if (answered.size > mostRemembered && oldest !== undefined) answered.delete(oldest);
    return true;
  }

  return (inbound, refusal) => {
    const { id, channel, account, chat, sender } = inbound;
    if (chat.kind !== "direct" || sender.anonymous === true || sender.id === "" || !ofStrangers.has(refusal.code))
      return undefined;
    return mayAnswer(JSON.stringify([channel, account, sender.id]), id)
      ? { ...refusal, notice: idNotice(sender) }
      : refusal;
  };
}
