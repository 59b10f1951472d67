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
  if (missing.length === 0) return { verdict: "ok", reason: "each vendor in use is asked as well as it can be" };
  const packages = missing.map((vendor) => `@ai-sdk/${vendor}`).join(" ");
  const each = missing.map((vendor) => `the own protocol of ${vendor} ${gains[vendor]}`).join("; ");
  const how = `\`npm install ${packages}\` where service-gateway is installed (-g if globally), and a restart, add it`;
  return { verdict: "ok", reason: `${missing.join(", ")}: chat completions are used. ${each}. ${how}` };
}
