/** Replies that only the sender of a message in a group sees, where the platform can show them so. */
import type { Address, EphemeralRecipient, Inbound, Reply } from "../../contract/index.ts";
import type { ChannelCapabilities } from "../../sdk/contract.ts";
import { answersPerson } from "../answer-place.ts";

/**
 * The only person who is to see a reply with `to: "sender"`; `undefined` if everyone in the chat sees it: in a direct
 * chat, and where the account cannot do otherwise. A message that is edited stays visible to those who see it.
 */
export function ephemeralRecipient(
  { to, replaces }: Pick<Reply, "to" | "replaces">,
  {
    inbound,
    address,
    capabilities: { ephemeral = false },
  }: {
    readonly inbound: Inbound | undefined;
    readonly address: Address;
    readonly capabilities: Pick<ChannelCapabilities, "ephemeral">;
  },
): EphemeralRecipient | undefined {
  if (to !== "sender" || ephemeral === false || replaces !== undefined || inbound === undefined) return undefined;
  const { chat, sender, messageId } = inbound;
  // A message that was sent as a chat has no person behind it.
  if (chat.kind === "direct" || sender.anonymous === true || sender.id === "") return undefined;
  if (!answersPerson(inbound, address)) return undefined;
  const interaction = typeof inbound.interaction === "string" ? inbound.interaction : undefined;
  if (ephemeral === "interactions" && interaction === undefined) return undefined;
  return {
    sender: sender.id,
    ...(messageId !== undefined && { messageId }),
    ...(interaction !== undefined && { interaction }),
  };
}

/** The reply as everyone sees it. */
export function publicReply({ to: _, ...reply }: Reply): Reply {
  return reply;
}
