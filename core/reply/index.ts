/** What a reply contains besides text: tags, silence tokens and reasoning. */

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
