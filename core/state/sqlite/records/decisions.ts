/** The decisions about a unit, and the event reports made from them. */
import type { Decision, Json } from "../../../contract/index.ts";
import type { EventFilter, EventReport, StoreStats } from "../../report.ts";
import { type EventReportRow, eventReportOf } from "../../rows.ts";
import { eventState } from "../database/schema.ts";
import type { Statements } from "../database/statements.ts";
import type { Total, WriteContext } from "../database/writer-database.ts";
import { conditionsOf } from "./event-filter.ts";

/** Appends decisions as one row for each write, because they are only ever read together. */
export function appendDecisions(context: WriteContext, unit: number, entries: string | null): void {
  if (entries !== null) context.run("INSERT INTO decisions (unit, entries) VALUES (?, ?)", unit, entries);
}

/**
 * A stored decision without field names, which would take up half of all decisions' space, and decisions are half of
 * the database.
 */
type PackedDecision = readonly [
  at: number,
  station: Decision["station"],
  plugin: string,
  verdict: Decision["verdict"],
  code: string,
  detail?: string | null,
  path?: string | null,
  hint?: string | null,
  sender?: string | null,
  usage?: readonly PackedUsage[],
];

type PackedUsage = readonly [inputTokens: number, outputTokens: number, model: string];

function packDecision({
  at,
  station,
  plugin,
  verdict,
  code,
  detail,
  path,
  hint,
  sender,
  usage,
}: Decision): PackedDecision {
  if (usage !== undefined) {
    const packed = usage.map(({ inputTokens, outputTokens, model }): PackedUsage => [inputTokens, outputTokens, model]);
    return [at, station, plugin, verdict, code, detail ?? null, path ?? null, hint ?? null, sender ?? null, packed];
  }
  if (sender !== undefined)
    return [at, station, plugin, verdict, code, detail ?? null, path ?? null, hint ?? null, sender];
  if (path !== undefined || hint !== undefined)
    return [at, station, plugin, verdict, code, detail ?? null, path ?? null, hint ?? null];
  return detail === undefined ? [at, station, plugin, verdict, code] : [at, station, plugin, verdict, code, detail];
}

export function packDecisions(decisions: readonly Decision[] | undefined): string | null {
  return decisions === undefined || decisions.length === 0 ? null : JSON.stringify(decisions.map(packDecision));
}

/** Earlier versions stored decisions as objects. */
function unpackDecision(packed: PackedDecision | Decision): Decision {
  if (!isList(packed)) return packed;
  const [at, station, plugin, verdict, code, detail, path, hint, sender, usage] = packed;
  return {
    at,
    station,
    plugin,
    verdict,
    code,
    ...(detail != null && { detail }),
    ...(path != null && { path }),
    ...(hint != null && { hint }),
    ...(sender != null && { sender }),
    ...(usage !== undefined && {
      usage: usage.map(([inputTokens, outputTokens, model]) => ({ inputTokens, outputTokens, model })),
    }),
  };
}

const isList = (packed: PackedDecision | Decision): packed is PackedDecision => Array.isArray(packed);

export function unpackDecisions(entries: string): readonly Decision[] {
  return (JSON.parse(entries) as readonly (PackedDecision | Decision)[]).map(unpackDecision);
}

interface ReportRow extends EventReportRow {
  readonly state: number;
  readonly unit: number | null;
}

const reportSelect = `SELECT i.id, i.source, i.kind, i.account, i.lane, i.accepted_at, i.state, i.attempts, i.unit,
  u.event_id AS unit_id, u.outcome, u.reason, u.settled_at, u.session_key, u.agent_id, u.reply
  FROM inbox i LEFT JOIN units u ON u.id = i.unit`;

function stateOf(code: number): EventReport["state"] {
  if (code === eventState.waiting) return "waiting";
  return code === eventState.running ? "running" : "settled";
}

function chainOf(sql: Statements, unit: number | null): readonly Decision[] {
  if (unit === null) return [];
  const rows = sql.all<{ entries: string }>("SELECT entries FROM decisions WHERE unit = ? ORDER BY id", unit);
  return rows.flatMap((row) => unpackDecisions(row.entries));
}

const reportOf = (sql: Statements, row: ReportRow): EventReport =>
  eventReportOf(row, stateOf(row.state), chainOf(sql, row.unit));

export function decisionWrites(context: WriteContext) {
  return {
    addDecision({ unitId, entries }: { readonly unitId: string; readonly entries: string }): boolean {
      const unit = context.one<{ unit: number | null }>("SELECT unit FROM inbox WHERE id = ?", unitId)?.unit ?? null;
      if (unit === null) return false;
      const [added] = unpackDecisions(entries);
      const isKnown = chainOf(context, unit).some(
        ({ station, code, detail }) => station === added?.station && code === added.code && detail === added.detail,
      );
      if (!isKnown) appendDecisions(context, unit, entries);
      return !isKnown;
    },
  };
}

export function decisionReads(sql: Statements) {
  return {
    event(id: string): EventReport | null {
      const row = sql.one<ReportRow>(`${reportSelect} WHERE i.id = ?`, id);
      return row ? reportOf(sql, row) : null;
    },

    events(filter: EventFilter): readonly EventReport[] {
      const { where, values } = conditionsOf(filter);
      const order = filter.oldestFirst === true ? "ASC" : "DESC";
      const rows = sql.all<ReportRow>(
        `${reportSelect} ${where} ORDER BY i.sequence ${order} LIMIT ?${values.length + 1}`,
        ...values,
        filter.limit,
      );
      return rows.map((row) => reportOf(sql, row));
    },

    body(eventId: string): Json | null {
      const row = sql.one<{ body: string }>("SELECT body FROM inbox WHERE id = ?", eventId);
      return row ? (JSON.parse(row.body) as Json) : null;
    },

    fence(): number {
      return sql.one<{ value: number }>("SELECT value FROM numbers WHERE name = 'fence'")?.value ?? 0;
    },

    stats(): StoreStats {
      const rows = sql.all<{ name: Total; value: number }>("SELECT name, value FROM numbers");
      const total = (name: Total) => rows.find((row) => row.name === name)?.value ?? 0;
      const oldest = sql.one<{ due: number | null }>(
        `SELECT min(max(i.accepted_at, i.due)) AS due
         FROM (SELECT min(sequence) AS first FROM inbox WHERE state = 2 AND due IS NOT NULL GROUP BY lane)
         JOIN inbox i ON i.sequence = first WHERE i.due < 9e999`,
      )?.due;
      return {
        waiting: total("waiting"),
        running: total("running"),
        outboxWaiting: total("outbox"),
        ...(typeof oldest === "number" && { oldestDueAt: oldest }),
        settled: {
          answered: total("answered"),
          silent: total("silent"),
          refused: total("refused"),
          failed: total("failed"),
        },
      };
    },
  };
}
