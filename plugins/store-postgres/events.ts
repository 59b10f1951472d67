/** Events on their way from the database to the caller. */
import type { Json, StoredEvent } from "service-gateway/sdk/store";

/** The columns of an event as a JSON list; `unpackedEvent` of the schema builds it. An infinite `due` arrives as a text. */
export type PackedEvent = readonly [
  id: string,
  sequence: number,
  acceptedAt: number,
  attempts: number,
  source: string,
  kind: string,
  account: string | null,
  lane: string,
  authority: StoredEvent["authority"],
  gatherKey: string | null,
  dedupeKey: string | null,
  due: number | string | null,
  body: Json,
];

export function unpackEvent(packed: PackedEvent): StoredEvent {
  const [id, sequence, acceptedAt, attempts, source, kind, account, lane, authority, gatherKey, dedupeKey, due, body] = packed;
  return {
    id,
    sequence,
    acceptedAt,
    attempts,
    source,
    kind,
    ...(account !== null && { account }),
    lane,
    authority,
    ...(dedupeKey !== null && { dedupeKey }),
    ...(gatherKey !== null && { gather: { key: gatherKey, due: due === null ? null : Number(due) } }),
    body,
  };
}

/** Events taken from a queue. The first one carries the number of those left out. */
export function unpackTaken(events: readonly PackedEvent[], leftOut: number | null): readonly StoredEvent[] {
  return events.map((packed, index) => {
    const event = unpackEvent(packed);
    return index === 0 && leftOut !== null && leftOut > 0 ? { ...event, leftOut } : event;
  });
}
