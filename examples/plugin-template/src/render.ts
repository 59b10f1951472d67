/** From a reply to messages of the platform. Pure: the same reply always leads to the same parts. */
import type { Reply } from "service-gateway/sdk";
import { type Part, textParts } from "service-gateway/sdk/channel";

/** Characters of one message, as the platform counts them: here whole characters, so that an emoji is one. */
export const maxChars = 2_000;

/**
 * Replies are Markdown; this platform has no markup. `parseMarkdown` returns the tree, for a platform with one of
 * its own.
 */
export const render = (reply: Reply): readonly Part[] => textParts(reply, { limit: maxChars, unit: "characters" });
