/** The shared vocabulary: types, errors, codes and the product's name. */

export { type CodeDefinition, type CodeTable, findCode, hintOfCode } from "./codes.ts";
export { programCommand } from "./command.ts";
export {
  asSentence,
  cannotStore,
  type ErrorCode,
  HostError,
  isLeaseLost,
  isOfState,
  PluginError,
  reasonOf,
} from "./errors.ts";
export { exactCopy, exactDigits, inexactNumber, parseExactJson } from "./exact-json.ts";
export { isNamed } from "./name-pattern.ts";
export { packageVersion } from "./package.ts";
export { ChannelError, codeOf, EngineError } from "./plugin-errors.ts";
export { product, sdkVersion } from "./product.ts";
export type { Transform, TransformContext } from "./transform.ts";
export type {
  Accepted,
  Address,
  Authority,
  Button,
  Decision,
  EphemeralRecipient,
  Gather,
  Inbound,
  InboundChat,
  InboundMedia,
  InboundSender,
  Json,
  OutboundMedia,
  Outcome,
  Part,
  RawEvent,
  Receipt,
  Refusal,
  Reply,
  Route,
  Silent,
  SkippedModel,
  Station,
  Thinking,
  TurnEvent,
  TurnRecord,
  TurnRequest,
} from "./types.ts";
