/** The table of bench/README.md: what each MB of an installation is. */
import type { Size } from "../support/installed-size.ts";
import { read } from "./sources.ts";

/** Smaller ones share a row. */
const small = 0.5;
const others = "smaller dependencies";

/** The rows of the table, by their first cell. */
export function recordedSizes(): ReadonlyMap<string, number> {
  const [, section = ""] = read("bench/README.md").split("\n## What the installed megabytes are\n");
  const [table = ""] = section.split("\n## ");
  const rows = [...table.matchAll(/^\| ([^|]+?) \| (\d+\.\d) \|/gm)];
  return new Map(rows.map(([, what = "", megabytes]) => [what.replaceAll("`", ""), Number(megabytes)]));
}

/** Dependencies with less than half a megabyte as one. */
export function withoutSmall(sizes: readonly Size[]): readonly Size[] {
  const sum = sizes.reduce((sum, [, megabytes]) => sum + (megabytes < small ? megabytes : 0), 0);
  return [...sizes.filter(([, megabytes]) => megabytes >= small), [others, sum]];
}

/** What is not as the table says, a sentence each: a twentieth and 0.1 MB more or less are no change. */
export function changedSizes(measured: readonly Size[]): readonly string[] {
  const recorded = recordedSizes();
  return measured.flatMap(([what, megabytes]) => {
    const before = recorded.get(what);
    if (before === undefined) return [`${what} takes ${megabytes.toFixed(1)} MB and has no row in bench/README.md`];
    if (Math.abs(megabytes - before) <= 0.1 + before / 20) return [];
    return [`${what} takes ${megabytes.toFixed(1)} MB, and ${before.toFixed(1)} MB in bench/README.md`];
  });
}
