/**
 * Channels in command lines: the name of a platform in place of an id, such as `--channel telegram`, is refused with
 * the id.
 */
import type { Command } from "commander";
import { HostError } from "../contract/errors.ts";
import type { CommandContext } from "./context.ts";

/**
 * The words of a command line that name a channel. Ids of chats and senders may have one in front; `hooks` is a source
 * of events, too.
 */
function channelWords(command: Command): readonly string[] {
  const { channel, chat, sender } = command.opts<Readonly<Record<string, unknown>>>();
  const argument = command.registeredArguments.findIndex((each) => each.name() === "channel");
  const before = [chat, sender].map((id) =>
    typeof id === "string" && id.includes(":") ? id.split(":", 1)[0] : undefined,
  );
  const words = [channel, command.args[argument], ...before];
  return words.filter((word) => typeof word === "string").filter((word) => word !== "hooks");
}

/**
 * Resolves with the context of the command. Throws `usage` if the command calls a channel by the name of its platform.
 */
export async function withChannelIds(context: CommandContext, command: Command): Promise<CommandContext> {
  const words = channelWords(command);
  // A configuration that cannot be read is the command's own matter.
  const loaded = words.length === 0 ? undefined : await context.load().catch(() => undefined);
  for (const word of words) {
    if (loaded === undefined || Object.hasOwn(loaded.config.channels, word)) continue;
    const { channelMeantIn } = await import("./channels.ts");
    const meant = await channelMeantIn(context, loaded, word);
    if (meant !== undefined) throw new HostError("usage", { reason: meant });
  }
  return context;
}
