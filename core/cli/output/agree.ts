/** Asks before a command changes many things. Programs, and people without a terminal, agree with --yes. */
import { HostError } from "../../contract/errors.ts";

export interface AgreeOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Resolves with false if the person does not agree. Throws `usage` without a terminal for the question. */
export async function agrees(question: string, { yes, json }: AgreeOptions): Promise<boolean> {
  if (yes === true) return true;
  if (json === true || !process.stdin.isTTY || !process.stderr.isTTY)
    throw new HostError("usage", { reason: `${question} Add --yes to agree, or --dry-run to see what it would do` });
  const { createQuestions } = await import("./questions.ts");
  return await createQuestions(process).confirm(question);
}
