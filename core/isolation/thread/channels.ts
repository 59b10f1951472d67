/** The functions of a channel's definition, in the thread of its plugin. */
import { identityRule } from "../../access/identity.ts";
import type { AccountSurroundings, ChannelDefinition } from "../../sdk/contract.ts";
import type { ChannelFunction } from "../declaration.ts";
import type { Handlers } from "../peer.ts";

export function channelHandlers(channel: (id: string) => ChannelDefinition): Handlers {
  const ruleOf = (id: string) => identityRule(id, channel(id).identity);
  const handlers: Readonly<Record<`channel.${ChannelFunction}`, Handlers[string]>> = {
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
