/** The stations of an event, and the table of their hook points. */
export { type HookName, hookNames } from "./hook-names.ts";
export { logLeftOut } from "./left-out.ts";
export { replaced } from "./replaced.ts";
export {
  createHooks,
  type FormattingContext,
  type Hooks,
  type HookTable,
  type PluginTap,
  type TapInfo,
  type TapOrder,
} from "./stations.ts";
export type { TapRun, TimedCall } from "./tap-times.ts";
export { isThenable } from "./thenable.ts";
export { addHold, type CountedAttempt, countedAttempt, type TurnHold, whileHeld, whileWorking } from "./turn-holds.ts";
export { createUnderWay, type UnderWay } from "./under-way.ts";
export {
  askedModels,
  carried,
  hasActed,
  isFirstRun,
  notes,
  passedBy,
  quietLine,
  type ReplyAdditions,
  replyAdditions,
  type ToolUse,
  toolCalls,
  turnNotes,
  type UnheardSpeech,
  unheardSpeech,
  Visit,
} from "./visit.ts";
