/** The plugin host: finds, checks, loads and guards plugins. */

export {
  areSkippedModels,
  inboundProblem,
  isObject,
  isStream,
  isTextList,
  kindOf,
  partsProblem,
  receiptProblem,
  routeAnswerProblem,
  turnEventProblem,
  watchedProblem,
} from "./answers.ts";
export { type Answer, type Asking, createAsking, inTurns } from "./asking.ts";
export type { CalledChannel } from "./called-channel.ts";
export { runChecks } from "./checks.ts";
export { loadBundledAhead, type PluginReport } from "./collect.ts";
export {
  type CompleteInbound,
  type CompleteParsed,
  completeParsed,
  type GuardedConnection,
} from "./complete-parsed.ts";
export { connectionProblem } from "./connection.ts";
export { type Asked, callAtOnce, callPlugin, lateAnswer, pluginDeadlines, pluginFault, unusable } from "./deadline.ts";
export { capabilitiesOf } from "./declaration/capabilities.ts";
export { routeProblem } from "./declaration/channel-route.ts";
export { registeredProblem } from "./declaration/members.ts";
export { schemasOf } from "./declaration/schemas.ts";
export { markedSecrets, secretsIn } from "./declaration/section-secrets.ts";
export { checkDeclaration } from "./declare.ts";
export type { PluginSource } from "./find.ts";
export { findStore, type StorePlaces } from "./find-store.ts";
export type { Instance } from "./instance.ts";
export type { Isolate, WorkerReport } from "./isolated.ts";
export { createLoader, type Loader } from "./load.ts";
export { noticeEvent } from "./notice.ts";
export { keepPluginCodes } from "./plugin-codes.ts";
export { createPlugins, type Plugins, type Replacement } from "./plugins.ts";
export { createRegistry, enginesOf, type Owned, type Registry, type WatchReport } from "./registry.ts";
export { type CalledConnection, isRemote, type RemoteConnection, remote, whenKnown } from "./remote-connection.ts";
export { type ScopeOptions, scopedStore } from "./scope.ts";
