/** Events taken from a queue, as they come from the database: JSON lists that `unpackedEvent` of the schema builds. */
import { type StoredEvent, type StoredEventRow, storedEventOf } from "service-gateway/sdk/store";

/** The first one carries the number of those left out. */
export function unpackTaken(events: readonly StoredEventRow[], leftOut: number | null): readonly StoredEvent[] {
  return events.map((packed, index) => {
    const event = storedEventOf(packed);
    return index === 0 && leftOut !== null && leftOut > 0 ? { ...event, leftOut } : event;
  });
}
