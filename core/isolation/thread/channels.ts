/** The functions of a channel's definition, in the thread of its plugin. */
import { identityRule } from "../../access/identity.ts";
import type { AccountSurroundings, ChannelDefinition, SharedChannelRoute } from "../../sdk/contract.ts";
import type { ChannelFunction } from "../declaration.ts";
import type { Handlers } from "../peer.ts";

export function channelHandlers(channel: (id: string) => ChannelDefinition): Handlers {
  const ruleOf = (id: string) => identityRule(id, channel(id).identity);
  const handlers: Readonly<Record<`channel.${ChannelFunction}`, Handlers[string]>> = {
    "channel.accountOf": ([id, request, accounts]: readonly [string, ...Parameters<SharedChannelRoute["accountOf"]>]) =>
      channel(id).route?.accountOf({ ...request, body: Buffer.from(request.body) }, accounts as never),
    "channel.capabilities"([id, options]: readonly [string, never]) {
      const { capabilities } = channel(id);
      return typeof capabilities === "function" ? capabilities(options) : capabilities;
    },
    "channel.check": ([id, options, around]: readonly [string, never, AccountSurroundings<never>]) =>
      channel(id).check?.(options, around) ?? [],
    "channel.signsInAs"([id, options]: readonly [string, never]) {
      try {
        return channel(id).signsInAs?.(options);
      } catch {
        // As on the main thread: without an answer, the platform has to detect duplicates.
        return undefined;
      }
    },
    "channel.fold": ([id, one]: readonly [string, string]) => ruleOf(id).fold(one),
    "channel.weak": ([id, one]: readonly [string, string]) => ruleOf(id).isWeak(one),
  };
  return handlers;
}
