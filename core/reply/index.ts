/** What a reply contains: its Markdown, and tags, silence tokens and reasoning beside its text. */

export { escapeMarkdown } from "./escape-markdown.ts";
export { compileInsertion, type Piece } from "./insert-values.ts";
export { reasoningMode, renderReasoning, showReasoning, withoutReasoning } from "./reasoning.ts";
export { applyReplyTags, withoutTagsSoFar } from "./reply-tags.ts";
export {
  isHeartbeatAck,
  isNoReply,
  mayBeSilent,
  noHeartbeat,
  silenceReason,
  speakable,
  withoutTokens,
  withoutTokensSoFar,
} from "./silence.ts";
