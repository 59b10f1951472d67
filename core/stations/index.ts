/** The stations of an event, and the table of their hook points. */
export { createHooks, type FormattingContext, type HookName, type Hooks, type HookTable, type TapInfo, type TapOrder } from "./stations.ts";
export type { TapRun, TimedCall } from "./tap-times.ts";
export { isThenable } from "./thenable.ts";
export { carried, passedBy, Visit } from "./visit.ts";
