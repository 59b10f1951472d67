/** Decides which reactions to messages the agent learns about. The agent never replies to a reaction. */

import type { Inbound, Refusal } from "../../contract/index.ts";
import type { Store } from "../../state/index.ts";

/** `own` means reactions to messages of this bot only. */
export type ReactionNotifications = "off" | "own" | "all";

/**
 * For the `gating` station, after the gate: the reason why the agent ignores a reaction. `path` is the configuration
 * path of the option.
 */
export async function unheardReaction(
  inbound: Inbound,
  options: {
    readonly notifications: ReactionNotifications;
    readonly path: string;
    readonly findSent: Store["findSent"];
  },
): Promise<Refusal | undefined> {
  const { notifications, path, findSent } = options;
  if (inbound.kind !== "reaction" || notifications === "all") return undefined;
  if (notifications === "off") {
    return {
      code: "reactions_off",
      outcome: "silent",
      detail: "Reactions are not reported to the agent.",
      path,
      hint: `Set ${path} to own or all.`,
    };
  }
  const { channel, account, chat, messageId } = inbound;
  const own = messageId !== undefined && (await findSent({ channel, account, chat: chat.id, messageId })) !== null;
  if (own) return undefined;
  return {
    code: "reaction_to_others",
    outcome: "silent",
    detail: "The reaction is to a message that the bot did not send, or sent more than 30 days ago.",
    path,
    hint: `Set ${path} to all.`,
  };
}

export function reactionNotifications(options: Readonly<Record<string, unknown>> | undefined): ReactionNotifications {
  const asked = options?.reactionNotifications;
  return asked === "off" || asked === "all" ? asked : "own";
}
