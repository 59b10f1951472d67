/** Something in the configuration that is not as it should be. `renderProblem` makes a line of it. */
export interface Problem {
  /** `error`: the value is not used. `warning`: nothing stops. */
  readonly severity: "error" | "warning";
  /** Dotted path, such as `channels.botchat.groups["-100123"].requireMention`. */
  readonly path: string;
  /** What is wrong, without the path and without a full stop; secrets are never quoted. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /**
   * Section that is switched off by it: `hooks`, `hooks.mappings[n]`, `channels.<id>`, `channels.<id>.accounts.<id>`,
   * `plugins.entries.<id>`.
   */
  readonly section?: string;
  /** Position of the value in the file, both from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** `error config.jsonc:3:14 gateway.port: is "x", but must be a whole number (hint)`. */
export function renderProblem(problem: Problem, file?: string): string {
  const place = problem.line === undefined ? file : `${file ?? "line "}${file ? ":" : ""}${problem.line}:${problem.column ?? 1}`;
  const where = [place, problem.path].filter(Boolean).join(" ");
  const off = problem.section === undefined ? "" : ` ${problem.section} is off until then.`;
  return `${problem.severity}: ${where}: ${problem.message}.${problem.hint === undefined ? "" : ` ${problem.hint}`}${off}`;
}
