/** The entry point for authors of channels: `service-gateway/sdk/channel`, beside `service-gateway/sdk`. */

export {
  asBytes,
  asText,
  createSourceFaultLog,
  type OnFault,
  onEvent,
  onMessage,
  type SourceFault,
} from "../listeners/index.ts";
export { type CallAnswer, refusedCall, retryAfterOf, unansweredCall } from "./call-errors.ts";
export {
  type AccountSecrets,
  type AccountSurroundings,
  type Address,
  type Button,
  type CallerVerdict,
  type ChannelAccount,
  type ChannelCapabilities,
  type ChannelConnection,
  type ChannelDefinition,
  ChannelError,
  type ChannelIdentity,
  type ChannelInbound,
  type ChannelListing,
  type ChannelMembership,
  type ChannelOnboarding,
  type ChannelPreview,
  type ChannelProbe,
  type ChannelReach,
  type ChannelRequest,
  type ChannelRequestHead,
  type ChannelRoute,
  type ChannelStatus,
  defineChannel,
  type Inbound,
  type InboundChat,
  type InboundMedia,
  type InboundSender,
  type Json,
  type MediaFound,
  type OptionProblem,
  type OutboundMedia,
  type Parsed,
  type Part,
  type Receipt,
  type Reply,
  type RouteAnswer,
  type SharedChannelRoute,
  type SignInAction,
  type Silent,
  type Sniffed,
  type Static,
  sniff,
  Type,
} from "./contract.ts";
export { emojiFromName, emojiName } from "./emoji/emoji-names.ts";
export { keepConnected, type LiveConnection } from "./keep-connected.ts";
export { defineLineChannel, type LineChannelDefinition } from "./lines/channel.ts";
export { connectLines, type LineConnection } from "./lines/connection.ts";
export type { LineMessage } from "./lines/message.ts";
export type { LineHandlers, LineLink, LineProtocol, ReadLine } from "./lines/protocol.ts";
export { filePath, secretText } from "./marked-options.ts";
export { boundMarkdown } from "./markup/bound-markdown.ts";
export type { MarkupDialect } from "./markup/dialects.ts";
export { growingMarkdown, type MarkupMessage, type MarkupOptions, renderMarkdown } from "./markup/render.ts";
export type { PreviewCalls } from "./preview/messages.ts";
export { editingPreview, type PreviewPace } from "./preview/preview.ts";
export { createLookup, type Lookup, type LookupOptions } from "./receiving/lookup.ts";
export { type ReceiveInOrder, receiveInOrder } from "./receiving/receive-in-order.ts";
export { mediaTooLarge, saveMedia } from "./save-media.ts";
export { paceOptions, serverOptions } from "./server-options.ts";
export { cutText } from "./text/cut-text.ts";
export { type MarkdownBlock, type MarkdownInline, parseMarkdown } from "./text/markdown-tree.ts";
export { readMention } from "./text/mention.ts";
export { plainText } from "./text/plain-text.ts";
export { textParts } from "./text/text-parts.ts";
export { createTokenBucket, type TokenBucket } from "./token-bucket.ts";
export { pause, within } from "./waits.ts";
