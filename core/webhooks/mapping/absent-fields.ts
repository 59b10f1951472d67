/** The names in the templates of one run that its payload does not have. */
import type { Fields } from "../runs/fields.ts";
import type { AbsentName } from "./absent-name.ts";
import type { Mapping, TemplateField } from "./compiled-mapping.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

/** A name in a template that the payload does not have, and the configuration path of the template. */
export interface AbsentField extends AbsentName {
  readonly path: string;
}

/** The field of a request that a template renders, where it has another name. */
export const fieldOf: Readonly<Partial<Record<TemplateField, string>>> = {
  messageTemplate: "message",
  textTemplate: "text",
};

/**
 * The names that the templates of a run read and the payload does not have. A template that is not used, because a
 * transform has given the field or the action needs another one, says nothing. The templates of presets are not the
 * operator's to correct.
 */
export function absentFields(
  mapping: Mapping,
  delivery: HookDelivery,
  { action, override }: { readonly action: string; readonly override: Fields | undefined },
) {
  if (mapping.preset !== undefined) return [];
  const unused: TemplateField = action === "wake" ? "messageTemplate" : "textTemplate";
  return mapping.templates
    .filter(
      ([field]) => field !== unused && (override === undefined || !Object.hasOwn(override, fieldOf[field] ?? field)),
    )
    .flatMap(([field, template]) =>
      template.absent(delivery).map((one): AbsentField => ({ ...one, path: mapping.placeOf([field]) })),
    );
}
