/** Codes of deliveries: the result of a webhook after its request was answered. */
import type { CodeTable } from "./code.ts";

export const webhookCodes = {
  transform_ignored: {
    meaning: "The transform returned null, so the delivery starts no run.",
    hint: "",
    outcome: "silent",
  },
  template_name_absent: {
    meaning:
      "A template names a field that the payload of this delivery does not have. It is rendered as an empty text.",
    hint:
      "Compare the name with those of the payload: `{command} hooks test` shows what a delivery leads " +
      "to. If only some deliveries have the field, nothing is wrong.",
  },
} as const satisfies CodeTable;
