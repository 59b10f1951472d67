/** What the doctor finds: one verdict of one check, why, and what to do about it. */

export interface Finding {
  /** A word or two that name the check. */
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  /** One sentence without a full stop. */
  readonly reason: string;
  /** Configuration path or file that it is about. */
  readonly path?: string;
  /** What to do, as a sentence. */
  readonly fix?: string;
  /** Absent: the operator has to decide, or to do it elsewhere. */
  readonly repair?: Repair;
}

export interface Repair {
  /** What `--fix` would do, such as `write 42 in place of "@ada"`. */
  readonly what: string;
  /** True: it edits the configuration file, of which there must be a copy before. */
  readonly edits: boolean;
  run(): Promise<void>;
}

export const ok = (check: string, reason: string): Finding => ({ check, verdict: "ok", reason });

/** What a check found, or that all is well. */
export function orOk(found: readonly Finding[], check: string, reason: string): readonly Finding[] {
  return found.length > 0 ? found : [ok(check, reason)];
}

/** The sentence of an error as the reason of a finding. */
export const withoutStop = (text: string): string => text.replace(/\.$/, "");
