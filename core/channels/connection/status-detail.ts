/** What the operator reads of an account's state, where a channel gives the reason as a code. */
import { asSentence, type CodeDefinition, type CodeTable, findCode, hintOfCode } from "../../contract/index.ts";
import type { ChannelStatus } from "../../sdk/contract.ts";

/**
 * Adds the meaning and the hint of the code. A detail that begins with a code, as an error without a text of its own
 * gives it, begins with the code's meaning instead; what follows, such as the time of the next attempt, stays.
 */
export function explainedStatus(status: ChannelStatus, codes: CodeTable = {}): ChannelStatus {
  const { code: given, detail, hint, ...rest } = status;
  const [, lead = "", tail = ""] = /^([a-z][a-z0-9_]*)(?:\.(.*))?$/s.exec(detail ?? "") ?? [];
  const find = (name: string) => (name === "" ? undefined : findCode(name, { plugin: codes }));
  const meaning = find(lead)?.meaning;
  const code = given ?? (meaning === undefined ? undefined : lead);
  const known = code === undefined ? undefined : find(code);
  const what = meaning === undefined ? (detail ?? known?.meaning) : `${meaning}${tail}`;
  const remedy = remedyOf(code, hint, hintOfCode(known, { retrying: status.state === "waiting" }));
  return {
    ...rest,
    ...(code !== undefined && { code }),
    ...(what !== undefined && { detail: what }),
    ...(remedy !== "" && what?.includes(remedy) !== true && { hint: remedy }),
  };
}

/**
 * An error has the gateway's hint where its author wrote none. That of the channel's own code is closer to the cause.
 */
function remedyOf(code: string | undefined, hint: string | undefined, known = ""): string {
  const general: Partial<CodeDefinition> = (code !== undefined && findCode(code)) || {};
  return hint === undefined || hint === general.hint || hint === general.hintWhileRetrying
    ? known || (hint ?? "")
    : hint;
}

/** Why an account is as it is, and what can be done about it, as one text. `undefined` if it gives no reason. */
export function reasonOfStatus({ detail, hint }: Pick<ChannelStatus, "detail" | "hint">): string | undefined {
  if (hint === undefined) return detail;
  return detail === undefined ? hint : `${asSentence(detail)} ${hint}`;
}
