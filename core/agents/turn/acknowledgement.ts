/** The reaction that marks a message as seen while the agent works on it. */
import type { PathOf } from "../../access/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import type { Inbound, Route } from "../../contract/index.ts";
import type { PluginLog } from "../../sdk/contract.ts";

const defaultEmoji = "👀";

/**
 * Chooses the emoji: account, channel (merged into `options`), `messages`, the agent's own emoji, then eyes. An empty
 * setting means no reaction.
 */
export function acknowledgement(
  config: GatewayConfig,
  inbound: Inbound,
  route: Route,
  options: Readonly<Record<string, unknown>> | undefined,
): { readonly emoji: string; readonly removeAfter: boolean } | null {
  const { messages, agents } = config;
  if (inbound.kind !== "message" || !inScope(messages.ackReactionScope, inbound) || options?.reactionLevel === "off")
    return null;
  const own = options?.ackReaction;
  const agent = agents.list.find((listed) => listed.id === route.agentId);
  const emoji =
    (typeof own === "string" ? own : undefined) ?? messages.ackReaction ?? agent?.identity?.emoji ?? defaultEmoji;
  return emoji === "" ? null : { emoji, removeAfter: messages.removeAckAfterReply };
}

/** Says "not now": another reaction than the one that says "seen". `undefined` where the account sets no reactions. */
export function refusalReaction(
  config: GatewayConfig,
  inbound: Inbound,
  route: Route,
  options: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  if (inbound.kind !== "message" || options?.reactionLevel === "off") return undefined;
  const usual = acknowledgement(config, inbound, route, options)?.emoji;
  return ["😴", "🥱"].find((emoji) => emoji !== usual);
}

/** The configuration path of the emoji that the platform rejected, or the path where one can be set. */
function acknowledgementPath(
  { messages, agents }: GatewayConfig,
  route: Route,
  options: Readonly<Record<string, unknown>> | undefined,
  pathOf: PathOf,
): string {
  if (typeof options?.ackReaction === "string") return pathOf(["ackReaction"]);
  const index = messages.ackReaction === undefined ? agents.list.findIndex(({ id }) => id === route.agentId) : -1;
  return agents.list[index]?.identity?.emoji === undefined
    ? "messages.ackReaction"
    : `agents.list[${index}].identity.emoji`;
}

/**
 * Warns the operator that the platform rejects an emoji, once for each path and emoji. Otherwise the missing reaction
 * would be unexplained.
 */
export function createRefusedAcknowledgements(options: {
  readonly config: () => GatewayConfig;
  readonly optionsOf: (inbound: Inbound) => Readonly<Record<string, unknown>> | undefined;
  readonly pathsOf: (inbound: Inbound) => PathOf;
  readonly log: Pick<PluginLog, "warn">;
}): (inbound: Inbound, route: Route) => void {
  const reported = new Set<string>();
  return (inbound, route) => {
    const account = options.optionsOf(inbound);
    const emoji = acknowledgement(options.config(), inbound, route, account)?.emoji;
    const path = acknowledgementPath(options.config(), route, account, options.pathsOf(inbound));
    if (reported.has(`${path} ${emoji}`)) return;
    reported.add(`${path} ${emoji}`);
    options.log.warn({ path }, `${inbound.channel} does not accept ${emoji} as a reaction: choose another emoji`);
  };
}

function inScope(scope: GatewayConfig["messages"]["ackReactionScope"], inbound: Inbound): boolean {
  const direct = inbound.chat.kind === "direct";
  switch (scope) {
    case "all":
      return true;
    case "direct":
      return direct;
    case "group-all":
      return !direct;
    case "group-mentions":
      return !direct && inbound.mention;
    case "off":
      return false;
  }
}
