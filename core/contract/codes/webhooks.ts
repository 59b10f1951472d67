/** Codes of deliveries: the result of a webhook after its request was answered. */
import type { CodeTable } from "./code.ts";

export const webhookCodes = {
  transform_ignored: { meaning: "The transform returned null, so the delivery starts no run.", hint: "", outcome: "silent" },
} as const satisfies CodeTable;
