/** What only pages need that edit a configuration, and a gateway without an open console does not load. */
export { type ConfigChange, checkProposed, type EditOptions, proposeConfig } from "./editing/edit.ts";
export { partText, withPart } from "./editing/part-text.ts";
export { findSchema, wholeSchema } from "./plugin-schemas.ts";
export { renderSubschema } from "./showing/json-schema.ts";
export { type MaskedText, maskText, unmaskText } from "./showing/masked-text.ts";
export { redactConfig } from "./showing/redact.ts";
