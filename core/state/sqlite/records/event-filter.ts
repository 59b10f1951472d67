/** Converts an operator's event filter to SQL conditions on `inbox i`. */
import { encodeLanePart } from "../../lane.ts";
import type { EventFilter } from "../../report.ts";
import { eventState } from "../database/schema.ts";

/**
 * Events that have not ended, found through the partial indexes: each waiting event has a due time or a gather key.
 * Otherwise, looking at three waiting events would read the whole inbox, as a UNION without ALL would.
 */
const open = `i.sequence IN (
  SELECT sequence FROM inbox WHERE state = 2 AND due IS NOT NULL
  UNION ALL SELECT sequence FROM inbox WHERE state = 2 AND gather_key IS NOT NULL
  UNION ALL SELECT r.sequence FROM units JOIN inbox r ON r.unit = units.id WHERE units.state = 1)`;

/**
 * The part of a lane after source and account: a chat, optionally followed by a thread or the mark of control commands.
 */
const place = "substr(i.lane, length(i.source) + length(coalesce(i.account, '')) + 3)";
const fromChat = `(substr(i.lane, 1, length(i.source) + length(coalesce(i.account,
  '')) + 2) = i.source || ':' || coalesce(i.account, '') || ':'
  AND (${place} = ?3 OR substr(${place}, 1, length(?3) + 1) IN (?3 || ':', ?3 || char(9))))`;
const intoChat = "EXISTS (SELECT 1 FROM outbox o WHERE o.unit = i.unit AND json_extract(o.address, '$.chat') = ?1";
const bySender = `EXISTS (SELECT 1 FROM decisions d WHERE d.unit = i.unit AND instr(d.entries, json_quote(?1)) > 0
  AND EXISTS (SELECT 1 FROM json_each(d.entries) e WHERE json_extract(e.value, '$[8]') = ?1))`;

export interface Conditions {
  /** The SQL condition with `WHERE`, or empty. */
  readonly where: string;
  readonly values: readonly (string | number)[];
}

export function conditionsOf(filter: EventFilter): Conditions {
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: readonly (string | number)[]) => {
    // Each condition numbers its own values from 1.
    conditions.push(condition.replace(/\?(\d)/g, (_, number: string) => `?${values.length + Number(number)}`));
    values.push(...given);
  };
  const { chat, sender } = filter;
  const part = encodeLanePart(chat?.id ?? "");
  // The constant must be part of the text, because otherwise the planner does not use the partial index.
  if (filter.outcome !== undefined) add(`i.state >= 4 AND i.state = ${eventState[filter.outcome]}`);
  if (filter.id !== undefined) add("i.id = ?1", filter.id);
  if (filter.open === true) add(open);
  if (filter.source !== undefined) add("i.source = ?1", filter.source);
  else if (filter.includeInternal !== true) add("i.source <> 'heartbeat'");
  if (filter.exceptKind !== undefined) add("i.kind <> ?1", filter.exceptKind);
  if (filter.bodyContains !== undefined) add("instr(i.body, ?1) > 0", filter.bodyContains);
  if (filter.since !== undefined) add("i.accepted_at >= ?1", filter.since);
  if (filter.newerThan !== undefined) add("i.sequence > (SELECT sequence FROM inbox WHERE id = ?1)", filter.newerThan);
  if (filter.within !== undefined)
    add(
      "i.sequence >= coalesce((SELECT sequence FROM inbox WHERE id = ?2), (SELECT max(sequence) FROM inbox) + 1) - ?1",
      filter.within,
      filter.olderThan ?? "",
    );
  if (filter.olderThan !== undefined) add("i.sequence < (SELECT sequence FROM inbox WHERE id = ?1)", filter.olderThan);
  if (chat?.channel !== undefined)
    add(
      `((i.source = ?2 AND ${fromChat}) OR ${intoChat} AND json_extract(o.address, '$.channel') = ?2))`,
      chat.id,
      chat.channel,
      part,
    );
  else if (chat !== undefined) add(`(${fromChat.replaceAll("?3", "?2")} OR ${intoChat}))`, chat.id, part);
  if (sender?.channel !== undefined) add(`i.source = ?2 AND ${bySender}`, sender.id, sender.channel);
  else if (sender !== undefined) add(bySender, sender.id);
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
