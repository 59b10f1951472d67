/** Explains decisions without a text of their own from the registry of codes. */
import { findCode } from "../contract/codes.ts";
import type { Decision } from "../contract/types.ts";
import { type PluginCodes, readPluginCodes } from "../host/plugin-codes.ts";
import type { EventReport } from "../state/report.ts";
import type { Store } from "../state/store.ts";

/** The report, with the meaning and the hint of each code whose decision has no text. */
export async function explained(store: Store, report: EventReport): Promise<EventReport> {
  const codes = await readPluginCodes(store);
  return { ...report, decisions: report.decisions.map((decision) => explain(decision, report, codes)) };
}

/** A successful step needs no explanation: its code is enough. */
function explain(decision: Decision, { source }: EventReport, codes: PluginCodes): Decision {
  const { plugin, code, verdict, detail = "", hint = "" } = decision;
  if (verdict === "pass" || verdict === "done") return decision;
  const [ofPlugin, ofChannel] = [codes.get(plugin), codes.get(source)];
  const known = findCode(code, { ...(ofPlugin && { plugin: ofPlugin }), ...(ofChannel && { channel: ofChannel }) });
  if (known === undefined) return decision;
  return {
    ...decision,
    ...(detail === "" && { detail: known.meaning }),
    ...(hint === "" && known.hint !== "" && { hint: known.hint }),
  };
}
