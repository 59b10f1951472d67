/** The outbox: what turns send, part by part, until the platform has accepted it. */
import { entry, part, raised } from "./define.ts";

/** Milliseconds by the clock of the server, which all nodes share. */
const serverTime = "extract(epoch FROM clock_timestamp()) * 1000";

export const outboxFunctions = [
  // What the runner of a unit may do with one of its rows. The unit may have ended.
  part(
    "own_row(p_node text, p_incarnation bigint, p_row bigint) RETURNS void",
    `DECLARE
  fence bigint := current_fence(p_node, p_incarnation);
  owner record;
BEGIN
  SELECT u.state, u.fence, u.lost INTO owner FROM outbox o JOIN units u ON u.id = o.unit WHERE o.id = p_row
    FOR UPDATE OF u;
  IF owner.lost OR (owner.state = 1 AND owner.fence <> fence) THEN
    RAISE EXCEPTION 'another node has taken over the unit' USING ERRCODE = '${raised.leaseLost}';
  END IF;
END`,
  ),

  part(
    "record_sent(p_row bigint, p_message_ids text[], p_at double precision) RETURNS void",
    `DECLARE
  ended outbox;
BEGIN
  UPDATE outbox SET state = 2, ended_at = p_at, message_ids = p_message_ids WHERE id = p_row AND state < 2
    RETURNING * INTO ended;
  IF NOT FOUND OR ended.operation <> 'send' THEN RETURN; END IF;
  INSERT INTO sent (message_id, chat, account, channel, thread, unit_id, at)
    SELECT DISTINCT message_id, ended.chat, ended.account, ended.channel, ended.thread, ended.unit_id, p_at
    FROM unnest(p_message_ids) AS message_id
    ON CONFLICT (message_id, chat, account, channel)
    DO UPDATE SET thread = excluded.thread, unit_id = excluded.unit_id, at = excluded.at;
END`,
  ),

  // Nothing is sent for a unit that has ended.
  part(
    "end_unsent(p_unit bigint, p_at double precision) RETURNS void",
    `BEGIN
  UPDATE outbox SET state = 3, ended_at = p_at, reason = 'unit_ended' WHERE unit = p_unit AND state < 2;
END`,
  ),

  part(
    "mark_sending(p_row bigint) RETURNS void",
    `BEGIN
  UPDATE outbox SET state = 1, attempts = attempts + 1, sending_since = coalesce(sending_since, ${serverTime})
    WHERE id = p_row AND state < 2;
END`,
  ),

  // A repetition of the call finds the rows as they are.
  entry(
    `say(p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_ending json, p_channels text[],
    p_accounts text[],
      p_chats text[], p_threads text[], p_operations text[], p_parts text[], p_first_sends boolean, p_taken text,
        p_session_key text,
      p_roles text[], p_contents text[], p_message_ats double precision[], p_writers text[], p_entries json,
        p_senders text[],
      p_usage json) RETURNS TABLE (id bigint, "position" integer)`,
    `#variable_conflict use_column
DECLARE
  runs units := running_unit(p_node, p_incarnation, p_unit_id);
  before integer;
BEGIN
  SELECT coalesce(max(o.position) + 1, 0) INTO before FROM outbox o WHERE o.unit = runs.id;
  IF runs.token = p_token THEN
    RETURN QUERY SELECT o.id, o.position FROM outbox o WHERE o.unit = runs.id
      AND o.position >= before - cardinality(p_parts)
      ORDER BY o.position;
    RETURN;
  END IF;
  UPDATE units u SET stage = 'delivery', ending = p_ending, token = p_token WHERE u.id = runs.id;
  IF p_taken = 'unread' THEN PERFORM give_back_taken(runs.id, 1); END IF;
  IF p_taken = 'ended' THEN PERFORM keep_taken(runs.id); END IF;
  IF p_session_key IS NOT NULL THEN
    PERFORM write_transcript(p_unit_id, p_session_key, p_roles, p_contents, p_message_ats, p_writers,
      runs.stage <> 'turn' OR (SELECT i.replays > 0 FROM inbox i WHERE i.id = p_unit_id));
  END IF;
  PERFORM append_decisions(runs.id, p_entries, p_senders, p_usage);
  RETURN QUERY
  INSERT INTO outbox AS o (unit, unit_id, position, channel, account, chat, thread, operation, part, state, attempts,
    sending_since)
  SELECT runs.id, p_unit_id, before + t.ord - 1, t.channel, t.account, t.chat, t.thread, t.operation, t.part::json,
    CASE WHEN p_first_sends AND t.ord = 1 THEN 1 ELSE 0 END, CASE WHEN p_first_sends AND t.ord = 1 THEN 1 ELSE 0 END,
    CASE WHEN p_first_sends AND t.ord = 1 THEN ${serverTime} END
  FROM unnest(p_channels, p_accounts, p_chats, p_threads, p_operations, p_parts) WITH ORDINALITY
    AS t (channel, account, chat, thread, operation, part, ord)
  ORDER BY t.ord
  RETURNING o.id, o.position;
END`,
  ),

  entry(
    "sending(p_node text, p_incarnation bigint, p_row bigint) RETURNS void",
    `BEGIN
  PERFORM own_row(p_node, p_incarnation, p_row);
  PERFORM mark_sending(p_row);
END`,
  ),

  entry(
    "not_sent(p_node text, p_incarnation bigint, p_row bigint) RETURNS void",
    `BEGIN
  PERFORM own_row(p_node, p_incarnation, p_row);
  UPDATE outbox SET state = 0, sending_since = NULL WHERE id = p_row AND state = 1;
END`,
  ),

  entry(
    "doubted(p_node text, p_incarnation bigint, p_row bigint, p_entries json, p_senders text[], p_usage " +
      "json) RETURNS void",
    `DECLARE
  owner bigint;
BEGIN
  PERFORM own_row(p_node, p_incarnation, p_row);
  UPDATE outbox SET state = 0, doubts = doubts + 1 WHERE id = p_row AND state < 2 RETURNING unit INTO owner;
  IF FOUND THEN PERFORM append_decisions(owner, p_entries, p_senders, p_usage); END IF;
END`,
  ),

  entry(
    "sent(p_node text, p_incarnation bigint, p_row bigint, p_message_ids text[], p_at double precision, " +
      "p_next bigint) RETURNS void",
    `BEGIN
  PERFORM own_row(p_node, p_incarnation, p_row);
  PERFORM record_sent(p_row, p_message_ids, p_at);
  IF p_next IS NOT NULL THEN PERFORM mark_sending(p_next); END IF;
END`,
  ),

  entry(
    "unsendable(p_node text, p_incarnation bigint, p_row bigint, p_at double precision, p_reason text) RETURNS void",
    `BEGIN
  PERFORM own_row(p_node, p_incarnation, p_row);
  UPDATE outbox SET state = 3, ended_at = p_at, reason = p_reason WHERE id = p_row AND state < 2;
END`,
  ),
];

/** The beginning of the first attempt to send a part that is not known to have had no effect. */
export const timedSends = ["ALTER TABLE outbox ADD COLUMN sending_since double precision;\n", ...outboxFunctions];
