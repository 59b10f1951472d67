/** The configuration: loading, checking, editing and display. */

export {
  type AgentSettings,
  type AgentsView,
  agentIds,
  agentSettings,
  type Binding,
  type BudgetSettings,
  budgetOf,
  type CompactionSettings,
  type DmScope,
  defaultAgentId,
  knownAgentId,
  type ModelPrices,
  type ToolSettings,
  timezoneOf,
} from "./agents.ts";
export { checkOpen } from "./checking/channels.ts";
export { accountEntry, type ChannelAccountSection, channelAccounts } from "./checking/merge.ts";
export { nearestOf, suggestKey } from "./checking/suggest.ts";
export { unexpanded } from "./checking/unexpanded.ts";
export { isRecord, validateSection } from "./checking/validate.ts";
export { judgeSecret, resolveGuard } from "./checking/weak-secret.ts";
export { parseDuration } from "./duration.ts";
export { editConfig, renameConfigKey, replaceConfig } from "./editing/edit.ts";
export { type ConfigEditor, createConfigEditor } from "./editing/editor.ts";
export { type NeededSecret, portableConfig } from "./editing/portable.ts";
export { hasLocalSettingsOnly, sharedText, withLocalSettings } from "./editing/shared-text.ts";
export { embeddedStore } from "./embedded-store.ts";
export { isJson, parseJsonText } from "./json-text.ts";
export { commonApi } from "./known-providers.ts";
export { changeMarked } from "./marked-values.ts";
export {
  aliasOf,
  defaultWord,
  isFullModelName,
  type ModelChoice,
  type ModelTable,
  modelNames,
  resolveModel,
  typedName,
} from "./model-names.ts";
export { type ProviderSettings, providerKey, providerOf, providerSettings } from "./model-providers.ts";
export { getPath, parsePath, renderPath, type Segment } from "./path.ts";
export { coreKeys, type PluginSchemas } from "./plugin-schemas.ts";
export { type Problem, renderProblem } from "./problem.ts";
export { changedAtStart, waitsForStart } from "./reading/at-start.ts";
export { digestOf } from "./reading/digest.ts";
export { readConfigText } from "./reading/file.ts";
export { rememberSecrets } from "./reading/known-secrets.ts";
export { keepLastGood } from "./reading/last-good.ts";
export {
  type CheckedConfig,
  type ConfigOverride,
  checkConfig,
  type LoadedConfig,
  loadConfig,
  requireValue,
  withSchemas,
} from "./reading/load.ts";
export { locateConfig, locateState } from "./reading/locate.ts";
export { watchConfig } from "./reading/watch.ts";
export { accessSchema } from "./schema/channels.ts";
export { mappingSchema } from "./schema/hooks.ts";
export type { GatewayConfig } from "./schema.ts";
export { isMap, nodeOf } from "./schema-node.ts";
export { createSecrets, type Environment, expandPath, type Secrets } from "./secrets.ts";
export { namesOf, placesOf, readSection, secretPath } from "./section-settings.ts";
export { isSecretName } from "./showing/redact.ts";
export { resolveAskedModel } from "./used-providers.ts";
