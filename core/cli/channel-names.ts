/** Channels that a command line calls by the name of their platform, such as `--channel telegram`, are refused with the right id. */
import { channelMeant } from "../access/platform-names.ts";
import { HostError } from "../contract/errors.ts";
import type { CommandContext } from "./context.ts";
import { readDeclarations, readyPlugins } from "./plugins/declarations.ts";

/** Throws `usage` for the first word that is the name of a platform. An id of the configuration is never one. */
export async function requireChannelIds(context: CommandContext, words: readonly string[]): Promise<void> {
  // A configuration that cannot be read is the command's own matter.
  const loaded = await context.load().catch(() => undefined);
  const unknown = words.filter((word) => loaded !== undefined && !Object.hasOwn(loaded.config.channels, word));
  if (loaded === undefined || unknown.length === 0) return;
  const declared = await readDeclarations(loaded, await context.stateDirectory(), { note() {} });
  const channels = readyPlugins(declared).flatMap(({ channel }) => channel ?? []);
  for (const word of unknown) {
    const meant = channelMeant(word, channels);
    if (meant !== undefined) throw new HostError("usage", { reason: `${meant.explanation}: write ${meant.id} in place of ${word}` });
  }
}
