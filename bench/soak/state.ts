/** The state as a soak sees it, and how it is read from the embedded database, without the gateway's own code. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PreviewLeft } from "../../core/state/store.ts";

export interface EventRow {
  /** Its place in the order of acceptance. */
  readonly sequence: number;
  readonly id: string;
  readonly state: number;
  readonly attempts: number;
  readonly unit: number | null;
  readonly source: string;
  readonly kind: string;
  readonly accepted_at: number;
  /** `null`: the next heartbeat. */
  readonly due: number | null;
  readonly body: string;
}

export interface UnitRow {
  /** Increases with each new unit. */
  readonly id: number;
  readonly event_id: string;
  readonly lane: string;
  readonly state: number;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly settled_at: number | null;
}

export interface OutboxRow {
  readonly unit: number;
  readonly position: number;
  readonly chat: string;
  readonly operation: string;
  /** The text as a reader sees it. */
  readonly text: string;
  /** 2: sent. */
  readonly state: number;
  /** Attempts with an unknown outcome. */
  readonly doubts: number;
  readonly messageId: string | null;
  readonly reason: string | null;
}

export interface State {
  readonly events: readonly EventRow[];
  readonly units: ReadonlyMap<number, UnitRow>;
  /**
   * Of two events that were accepted closer together than this, the later one may have the unit with the lower number.
   * Milliseconds.
   */
  readonly unorderedMs: number;
  readonly outbox: readonly OutboxRow[];
  /** Codes of each unit's chain of decisions. */
  readonly codes: ReadonlyMap<number, readonly string[]>;
  /** Counts that the embedded database keeps. */
  readonly numbers?: ReadonlyMap<string, number>;
  /** What the embedded database says about its soundness: `ok`. */
  readonly integrity?: string;
}

function open(directory: string): DatabaseSync {
  return new DatabaseSync(join(directory, "state.db"), { readOnly: true, timeout: 5_000 });
}

function count(directory: string, condition: string): number {
  const db = open(directory);
  try {
    return Number(db.prepare(`SELECT count(*) AS count FROM inbox WHERE ${condition}`).get()?.count);
  } finally {
    db.close();
  }
}

/** Events that may still start a unit, or are running. */
export const countUnsettled = (directory: string) => count(directory, "state < 4");

/** Events that wait for the next heartbeat, whenever that is. */
export const countForHeartbeat = (directory: string) => count(directory, "state = 2 AND due IS NULL");

export function countModelCalls(directory: string): number {
  const db = open(directory);
  try {
    return Number(db.prepare("SELECT count(*) AS count FROM model_calls").get()?.count);
  } finally {
    db.close();
  }
}

/** The text of a reminder, in what the plugin keeps of it. */
export const reminderText = (stored: unknown): string =>
  (JSON.parse(String(stored)) as { readonly plan: { readonly message: string } }).plan.message;

/** The texts of the reminders that are set. */
export function readReminders(directory: string): readonly string[] {
  const db = open(directory);
  try {
    const rows = db.prepare("SELECT value FROM kv WHERE namespace LIKE '%schedule%' AND key LIKE 'reminder:%'").all();
    return rows.map(({ value }) => reminderText(value));
  } finally {
    db.close();
  }
}

/** Messages of previews in progress, as `chat:message`; the next process will know these. */
export function readPreviews(directory: string): readonly string[] {
  const db = open(directory);
  try {
    const units = db.prepare("SELECT previews FROM units WHERE previews IS NOT NULL").all();
    return units.flatMap(({ previews }) => {
      const { address, messageIds } = JSON.parse(String(previews)) as PreviewLeft;
      return messageIds.map((id) => `${address.chat}:${id}`);
    });
  } finally {
    db.close();
  }
}

/** How an event ended. */
export interface End {
  /** The event's body as stored. */
  readonly body: string;
  readonly outcome: string;
  readonly reason: string;
  /** Sends of its reply whose outcome the gateway could not know. */
  readonly unheard: number;
}

export function readEnds(directory: string): readonly End[] {
  const db = open(directory);
  try {
    // The second doubt about a part is its end and is no longer a doubt.
    const unheard =
      "SELECT total(doubts) + total(reason IS 'send_fate_unknown') FROM outbox WHERE outbox.unit = units.id";
    return db
      .prepare(
        `SELECT body, outcome, reason, (${unheard}) AS unheard FROM units JOIN inbox ON inbox.id = ` +
          "units.event_id WHERE units.state = 2",
      )
      .all() as readonly unknown[] as readonly End[];
  } finally {
    db.close();
  }
}

/** The text of a part as a reader sees it. */
export function readable(html: unknown): string {
  const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
  return String(html ?? "")
    .replace(/<[^>]*>/g, "")
    .replace(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity] ?? entity);
}

export function readState(directory: string): State {
  const db = open(directory);
  try {
    const all = <Row>(sql: string) => db.prepare(sql).all() as readonly unknown[] as readonly Row[];
    const codes = new Map<number, string[]>();
    for (const { unit, entries } of all<{ unit: number; entries: string }>(
      "SELECT unit, entries FROM decisions ORDER BY id",
    )) {
      const chain = codes.get(unit) ?? [];
      chain.push(
        ...(JSON.parse(entries) as (readonly string[])[]).map(([_at, _station, _plugin, _verdict, code = ""]) => code),
      );
      codes.set(unit, chain);
    }
    const units = all<UnitRow>("SELECT id, event_id, lane, state, outcome, reason, settled_at FROM units");
    return {
      events: all<EventRow>(
        "SELECT sequence, id, state, attempts, unit, source, kind, accepted_at, due, body FROM inbox ORDER BY sequence",
      ),
      units: new Map(units.map((unit) => [unit.id, unit])),
      unorderedMs: 0,
      outbox: all<StoredPart>("SELECT * FROM outbox ORDER BY unit, position").map(outboxRow),
      codes,
      numbers: new Map(
        all<{ name: string; value: number }>("SELECT name, value FROM numbers").map(({ name, value }) => [name, value]),
      ),
      integrity: String(db.prepare("PRAGMA integrity_check").get()?.integrity_check),
    };
  } finally {
    db.close();
  }
}

interface StoredPart extends Pick<OutboxRow, "unit" | "position" | "operation" | "state" | "reason"> {
  readonly address: string;
  readonly part: string;
  readonly doubts: number;
  readonly message_id: string | null;
}

function outboxRow(row: StoredPart): OutboxRow {
  const { chat } = JSON.parse(row.address) as { readonly chat: string };
  const { body } = JSON.parse(row.part) as { readonly body?: { readonly payload?: { readonly text?: string } } };
  return {
    unit: row.unit,
    position: row.position,
    chat,
    operation: row.operation,
    text: readable(body?.payload?.text),
    state: row.state,
    doubts: row.doubts,
    messageId: row.message_id,
    reason: row.reason,
  };
}
