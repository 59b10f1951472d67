/**
 * Where buttons work, from the account option `capabilities.inlineButtons`. In a channel without that option they work
 * everywhere.
 */
export type ButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

/** `capabilities` used to be a list of enabled features; that form is still accepted. */
export function buttonScope(capabilities: unknown): ButtonScope {
  if (Array.isArray(capabilities)) return capabilities.includes("inlineButtons") ? "all" : "off";
  return (capabilities as { readonly inlineButtons?: ButtonScope } | undefined)?.inlineButtons ?? "all";
}
