/** The report of a benchmark: values with their reference, and whether the target is met. */

export interface Result {
  readonly name: string;
  /** What is compared. */
  readonly figure: string;
  readonly ours: string;
  readonly reference: string;
  /** The ratio of our value to the reference's, or their difference. */
  readonly measure: string;
  readonly target?: string;
  readonly holds?: boolean;
}

export interface Bench {
  readonly name: string;
  readonly summary: string;
  run(options: { readonly rounds: number }): Promise<readonly Result[]>;
  /** Everything that `run` measures in samples, measured once as a whole. */
  readonly whole?: () => Promise<readonly Result[]>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export function spread(values: readonly number[], digits: number): string {
  return (
    `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ` +
    `${Math.max(...values).toFixed(digits)})`
  );
}

/** Ratios of values measured one after the other, so that a slow moment of the machine affects both. */
export function paired(ours: readonly number[], reference: readonly number[]): readonly number[] {
  return ours.map((value, index) => value / (reference[index] ?? Number.NaN));
}

export function atLeast(value: number, target: number): Pick<Result, "target" | "holds"> {
  return { target: `at least ${target}`, holds: value >= target };
}

export function atMost(value: number, target: number, unit = ""): Pick<Result, "target" | "holds"> {
  return { target: `at most ${target}${unit}`, holds: value <= target };
}

export const columns = ["benchmark", "figure", "ours", "reference", "measure", "target", "holds"] as const;

export function row(result: Result): readonly string[] {
  const { name, figure, ours, reference, measure, target = "", holds } = result;
  return [name, figure, ours, reference, measure, target, holds === undefined ? "" : holds ? "yes" : "no"];
}
