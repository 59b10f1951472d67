/** Converts an operator's event filter to SQL conditions on `@inbox i`. */
import { type EventFilter, encodeLanePart } from "service-gateway/sdk/store";
import { outcomeStates } from "./schema/tables.ts";

const open =
  "(i.state = 2 AND (i.due IS NOT NULL OR i.gather_key IS NOT NULL) OR i.unit IN (SELECT id FROM " +
  "@units WHERE state = 1))";

/**
 * The part of a lane after source and account: a chat, optionally followed by a thread or the mark of control commands.
 */
const place = "substr(i.lane, length(i.source) + length(coalesce(i.account, '')) + 3)";
const fromChat = `(starts_with(i.lane, i.source || ':' || coalesce(i.account, '') || ':')
  AND (${place} = ?1 OR starts_with(${place}, ?1 || ':') OR starts_with(${place}, ?1 || chr(9))))`;

export interface Conditions {
  /** The condition with `WHERE`, or empty. */
  readonly where: string;
  readonly values: readonly unknown[];
}

export function conditionsOf(filter: EventFilter): Conditions {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, ...given: readonly unknown[]) => {
    // Each condition numbers its own values from 1.
    conditions.push(
      condition.replace(
        /\?(\d)/g,
        (_, number: string) => `$${values.length + Number(number)}::${typeOf(given[Number(number) - 1])}`,
      ),
    );
    values.push(...given);
  };
  const { chat, sender, outcome } = filter;
  // The state is a constant of the text, so that the partial index applies.
  if (outcome !== undefined) add(`i.state >= 4 AND i.state = ${outcomeStates[outcome]}`);
  if (filter.id !== undefined) add("i.id = ?1", filter.id);
  if (filter.open === true) add(open);
  if (filter.source !== undefined) add("i.source = ?1", filter.source);
  else if (filter.includeInternal !== true) add("i.source <> 'heartbeat'");
  if (filter.exceptKind !== undefined) add("i.kind <> ?1", filter.exceptKind);
  if (filter.bodyContains !== undefined) add("strpos(i.body::text, ?1) > 0", filter.bodyContains);
  if (filter.since !== undefined) add("i.accepted_at >= ?1", filter.since);
  if (filter.newerThan !== undefined) add("i.sequence > (SELECT sequence FROM @inbox WHERE id = ?1)", filter.newerThan);
  if (filter.within !== undefined)
    add(
      `i.sequence >= coalesce((SELECT sequence FROM @inbox WHERE id = ?2), (SELECT max(sequence) FROM @inbox) + 1) - ?1`,
      filter.within,
      filter.olderThan ?? "",
    );
  if (filter.olderThan !== undefined) add("i.sequence < (SELECT sequence FROM @inbox WHERE id = ?1)", filter.olderThan);
  if (chat !== undefined) {
    const into = "EXISTS (SELECT FROM @outbox o WHERE o.unit = i.unit AND o.chat = ?2";
    const part = encodeLanePart(chat.id);
    if (chat.channel === undefined) add(`(${fromChat} OR ${into}))`, part, chat.id);
    else add(`(i.source = ?3 AND ${fromChat} OR ${into} AND o.channel = ?3))`, part, chat.id, chat.channel);
  }
  if (sender !== undefined) {
    add("EXISTS (SELECT FROM @decisions d WHERE d.unit = i.unit AND ?1 = ANY (d.senders))", sender.id);
    if (sender.channel !== undefined) add("i.source = ?1", sender.channel);
  }
  return { where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}

const typeOf = (value: unknown): string => (typeof value === "number" ? "double precision" : "text");
