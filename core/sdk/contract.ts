/**
 * The contract for plugin authors: each kind of declaration has a file in `contract/`. `service-gateway/sdk` and
 * `service-gateway/sdk/channel` export it.
 *
 * The bundled plugins use nothing else. The contract is versioned by `sdkVersion`; a plugin states in `host` which
 * versions it was written for. The manual in `examples/authors` contains complete plugins, the order of calls, and what
 * a failure does at each station. Times are epoch milliseconds; the name of a duration ends in its unit.
 *
 * `Type` is TypeBox, for option schemas: https://github.com/sinclairzx81/typebox
 */
import Type, { type Static, type TObject, type TSchema } from "typebox";

export {
  type Address,
  type Button,
  ChannelError,
  type CodeDefinition,
  EngineError,
  type Inbound,
  type InboundChat,
  type InboundMedia,
  type InboundSender,
  type Json,
  type OutboundMedia,
  type Part,
  type RawEvent,
  type Receipt,
  type Reply,
  type Route,
  type Silent,
  sdkVersion,
  type Thinking,
  type Transform,
  type TransformContext,
  type TurnEvent,
} from "../contract/index.ts";
export { type Sniffed, sniff } from "../media/index.ts";
export type { HookName, TapOrder } from "../stations/index.ts";
export type {
  AccountSurroundings,
  ChannelCapabilities,
  ChannelDefinition,
  ChannelIdentity,
  ChannelListing,
  ChannelOnboarding,
  OptionProblem,
} from "./contract/channel.ts";
export type {
  AccountSecrets,
  CallerVerdict,
  ChannelAccount,
  ChannelStatus,
  SentReport,
  SignInAction,
} from "./contract/channel-account.ts";
export type {
  ChannelConnection,
  ChannelInbound,
  ChannelMembership,
  ChannelPreview,
  ChannelProbe,
  ChannelReach,
  MediaFound,
  Parsed,
} from "./contract/channel-connection.ts";
export type { ChannelRequest, ChannelRequestHead, ChannelRoute, SharedChannelRoute } from "./contract/channel-route.ts";
export type { CliAnswer, CliCall, CliCommand, CliDefinition } from "./contract/cli.ts";
export type { CommandCall, CommandDefinition, CommandRole } from "./contract/commands.ts";
export { defineChannel, defineEngine, definePlugin, definePreset, defineTransform } from "./contract/define.ts";
export type {
  EngineDefinition,
  EngineMessage,
  EngineProvider,
  EngineTool,
  EngineTurn,
  TurnRoom,
} from "./contract/engine.ts";
export type { CheckDefinition } from "./contract/health.ts";
export type { PanelDefinition, PanelEntry } from "./contract/panel.ts";
export type { PluginDefinition } from "./contract/plugin.ts";
export type { PluginHost } from "./contract/plugin-host.ts";
export type { PluginLog } from "./contract/plugin-log.ts";
export type { PluginStore } from "./contract/plugin-store.ts";
export type { PresetDefinition, PresetMapping } from "./contract/preset.ts";
export type { RouteAccess, RouteAnswer, RouteDefinition, RouteRequest } from "./contract/routes.ts";
export type {
  SourcedTool,
  ToolCall,
  ToolDefinition,
  ToolOffer,
  ToolOutcome,
  ToolOutput,
  ToolResult,
  ToolSource,
  ToolTurn,
  ToolWords,
} from "./contract/tools.ts";
export { cutMiddle, cutToTokens } from "./cut-middle.ts";
export {
  addSizes,
  estimateTokens,
  firstMargin,
  knownTokens,
  learnTokens,
  likelyTokens,
  type ModelRoom,
  measureText,
  type TextSizes,
  usualTokensPer,
} from "./model-room.ts";
export type { Static, TObject, TSchema };
export { Type };
