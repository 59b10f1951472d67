/** Channels that a configuration or a request calls by the name of their platform. People write that name first. */
import type { ChannelDefinition } from "../sdk/contract.ts";

export type NamedChannel = Pick<ChannelDefinition, "id" | "platform" | "identity">;

export interface MeantChannel {
  readonly id: string;
  /** One sentence without a full stop, such as "Telegram is `channels.botchat` here". */
  readonly explanation: string;
}

/** The channel that the name of a platform means; `undefined` for ids of channels and other words. */
export function channelMeant(word: string, channels: Iterable<NamedChannel>): MeantChannel | undefined {
  const all = [...channels];
  const name = word.trim().toLowerCase();
  if (all.some(({ id }) => id === name)) return undefined;
  const isMeant = ({ platform, identity }: NamedChannel) =>
    platform !== undefined && [platform, ...(identity?.prefixes ?? [])].some((each) => each.toLowerCase() === name);
  const found = all.find(isMeant);
  return found && { id: found.id, explanation: `${found.platform} is \`channels.${found.id}\` here` };
}
