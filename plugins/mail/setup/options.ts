/** Reads and checks the options of the mail commands. */
import type { CliAnswer, CliCall } from "service-gateway/sdk";
import { SourceError } from "../source.ts";

/** The options do not fit; the message is a sentence that says what to write. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Runs a command: wrong options end with 2, failures with 1 and their remedy. */
export async function answered(run: () => Promise<CliAnswer>): Promise<CliAnswer> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) return { lines: [error.message], data: null, failed: "usage" };
    if (error instanceof SourceError) return { lines: [error.message, error.fix], data: null, failed: true };
    throw error;
  }
}

export function textOf({ options }: Pick<CliCall, "options">, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

export function listOf({ options }: Pick<CliCall, "options">, name: string): readonly string[] | undefined {
  const value = options[name];
  return Array.isArray(value) ? (value as readonly string[]) : undefined;
}

export function isSet({ options }: Pick<CliCall, "options">, name: string): boolean {
  return options[name] === true;
}

export function numberOf(
  call: Pick<CliCall, "options">,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
) {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= from && number <= to))
    throw new UsageError(`--${name} is a whole number from ${from} to ${to}, not "${text}".`);
  return number;
}

/** An option, or the answer to a question at the terminal. */
export async function textOrAsk(
  call: Pick<CliCall, "options" | "terminal">,
  name: string,
  { question, preset, missing }: { readonly question: string; readonly preset?: string; readonly missing?: string },
): Promise<string> {
  const given = textOf(call, name) ?? (await call.terminal?.ask(question, preset));
  if (given === undefined || given === "") throw new UsageError(missing ?? `--${name} is missing.`);
  return given;
}

/** The account is a key of the configuration and part of a file name. */
export async function accountOf(call: Pick<CliCall, "options" | "terminal">, missing?: string): Promise<string> {
  const account = await textOrAsk(call, "account", {
    question: "A name for the mailbox, such as work",
    missing,
  });
  if (!/^[A-Za-z0-9][A-Za-z0-9@._-]{0,63}$/.test(account))
    throw new UsageError(`--account is a name of letters, digits, @, ., _ and -, not "${account}".`);
  return account;
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const longestSinceMs = 365 * 86_400_000;

/** How far back reading begins, in milliseconds. */
export function sinceOf(call: Pick<CliCall, "options">): number | undefined {
  const text = textOf(call, "since");
  if (text === undefined) return undefined;
  const [, amount = "", unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (units[unit] ?? Number.NaN);
  if (!(ms > 0 && ms <= longestSinceMs))
    throw new UsageError(`--since is a time such as 30m, 2h or 2d, at most 365d, not "${text}".`);
  return ms;
}
