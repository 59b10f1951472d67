/** The state that a configuration names: where it is, and how it is opened. */

export { copyState } from "./copy.ts";
export { openState } from "./open.ts";
export { filesOf, isEmbedded, logOf, type StatePlace } from "./place.ts";
export { checkStateSettings, statePlace } from "./settings.ts";
export { createSharedConfig, type SharedConfig } from "./shared-config.ts";
