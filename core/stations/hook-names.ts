/** The names of the stations that plugins can tap, in path order. `HookTable` says what a tap of each takes and returns. */

export const hookNames = ["ingress", "gating", "routing", "turn", "formatting", "delivery", "settled"] as const;

export type HookName = (typeof hookNames)[number];
