/**
 * Channels in command lines: the name of a platform in place of an id, such as `--channel telegram`, is refused with
 * the id. A misspelled id is mentioned.
 */
import type { Command } from "commander";
import { HostError } from "../contract/errors.ts";
import { visibleLine } from "../log/visible.ts";
import type { CommandContext } from "./context.ts";

/**
 * The words of a command line that name a channel. Ids of chats and senders may have one in front; `hooks` is a source
 * of events, too.
 */
function channelWords(command: Command): readonly string[] {
  const { channel, chat, sender } = command.opts<Readonly<Record<string, unknown>>>();
  const argument = (name: string) =>
    command.args[command.registeredArguments.findIndex((each) => each.name() === name)];
  const before = [chat, sender, argument("sender")].map((id) =>
    typeof id === "string" && id.includes(":") ? id.split(":", 1)[0] : undefined,
  );
  const words = [channel, argument("channel"), ...before];
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
    const { channelMeantIn } = await import("./channels/status.ts");
    const meant = await channelMeantIn(context, loaded, word);
    if (meant !== undefined) throw new HostError("usage", { reason: meant });
    const { nearestOf } = await import("../config/checking/suggest.ts");
    const similar = nearestOf(word, Object.keys(loaded.config.channels));
    // The channel may be one that was removed, with events and senders that remain.
    if (similar !== undefined)
      context.terminal.note(`There is no channel ${visibleLine(word, 80)}. Did you mean ${similar}?`);
  }
  return context;
}
