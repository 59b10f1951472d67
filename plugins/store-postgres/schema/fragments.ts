/** Parts of SQL statements that several functions share. */
import { queuePrefix } from "service-gateway/sdk/store";

/** An event as a JSON list, in the order in which the caller reads it. */
export function unpackedEvent(row: string): string {
  const columns = "id sequence accepted_at attempts source kind account lane authority gather_key dedupe_key due body";
  return `json_build_array(${columns
    .split(" ")
    .map((column) => `${row}.${column}`)
    .join(", ")})`;
}

/**
 * Selects events `i` that a unit took from a queue. Events of a unit that their own queue leads have the leader's key.
 */
export function takenByUnit(unit: string): string {
  return `i.unit = ${unit} AND i.state = 3 AND starts_with(i.gather_key, '${queuePrefix}')
    AND i.gather_key IS DISTINCT FROM
    (SELECT leader.gather_key FROM units u JOIN inbox leader ON leader.id = u.event_id WHERE u.id = i.unit)`;
}
