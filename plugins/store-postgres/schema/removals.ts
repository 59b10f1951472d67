/** Removes data: past its limits in small steps, or at an operator's request. */
import { entry, part, withoutFlush } from "./define.ts";

export const removalFunctions = [
  part(
    "delete_events(p_sequences bigint[]) RETURNS void",
    `DECLARE
  former bigint[] := ARRAY(SELECT DISTINCT unit FROM inbox WHERE sequence = ANY (p_sequences) AND unit IS NOT NULL);
BEGIN
  -- The totals of outcomes include removed events. Another node may remove the same ones at this moment.
  WITH gone AS (
    DELETE FROM inbox WHERE sequence = ANY (p_sequences) RETURNING state
  )
  INSERT INTO counters AS c (name, value)
    SELECT 'removed:' || state, count(*) FROM gone GROUP BY state ORDER BY state
    ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value;
  PERFORM remove_empty_unit(unit) FROM unnest(former) AS unit;
END`,
  ),

  // Looks at the next events, the oldest first. The first p_excess settled ones are removed whatever their age.
  entry(
    "prune_events(p_before double precision, p_excess bigint, p_after bigint, p_step integer, OUT removed " +
      "bigint, OUT next bigint)",
    `DECLARE
  looked bigint[];
  old bigint[];
  youngest double precision;
BEGIN
  ${withoutFlush}
  looked := ARRAY(SELECT sequence FROM inbox WHERE sequence > p_after AND state >= 4 ORDER BY sequence LIMIT p_step);
  old := ARRAY(
    SELECT i.sequence FROM (
      SELECT e.sequence, e.accepted_at, e.unit, row_number() OVER (ORDER BY e.sequence) AS place FROM inbox e
        WHERE e.sequence = ANY (looked)
    ) i LEFT JOIN units u ON u.id = i.unit
    WHERE i.place <= p_excess OR coalesce(u.settled_at, i.accepted_at) < p_before);
  PERFORM delete_events(old);
  removed := cardinality(old);
  youngest := (SELECT accepted_at FROM inbox WHERE sequence = looked[cardinality(looked)]);
  -- Events are settled after they are accepted, so all later ones are too young.
  IF cardinality(looked) = p_step AND (p_excess > removed OR youngest IS NULL OR youngest < p_before) THEN
    next := looked[p_step];
  END IF;
END`,
  ),

  entry(
    "prune_expired(p_subject text, p_before double precision, p_step integer) RETURNS bigint",
    `DECLARE
  removed bigint;
BEGIN
  ${withoutFlush}
  IF p_subject = 'dedupe' THEN
    DELETE FROM dedupe WHERE key IN (SELECT key FROM dedupe WHERE until <= p_before ORDER BY until LIMIT p_step
      FOR UPDATE SKIP LOCKED);
  ELSIF p_subject = 'kv' THEN
    DELETE FROM kv WHERE (namespace, key) IN
      (SELECT namespace, key FROM kv WHERE expires_at <= p_before ORDER BY expires_at LIMIT p_step
      FOR UPDATE SKIP LOCKED);
  ELSE
    DELETE FROM sent WHERE (message_id, chat, account, channel) IN
      (SELECT message_id, chat, account, channel FROM sent WHERE at < p_before ORDER BY at LIMIT p_step
      FOR UPDATE SKIP LOCKED);
  END IF;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END`,
  ),

  entry(
    "remove_events(p_ids text[]) RETURNS bigint",
    `DECLARE
  gone bigint[] := ARRAY(SELECT sequence FROM inbox WHERE id = ANY (p_ids) AND state >= 4 ORDER BY sequence FOR UPDATE);
  led bigint[] := ARRAY(SELECT u.id FROM inbox i JOIN units u ON u.id = i.unit AND u.event_id = i.id
    WHERE i.sequence = ANY (gone));
BEGIN
  -- The decisions and the reply of a unit concern the event that led it, even if the unit contained others.
  UPDATE units SET reply = NULL WHERE id = ANY (led);
  DELETE FROM decisions WHERE unit = ANY (led);
  UPDATE dedupe SET fingerprint = NULL WHERE key IN (SELECT dedupe_key FROM inbox WHERE sequence = ANY (gone));
  PERFORM delete_events(gone);
  RETURN cardinality(gone);
END`,
  ),

  entry(
    "remove_sent_to(p_channel text, p_chat text, OUT parts bigint, OUT message_ids bigint, OUT recipients bigint)",
    `BEGIN
  DELETE FROM outbox WHERE state >= 2 AND channel = p_channel AND chat = p_chat;
  GET DIAGNOSTICS parts = ROW_COUNT;
  DELETE FROM sent WHERE channel = p_channel AND chat = p_chat;
  GET DIAGNOSTICS message_ids = ROW_COUNT;
  UPDATE sessions SET last_recipient = NULL WHERE last_recipient->>'channel' = p_channel
    AND last_recipient->>'chat' = p_chat;
  GET DIAGNOSTICS recipients = ROW_COUNT;
END`,
  ),
];
