/** Says what a vendor's own protocol would add, and how to get it. */
import type { Vendor } from "./packages.ts";

const gains: Readonly<Record<Vendor, string>> = {
  anthropic: "caches the prompt, which makes long conversations cheaper, and keeps thoughts between calls of tools",
  google: "keeps thoughts between calls of tools",
  openai: "keeps thoughts between calls of tools",
};

/** Never a warning: everything works without these packages. */
export async function explainProtocols(
  missing: readonly Vendor[],
): Promise<{ readonly verdict: "ok"; readonly reason: string }> {
  if (missing.length === 0) return { verdict: "ok", reason: "no vendor is asked without the package for its protocol" };
  const each = missing.map(
    (vendor) => `${vendor} is asked through chat completions, and its own protocol ${gains[vendor]}`,
  );
  const packages = missing.map((vendor) => `@ai-sdk/${vendor}`).join(" ");
  const how = `\`npm install ${packages}\` where service-gateway is installed (-g if globally), then restart it`;
  return { verdict: "ok", reason: `${each.join("; ")}: ${how}` };
}
