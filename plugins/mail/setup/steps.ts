/**
 * Steps of a setup. Each checks first, changes only what is missing, and reports its result; the first failure ends the
 * setup.
 */
import type { CliAnswer, CliCall, Json } from "service-gateway/sdk";
import { SourceError } from "../source.ts";

/** `would`: a dry run has found something to change. */
type Outcome = "done" | "kept" | "would" | "failed";

interface Step {
  readonly step: string;
  readonly outcome: Outcome;
  /** One sentence, without secrets or text of a mail. */
  readonly detail: string;
  readonly fix?: string;
}

/** The result of a step. A `SourceError` is its failure, with the remedy. */
export interface Result<T = undefined> {
  readonly outcome: Exclude<Outcome, "failed">;
  readonly detail: string;
  readonly value: T;
}

export const done = (detail: string): Result => ({ outcome: "done", detail, value: undefined });
export const retained = (detail: string): Result => ({ outcome: "kept", detail, value: undefined });

interface ChangeDetail {
  /** Completes "would" and names the change. */
  readonly would: string;
  /** A sentence about the result. */
  readonly done: string;
}

export interface Steps {
  readonly dryRun: boolean;
  /** `doing` is shown if it takes more than a second. Rejects with `Stopped` if the step fails. */
  step<T>(name: string, doing: string, work: () => Promise<Result<T>>): Promise<T>;
  /** Makes a change, or in a dry run only reports it. */
  change(name: string, detail: ChangeDetail, work: () => Promise<unknown>): Promise<void>;
  /** A step whose failure does not end the setup. `undefined` if it failed. */
  attempt<T>(name: string, doing: string, work: () => Promise<Result<T>>): Promise<T | undefined>;
  /** The answer of the command; `next` says what happens now. `ok` is false if an important attempt failed. */
  answer(data: { readonly [key: string]: Json }, next: readonly string[], ending?: { readonly ok: boolean }): CliAnswer;
}

/** A step has failed, and was reported. */
class Stopped extends Error {
  override readonly name = "Stopped";
}

const width = { outcome: 6, step: 14 } as const;

/** Runs a setup from its first step to its last, or to the first failure. */
export async function runSteps(
  call: Pick<CliCall, "say" | "progress">,
  { dryRun, failed }: { readonly dryRun: boolean; readonly failed: { readonly [key: string]: Json } },
  run: (steps: Steps) => Promise<CliAnswer>,
): Promise<CliAnswer> {
  const taken: Step[] = [];
  const report = (step: Step): void => {
    taken.push(step);
    call.say(`${step.outcome.padEnd(width.outcome)}  ${step.step.padEnd(width.step)}  ${step.detail}`);
    if (step.fix !== undefined) call.say(`${" ".repeat(width.outcome + width.step + 4)}${step.fix}`);
  };

  async function take<T>(name: string, doing: string, work: () => Promise<Result<T>>): Promise<T> {
    try {
      const { outcome, detail, value } = await call.progress(doing, work());
      report({ step: name, outcome, detail });
      return value;
    } catch (error) {
      report({ step: name, outcome: "failed", ...failureOf(error) });
      throw new Stopped();
    }
  }

  const answer = (ok: boolean, data: { readonly [key: string]: Json }, next: readonly string[]): CliAnswer => ({
    lines: next,
    data: { ok, dryRun, ...data, steps: taken as unknown as Json, next },
    ...(ok ? {} : { failed: true }),
  });
  try {
    return await run({
      dryRun,
      step: take,
      async change(name, { would, done }, work) {
        await take(name, would, async () => {
          if (dryRun) return { outcome: "would", detail: would, value: undefined };
          await work();
          return { outcome: "done", detail: done, value: undefined };
        });
      },
      attempt: (name, doing, work) => take(name, doing, work).catch(endOf),
      answer: (data, next, { ok } = { ok: true }) => answer(ok, data, next),
    });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return answer(false, failed, ["Nothing else was done. Run the command again when this is corrected."]);
  }
}

function endOf(error: unknown): undefined {
  if (!(error instanceof Stopped)) throw error;
}

function failureOf(error: unknown): { readonly detail: string; readonly fix?: string } {
  if (error instanceof SourceError) {
    // Unlike a look at a mailbox, a setup is not retried automatically.
    const fix =
      error.kind === "outage" && error.fix.startsWith("It is retried")
        ? "Check the settings and the network."
        : error.fix;
    return { detail: error.message, fix };
  }
  const { message, hint } = error as Error & { readonly hint?: string };
  return { detail: message, ...(hint === undefined || hint === "" ? {} : { fix: hint }) };
}
