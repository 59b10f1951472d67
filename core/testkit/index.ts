/**
 * The entry point for authors of tests: `service-gateway/testkit`. It requires vitest (4 or later) and is called inside
 * a test file.
 *
 * `createTestHost` runs plugins in a whole gateway. The others hold one thing against its rules: a channel, an engine,
 * a store, a transform, a preset.
 */

export type { Store, StoredEvent } from "../state/index.ts";
export type {
  ChannelContractOptions,
  ChannelFixtures,
  ChannelPlatform,
  ChannelPlatformSource,
  OptionalFunction,
  PlatformAbility,
  PlatformFailure,
  PlatformFile,
  PlatformPlace,
} from "./channel/options.ts";
export { channelContract } from "./channel-contract.ts";
export type {
  EngineContractOptions,
  ModelAbility,
  ModelFailure,
  ModelServer,
  ModelServerSource,
} from "./engine/options.ts";
export { engineContract } from "./engine-contract.ts";
export type { Ended } from "./host/endings.ts";
export type { BeforeSend, Delivered, SayOptions, SentFile } from "./host/loopback.ts";
export type { AccountState, ConfigurationProblem, TestHost, TestHostOptions, WebhookAnswer } from "./host/options.ts";
export { createTestHost } from "./host/test-host.ts";
export type { ExpectedEnd, TestHostMatchers } from "./matchers.ts";

import "./matchers.ts";

export { type PresetCase, type PresetTester, presetTester } from "./preset-tester.ts";
export type { ContractSkip } from "./skips.ts";
export { type StoreContractOptions, storeContract } from "./store-contract.ts";
export { type TransformCase, type TransformTester, transformTester } from "./transform-tester.ts";
