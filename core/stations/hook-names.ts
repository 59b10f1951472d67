/** The name of a station that plugins can tap. */
export type HookName = "ingress" | "gating" | "routing" | "turn" | "formatting" | "delivery" | "settled";

/** In path order. `HookTable` says what a tap of each takes and returns. */
export const hookNames = [
  "ingress",
  "gating",
  "routing",
  "turn",
  "formatting",
  "delivery",
  "settled",
] as const satisfies readonly HookName[];
