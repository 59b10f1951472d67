/** Where buttons work, as `capabilities.inlineButtons` of an account says; a channel without that option has them everywhere. */
export type ButtonScope = "off" | "dm" | "group" | "all" | "allowlist";

/** The old form is a list of features that are on. */
export function buttonScope(capabilities: unknown): ButtonScope {
  if (Array.isArray(capabilities)) return capabilities.includes("inlineButtons") ? "all" : "off";
  return (capabilities as { readonly inlineButtons?: ButtonScope } | undefined)?.inlineButtons ?? "all";
}
