/** Lists sessions for operators. */
import type { Address } from "../../../contract/index.ts";
import type { SessionReport } from "../../report.ts";
import type { Statements } from "../database/statements.ts";

interface ReportRow {
  readonly key: string;
  readonly agent_id: string | null;
  readonly generation: number;
  readonly last_recipient: string | null;
  readonly settings: string | null;
  readonly messages: number;
  readonly used_at: number;
}

/**
 * Most sessions only have a transcript, because a record is created only by a command or a direct message. Their agent
 * is known from the unit that wrote last, as long as that unit is stored.
 */
const newestFirst = `
WITH spoken AS (
  SELECT session_key AS key, generation, messages, newest AS last FROM transcripts
), used AS (
  SELECT known.key, sessions.agent_id, COALESCE(sessions.generation, 0) AS generation, last_recipient, settings,
    COALESCE(spoken.messages, 0) AS messages,
    MAX(COALESCE(updated_at, 0), COALESCE(newest.at, 0)) AS used_at,
    newest.unit_id
  FROM (SELECT key FROM sessions UNION SELECT key FROM spoken) AS known
  LEFT JOIN sessions ON sessions.key = known.key
  LEFT JOIN spoken ON spoken.key = known.key AND spoken.generation = COALESCE(sessions.generation, 0)
  LEFT JOIN messages AS newest ON newest.id = spoken.last
  ORDER BY used_at DESC, known.key LIMIT ?
)
SELECT key, COALESCE(used.agent_id, units.agent_id) AS agent_id, generation, last_recipient, settings, messages, used_at
FROM used LEFT JOIN inbox ON inbox.id = used.unit_id LEFT JOIN units ON units.id = inbox.unit
ORDER BY used_at DESC, key`;

export function sessionReportReads(sql: Statements) {
  return {
    sessionReports({ limit }: { limit: number }): readonly SessionReport[] {
      return sql.all<ReportRow>(newestFirst, limit).map((row) => ({
        key: row.key,
        ...(row.agent_id !== null && { agentId: row.agent_id }),
        generation: row.generation,
        settings: JSON.parse(row.settings ?? "{}") as SessionReport["settings"],
        ...(row.last_recipient !== null && { lastRecipient: JSON.parse(row.last_recipient) as Address }),
        messages: row.messages,
        updatedAt: row.used_at,
      }));
    },
  };
}
