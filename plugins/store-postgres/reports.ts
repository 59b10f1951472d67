/** Reports about the state for operators. */
import {
  type Address,
  type Decision,
  type EventReport,
  type EventReportRow,
  eventReportOf,
  type Json,
  type Outcome,
  type SessionReport,
  type Store,
  type StoreStats,
} from "service-gateway/sdk/store";
import { conditionsOf } from "./event-filter.ts";
import type { Database } from "./pool.ts";
import { outcomeStates } from "./schema/tables.ts";

interface ReportRow extends EventReportRow {
  readonly state: number;
  readonly decisions: readonly (readonly Decision[])[] | null;
}

const reportSelect = `SELECT i.id, i.source, i.kind, i.account, i.lane, i.accepted_at, i.state, i.attempts,
  u.event_id AS unit_id, u.outcome, u.reason, u.settled_at, u.session_key, u.agent_id, u.reply,
  (SELECT json_agg(d.entries ORDER BY d.id) FROM @decisions d WHERE d.unit = i.unit) AS decisions
  FROM @inbox i LEFT JOIN @units u ON u.id = i.unit`;

function stateOf(code: number): EventReport["state"] {
  if (code === 2) return "waiting";
  return code === 3 ? "running" : "settled";
}

const reportOf = (row: ReportRow): EventReport => eventReportOf(row, stateOf(row.state), (row.decisions ?? []).flat());

interface SessionRow {
  readonly key: string;
  readonly agent_id: string | null;
  readonly generation: number;
  readonly last_recipient: Address | null;
  readonly settings: SessionReport["settings"] | null;
  readonly messages: number;
  readonly used_at: number;
}

/**
 * Most sessions only have a transcript, because a record is created only by a command or a direct message. Their agent
 * is known from the unit that wrote last, as long as that unit is stored.
 */
const sessionQuery = `WITH known AS (
    SELECT key FROM @sessions UNION SELECT session_key FROM @transcripts
  ), used AS (
    SELECT known.key, s.agent_id, coalesce(s.generation, 0) AS generation, s.last_recipient, s.settings,
      coalesce(spoken.messages, 0) AS messages, greatest(coalesce(s.updated_at, 0), coalesce(newest.at, 0))
        AS used_at, newest.unit_id
    FROM known LEFT JOIN @sessions s ON s.key = known.key
    LEFT JOIN @transcripts t ON t.session_key = known.key AND t.generation = coalesce(s.generation, 0)
    LEFT JOIN LATERAL (SELECT count(*) AS messages FROM @messages m WHERE m.transcript = t.id) spoken ON true
    LEFT JOIN LATERAL (SELECT m.at, m.unit_id FROM @messages m WHERE m.transcript = t.id ORDER BY m.position DESC
      LIMIT 1) newest ON true
    ORDER BY used_at DESC, known.key LIMIT $1
  )
  SELECT used.key, coalesce(used.agent_id, u.agent_id) AS agent_id, generation, last_recipient, settings, messages,
    used_at
  FROM used LEFT JOIN @inbox i ON i.id = used.unit_id LEFT JOIN @units u ON u.id = i.unit ORDER BY used_at DESC,
    used.key`;

/** Totals of outcomes include the events that are removed. */
const statsQuery = `SELECT
  (SELECT count(*) FROM @inbox WHERE state = 2 AND due IS NOT NULL)
    + (SELECT count(*) FROM @inbox WHERE state = 2 AND gather_key IS NOT NULL AND due IS NULL) AS waiting,
  (SELECT count(*) FROM @inbox i JOIN @units u ON u.id = i.unit WHERE u.state = 1 AND i.state = 3) AS running,
  (SELECT count(*) FROM @outbox WHERE state < 2) AS outbox,
  (SELECT min(greatest(i.accepted_at, i.due))
    FROM (SELECT min(sequence) AS first FROM @inbox WHERE state = 2 AND due IS NOT NULL GROUP BY lane) heads
    JOIN @inbox i ON i.sequence = heads.first WHERE i.due < 'Infinity') AS oldest,
  (SELECT json_object_agg(state, total) FROM (
    SELECT state::text, sum(total) AS total FROM (
      SELECT state::text, count(*) AS total FROM @inbox WHERE state >= 4 GROUP BY state
      UNION ALL SELECT substr(name, 9), value FROM @counters WHERE starts_with(name, 'removed:')
    ) each GROUP BY state) sums) AS ended`;

interface StatsRow {
  readonly waiting: number;
  readonly running: number;
  readonly outbox: number;
  readonly oldest: number | null;
  readonly ended: Readonly<Record<string, number>> | null;
}

export function reportMethods(database: Database) {
  return {
    async event(id) {
      const [row] = await database.query<ReportRow>(`${reportSelect} WHERE i.id = $1`, [id]);
      return row === undefined ? null : reportOf(row);
    },
    async events(filter) {
      const { where, values } = conditionsOf(filter);
      const order = filter.oldestFirst === true ? "ASC" : "DESC";
      const rows = await database.report<ReportRow>(
        `${reportSelect} ${where} ORDER BY i.sequence ${order} LIMIT $${values.length + 1}`,
        [...values, filter.limit],
      );
      return rows.map(reportOf);
    },
    async body(eventId) {
      const [row] = await database.query<{ body: Json }>("SELECT body FROM @inbox WHERE id = $1", [eventId]);
      return row?.body ?? null;
    },
    async sessionReports({ limit }) {
      const rows = await database.report<SessionRow>(sessionQuery, [limit]);
      return rows.map(({ key, agent_id, generation, last_recipient, settings, messages, used_at }) => ({
        key,
        ...(agent_id !== null && { agentId: agent_id }),
        generation,
        settings: settings ?? {},
        ...(last_recipient !== null && { lastRecipient: last_recipient }),
        messages,
        updatedAt: used_at,
      }));
    },
    async stats() {
      const [row] = await database.report<StatsRow>(statsQuery);
      const oldest = row?.oldest ?? null;
      const total = (outcome: Outcome) => row?.ended?.[String(outcomeStates[outcome])] ?? 0;
      return {
        waiting: row?.waiting ?? 0,
        running: row?.running ?? 0,
        outboxWaiting: row?.outbox ?? 0,
        ...(oldest !== null && { oldestDueAt: oldest }),
        settled: {
          answered: total("answered"),
          silent: total("silent"),
          refused: total("refused"),
          failed: total("failed"),
        },
      } satisfies StoreStats;
    },
  } satisfies Partial<Store>;
}
