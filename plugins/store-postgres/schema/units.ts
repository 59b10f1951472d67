/** Units that run: what their runner notes of them, and how they end or wait again. */
import { entry, part, raised, withoutFlush } from "./define.ts";

export const unitFunctions = [
  part(
    "append_decisions(p_unit bigint, p_entries json, p_senders text[], p_usage json) RETURNS void",
    `BEGIN
  IF p_entries IS NULL THEN RETURN; END IF;
  INSERT INTO decisions (unit, entries, senders) VALUES (p_unit, p_entries, p_senders);
  IF p_usage IS NOT NULL THEN
    INSERT INTO usage (unit, at, model, input_tokens, output_tokens)
      SELECT p_unit, at, model, "inputTokens", "outputTokens"
      FROM json_to_recordset(p_usage) AS t (at double precision, model text, "inputTokens" bigint,
        "outputTokens" bigint);
  END IF;
END`,
  ),

  // The unit that an event leads, locked. Another node that takes it away waits, or has done so before.
  part(
    "led_by(p_unit_id text, p_fence bigint) RETURNS units",
    `DECLARE
  led units;
BEGIN
  SELECT u.* INTO led FROM inbox i JOIN units u ON u.id = i.unit WHERE i.id = p_unit_id AND u.event_id = i.id
    FOR UPDATE OF u;
  IF led.lost OR (led.state = 1 AND led.fence <> p_fence) THEN
    RAISE EXCEPTION 'another node has taken over the unit' USING ERRCODE = '${raised.leaseLost}';
  END IF;
  RETURN led;
END`,
  ),

  // Whether the call was committed before, and only its result was lost.
  part(
    "was_done(p_unit_id text, p_token text) RETURNS boolean",
    `BEGIN
  RETURN EXISTS (SELECT FROM inbox i JOIN units u ON u.id = i.unit WHERE i.id = p_unit_id AND u.token = p_token);
END`,
  ),

  part(
    "running_unit(p_node text, p_incarnation bigint, p_unit_id text) RETURNS units",
    `DECLARE
  led units := led_by(p_unit_id, current_fence(p_node, p_incarnation));
BEGIN
  IF led.state IS DISTINCT FROM 1 THEN
    RAISE EXCEPTION 'The unit % is not running.', p_unit_id USING ERRCODE = '${raised.notRunning}';
  END IF;
  RETURN led;
END`,
  ),

  entry(
    `hand_back(p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_due double precision,
    p_uncounted integer, p_entries json,
      p_senders text[], p_usage json) RETURNS void`,
    `DECLARE
  runs units;
BEGIN
  IF was_done(p_unit_id, p_token) THEN RETURN; END IF;
  runs := running_unit(p_node, p_incarnation, p_unit_id);
  UPDATE units SET token = p_token WHERE id = runs.id;
  PERFORM hand_back_unit(runs, p_due, p_uncounted, false);
  -- Another node may send for the account.
  IF runs.stage = 'delivery' THEN PERFORM tell_nodes(runs.lane); END IF;
  PERFORM append_decisions(runs.id, p_entries, p_senders, p_usage);
END`,
  ),

  entry(
    `settle(p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_at double precision, p_outcome text,
    p_state smallint, p_reason text,
      p_session_key text, p_agent_id text, p_reply text, p_unread boolean, p_sent_row bigint, p_message_ids text[],
      p_sent_at double precision, p_entries json, p_senders text[], p_usage json, OUT settled boolean, OUT lane text)`,
    `DECLARE
  fence bigint := current_fence(p_node, p_incarnation);
  led units;
BEGIN
  led := led_by(p_unit_id, fence);
  -- The platform has the message even if the unit has ended.
  IF p_sent_row IS NOT NULL THEN PERFORM record_sent(p_sent_row, p_message_ids, p_sent_at); END IF;
  settled := led.state IS NOT DISTINCT FROM 1 OR coalesce(led.token = p_token, false);
  IF led.state IS DISTINCT FROM 1 THEN RETURN; END IF;
  IF p_unread THEN PERFORM give_back_taken(led.id, 1); END IF;
  UPDATE units SET state = 2, token = p_token, outcome = p_outcome, reason = p_reason, settled_at = p_at,
    session_key = p_session_key,
    agent_id = p_agent_id, reply = p_reply, preview = NULL, ending = NULL WHERE id = led.id;
  UPDATE inbox SET state = p_state WHERE unit = led.id AND state = 3;
  IF led.stage = 'delivery' THEN PERFORM end_unsent(led.id, p_at); END IF;
  PERFORM append_decisions(led.id, p_entries, p_senders, p_usage);
  -- Another node may have accepted what waits behind the unit.
  IF EXISTS (SELECT FROM inbox i WHERE i.lane = led.lane AND i.state = 2
    AND i.due IS NOT NULL) THEN lane := led.lane; END IF;
END`,
  ),

  entry(
    `requeue(p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_at double precision, p_outcome text,
    p_state smallint, p_reason text,
      p_sent_row bigint, p_message_ids text[], p_sent_at double precision, p_entries json, p_senders text[],
        p_usage json) RETURNS void`,
    `DECLARE
  runs units;
  leader text;
BEGIN
  IF was_done(p_unit_id, p_token) THEN RETURN; END IF;
  runs := running_unit(p_node, p_incarnation, p_unit_id);
  IF p_sent_row IS NOT NULL THEN PERFORM record_sent(p_sent_row, p_message_ids, p_sent_at); END IF;
  UPDATE inbox SET state = 2, attempts = attempts - 1, due = NULL WHERE unit = runs.id AND state = 3 AND characters > 0;
  PERFORM append_decisions(runs.id, p_entries, p_senders, p_usage);
  SELECT id INTO leader FROM inbox WHERE unit = runs.id AND state = 3 ORDER BY sequence LIMIT 1;
  IF leader IS NULL THEN
    UPDATE units SET state = 0, token = p_token, stage = 'turn', not_before = 0, preview = NULL, ending = NULL
      WHERE id = runs.id;
  ELSE
    UPDATE inbox SET unit = NULL WHERE unit = runs.id AND state = 2;
    UPDATE inbox SET state = p_state WHERE unit = runs.id AND state = 3;
    UPDATE units SET state = 2, token = p_token, event_id = leader, outcome = p_outcome, reason = p_reason,
      settled_at = p_at, preview = NULL, ending = NULL
      WHERE id = runs.id;
  END IF;
END`,
  ),

  entry(
    "set_preview(p_node text, p_incarnation bigint, p_unit_id text, p_preview json) RETURNS void",
    `DECLARE
  runs units := running_unit(p_node, p_incarnation, p_unit_id);
BEGIN
  ${withoutFlush}
  UPDATE units SET preview = p_preview WHERE id = runs.id;
END`,
  ),

  // An event that waited for others with its key has none left to wait for, so it gets a due time of its own.
  entry(
    "replay(p_event_id text, p_now double precision) RETURNS boolean",
    `DECLARE
  replayed text;
BEGIN
  UPDATE inbox SET state = 2, attempts = 0, replays = replays + 1, unit = NULL, due = coalesce(due, p_now)
    WHERE id = p_event_id AND state >= 4 RETURNING lane INTO replayed;
  IF replayed IS NOT NULL THEN PERFORM tell_nodes(replayed); END IF;
  RETURN replayed IS NOT NULL;
END`,
  ),

  // One step: ends events that were due before a time. Gathered events without a due time and replayed events are kept.
  entry(
    `end_overdue(p_now double precision, p_before double precision, p_after bigint, p_step integer, p_decision json,
      OUT ended bigint, OUT next bigint)`,
    `DECLARE
  old record;
  row bigint;
  looked integer := 0;
  count bigint;
BEGIN
  ended := 0;
  FOR old IN
    SELECT i.sequence, i.id, i.lane FROM inbox i
    WHERE i.state = 2 AND i.due < p_before AND i.accepted_at < p_before AND i.replays = 0 AND i.sequence > p_after
    ORDER BY i.sequence LIMIT p_step
  LOOP
    looked := looked + 1;
    next := old.sequence;
    PERFORM lock_lane(old.lane);
    -- It may have ended along with the unit of an earlier event, or been taken since.
    SELECT unit INTO row FROM inbox WHERE sequence = old.sequence AND state = 2 FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    IF row IS NULL THEN
      INSERT INTO units (event_id, lane, state) VALUES (old.id, old.lane, 0) RETURNING units.id INTO row;
      UPDATE inbox SET unit = row WHERE sequence = old.sequence;
    END IF;
    UPDATE units SET state = 2, outcome = 'failed', reason = 'waited_too_long', settled_at = p_now, preview = NULL,
      ending = NULL
      WHERE id = row;
    UPDATE inbox SET state = 7 WHERE unit = row AND state = 2;
    GET DIAGNOSTICS count = ROW_COUNT;
    ended := ended + count;
    PERFORM end_unsent(row, p_now);
    PERFORM append_decisions(row, p_decision, NULL, NULL);
  END LOOP;
  IF looked < p_step THEN next := NULL; END IF;
END`,
  ),
];
