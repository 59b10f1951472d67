/** Says what a vendor's own protocol would add, and how to get it. */
import { type MissingPackage, neededMajor, type Vendor } from "./packages.ts";

const gains: Readonly<Record<Vendor, string>> = {
  anthropic: "caches the prompt, which makes long conversations cheaper, and keeps thoughts between calls of tools",
  google: "keeps thoughts between calls of tools",
  openai: "keeps thoughts between calls of tools",
};

interface Verdict {
  readonly verdict: "ok" | "warn";
  readonly reason: string;
  readonly fix?: string;
}

function howToInstall(vendors: readonly MissingPackage[]): string {
  const packages = vendors.map(({ vendor }) => `@ai-sdk/${vendor}@${neededMajor}`).join(" ");
  return `\`npm install ${packages}\` where service-gateway is installed (-g if globally), then restart it`;
}

/** A warning only for a package that is there and cannot be used: everything works without these packages. */
export async function explainProtocols(missing: readonly MissingPackage[]): Promise<Verdict> {
  if (missing.length === 0) return { verdict: "ok", reason: "no vendor is asked without the package for its protocol" };
  const broken = missing.filter(({ fault }) => fault !== undefined);
  if (broken.length > 0) {
    const each = broken.map(
      ({ vendor, fault }) =>
        `@ai-sdk/${vendor} is installed and cannot be used (${fault}), so ${vendor} is asked through chat completions`,
    );
    return { verdict: "warn", reason: each.join("; "), fix: `Run ${howToInstall(broken)}.` };
  }
  const each = missing.map(
    ({ vendor }) => `${vendor} is asked through chat completions, and its own protocol ${gains[vendor]}`,
  );
  return { verdict: "ok", reason: `${each.join("; ")}: ${howToInstall(missing)}` };
}
