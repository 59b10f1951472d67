/** Decisions on their way to the database, with what is searched for in them. */
import type { Decision } from "service-gateway/sdk/store";

/** JSON of the decisions, their senders, and JSON of the tokens that they report. */
export type PackedDecisions = readonly [
  entries: string | null,
  senders: readonly string[] | null,
  usage: string | null,
];

export function packDecisions(decisions: readonly Decision[] | undefined): PackedDecisions {
  if (decisions === undefined || decisions.length === 0) return [null, null, null];
  const senders = decisions.flatMap(({ sender }) => (sender === undefined ? [] : [sender]));
  const usage = decisions.flatMap(({ at, usage: used = [] }) => used.map((each) => ({ at, ...each })));
  return [
    JSON.stringify(decisions),
    senders.length === 0 ? null : senders,
    usage.length === 0 ? null : JSON.stringify(usage),
  ];
}
