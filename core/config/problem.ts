/** A problem in the configuration. `renderProblem` formats it as one line. */
export interface Problem {
  /** `error`: the value is not used. `warning`: the value is used. */
  readonly severity: "error" | "warning";
  /** Dotted path, such as `channels.botchat.groups["-100123"].requireMention`. */
  readonly path: string;
  /** What is wrong, without the path and a full stop. Never quotes secrets. */
  readonly message: string;
  /** How to fix it. */
  readonly hint?: string;
  /**
   * The section that the error disables: `hooks`, `hooks.mappings[n]`, `channels.<id>`, `channels.<id>.accounts.<id>`,
   * `plugins.entries.<id>`, the section of a plugin, or an entry of it.
   */
  readonly section?: string;
  /** Line of the value in the file, from 1, like `column`. */
  readonly line?: number;
  readonly column?: number;
}

/** Formats a problem: `error config.jsonc:3:14 gateway.port: is "x", but must be a whole number (hint)`. */
export function renderProblem(problem: Problem, file?: string): string {
  const place =
    problem.line === undefined ? file : `${file ?? "line "}${file ? ":" : ""}${problem.line}:${problem.column ?? 1}`;
  const where = [place, problem.path].filter(Boolean).join(" ");
  const off = problem.section === undefined ? "" : ` ${problem.section} is off until then.`;
  return (
    `${problem.severity}: ${where}: ` +
    `${problem.message}.${problem.hint === undefined ? "" : ` ${problem.hint}`}${off}`
  );
}
