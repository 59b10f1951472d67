/**
 * The door for authors of tests: `service-gateway/testkit`. It needs vitest (4 or later) beside it, and is called inside a test file.
 *
 * So far it holds the rules of the store, and workbenches for transforms and presets. A plugin is tested as `core/host/README.md` shows its examples: loaded into a whole gateway.
 */

export type { Store, StoredEvent } from "../state/index.ts";
export { type PresetCase, type PresetTester, presetTester } from "./preset-tester.ts";
export { type StoreContractOptions, storeContract } from "./store-contract.ts";
export { type TransformCase, type TransformTester, transformTester } from "./transform-tester.ts";
