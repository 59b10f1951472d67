/** Runs the self-tests of plugins one by one, so that a check that fails or hangs does not affect the others. */
import { reasonOf } from "../contract/index.ts";
import type { CheckDefinition } from "../sdk/contract.ts";
import { isObject } from "./answers.ts";
import { withPatience } from "./asking.ts";
import { pluginDeadlines } from "./deadline.ts";
import type { Owned } from "./registry.ts";

export interface CheckReport {
  readonly plugin: string;
  readonly name: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly reason: string;
  readonly fix?: string;
  /** True if the check can repair the problem itself. */
  readonly fixable: boolean;
  /** What the repair did, if one was requested. */
  readonly done?: string;
}

/** With `fix`, runs that one check alone and repairs what it finds. */
export async function runChecks(
  checks: readonly Owned<CheckDefinition>[],
  fix?: { readonly plugin: string; readonly name: string },
): Promise<readonly CheckReport[]> {
  const wanted = checks.filter(
    ({ plugin, definition }) => fix === undefined || (plugin === fix.plugin && definition.name === fix.name),
  );
  return await Promise.all(wanted.map((check) => runCheck(check, fix !== undefined)));
}

function isFinding(value: unknown): value is Pick<CheckReport, "verdict" | "reason" | "fix"> {
  if (!isObject(value)) return false;
  const { verdict, reason, fix } = value;
  return (
    ["ok", "warn", "fail"].includes(verdict as string) &&
    typeof reason === "string" &&
    (fix === undefined || typeof fix === "string")
  );
}

async function runCheck({ plugin, definition }: Owned<CheckDefinition>, fix: boolean): Promise<CheckReport> {
  const base = { plugin, name: definition.name };
  try {
    const explained: unknown = await withPatience(definition.explain(), pluginDeadlines.check);
    if (!isFinding(explained)) throw new Error("its verdict must be ok, warn or fail, with a reason");
    const { verdict, reason, fix: remedy } = explained;
    const fixable = definition.fix !== undefined && verdict !== "ok";
    const report = { ...base, verdict, reason, ...(remedy === undefined ? {} : { fix: remedy }), fixable };
    if (!fix || !fixable || definition.fix === undefined) return report;
    return { ...report, done: await withPatience(definition.fix(), pluginDeadlines.check) };
  } catch (error) {
    return { ...base, verdict: "fail", reason: `the check itself failed: ${reasonOf(error)}`, fixable: false };
  }
}
