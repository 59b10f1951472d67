/** The result of one check of the doctor: a verdict, the reason, and what to do. */

export interface Finding {
  /** One or two words that name the check. */
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  /** One sentence without a full stop. */
  readonly reason: string;
  /** The configuration path or the file concerned. */
  readonly path?: string;
  /** What to do, as a sentence. */
  readonly fix?: string;
  /** Absent if the operator has to decide, or has to act elsewhere. */
  readonly repair?: Repair;
}

export interface Repair {
  /** What `--fix` would do, such as `write 42 in place of "@ada"`. */
  readonly what: string;
  /** True: it edits the configuration file, so the file must be copied first. */
  readonly edits: boolean;
  run(): Promise<void>;
}

export const ok = (check: string, reason: string): Finding => ({ check, verdict: "ok", reason });

/** The findings of a check, or one that says all is well. */
export function orOk(found: readonly Finding[], check: string, reason: string): readonly Finding[] {
  return found.length > 0 ? found : [ok(check, reason)];
}

/** An error's sentence, as the reason of a finding. */
export const withoutStop = (text: string): string => text.replace(/\.$/, "");
