/** Queues: gather keys with a bounded number of waiting events, of which a unit takes the newest. */
import { queuePrefix } from "service-gateway/sdk/store";
import { entry, part, withoutFlush } from "./define.ts";
import { takenByUnit, unpackedEvent } from "./fragments.ts";

/** A full queue is reduced further than to its limit, so that not every acceptance has to. */
const maxWaiting = 1_000;
const roomMade = 900;
const keepMs = 7 * 24 * 3_600_000;
/** Limits for one unit: the number of events with a text, and the total length of the texts. */
const maxTaken = 50;
const maxCharacters = 20_000;
/** After this many attempts, an event is no longer taken along with a unit of another lane. */
const maxAttempts = 3;

const hint =
  "More events waited than one turn takes. Send fewer, or let heartbeats run more often " +
  "(agents.defaults.heartbeat.every).";

/** Waiting events of a queue, except those whose turn is done, which belong to their unit. */
const waitingInQueue = `i.state = 2 AND i.lane = p_lane AND i.gather_key = p_key
      AND NOT EXISTS (SELECT FROM units u WHERE u.id = i.unit AND u.stage = 'delivery')`;

export const queueFunctions = [
  part(
    "remove_empty_unit(p_unit bigint) RETURNS void",
    `BEGIN
  IF EXISTS (SELECT FROM inbox WHERE unit = p_unit) THEN RETURN; END IF;
  DELETE FROM decisions WHERE unit = p_unit;
  DELETE FROM usage WHERE unit = p_unit;
  DELETE FROM outbox WHERE unit = p_unit;
  DELETE FROM units WHERE id = p_unit;
END`,
  ),

  part(
    "leave_out(p_lane text, p_key text, p_sequences bigint[], p_at double precision) RETURNS bigint",
    `DECLARE
  left_out bigint := cardinality(p_sequences);
  former bigint[];
  ended bigint;
BEGIN
  IF coalesce(left_out, 0) = 0 THEN RETURN 0; END IF;
  former := ARRAY(SELECT DISTINCT unit FROM inbox WHERE sequence = ANY (p_sequences) AND unit IS NOT NULL);
  INSERT INTO units (event_id, lane, state, outcome, reason, settled_at)
    SELECT id, p_lane, 2, 'silent', 'left_out', p_at FROM inbox WHERE sequence = ANY (p_sequences) ORDER BY sequence
      LIMIT 1
    RETURNING id INTO ended;
  UPDATE inbox SET state = 5, unit = ended WHERE sequence = ANY (p_sequences);
  PERFORM remove_empty_unit(unit) FROM unnest(former) AS unit;
  INSERT INTO decisions (unit, entries) VALUES (ended, json_build_array(json_build_object(
    'at', p_at, 'station', 'accept', 'plugin', 'core', 'verdict', 'silent', 'code', 'left_out',
    'detail', left_out || ' of the oldest waiting events were left out', 'hint', '${hint}')));
  INSERT INTO counters AS c (name, value) VALUES ('left_out:' || p_key, left_out)
    ON CONFLICT (name) DO UPDATE SET value = c.value + excluded.value;
  RETURN left_out;
END`,
  ),

  // The events of a queue for the next unit, oldest first. All others are left out.
  part(
    "take_newest(p_lane text, p_key text, p_now double precision, p_along boolean) RETURNS bigint[]",
    `DECLARE
  taken bigint[] := '{}';
  texts integer := 0;
  total integer := 0;
  candidate record;
  asking boolean;
BEGIN
  -- An event that requests a turn is always included.
  FOREACH asking IN ARRAY ARRAY[true, false] LOOP
    FOR candidate IN
      SELECT i.sequence, i.characters FROM inbox i
      WHERE ${waitingInQueue} AND (i.due IS NOT NULL) = asking AND (asking OR i.accepted_at > p_now - ${keepMs})
        AND (NOT p_along OR (i.characters > 0 AND i.attempts < ${maxAttempts}))
      ORDER BY i.sequence DESC LIMIT ${maxTaken * 2}
    LOOP
      IF candidate.characters > 0 THEN
        EXIT WHEN texts > 0 AND (texts >= ${maxTaken} OR total + candidate.characters > ${maxCharacters});
        texts := texts + 1;
        total := total + candidate.characters;
      END IF;
      taken := taken || candidate.sequence;
    END LOOP;
  END LOOP;
  PERFORM leave_out(p_lane, p_key, ARRAY(
    SELECT i.sequence FROM inbox i WHERE ${waitingInQueue}
      AND (NOT p_along OR (i.characters > 0 AND i.attempts < ${maxAttempts})) AND i.sequence <> ALL (taken)), p_now);
  RETURN ARRAY(SELECT sequence FROM unnest(taken) AS sequence ORDER BY sequence);
END`,
  ),

  part(
    "left_out_of(p_key text) RETURNS bigint",
    `BEGIN
  RETURN coalesce((SELECT value FROM counters WHERE name = 'left_out:' || p_key), 0);
END`,
  ),

  part(
    "bound_queue(p_lane text, p_key text, p_at double precision) RETURNS void",
    `BEGIN
  IF (SELECT count(*) FROM inbox WHERE state = 2 AND lane = p_lane
    AND gather_key = p_key) <= ${maxWaiting} THEN RETURN; END IF;
  PERFORM leave_out(p_lane, p_key, ARRAY(
    SELECT i.sequence FROM inbox i WHERE ${waitingInQueue} ORDER BY i.sequence DESC OFFSET ${roomMade}), p_at);
END`,
  ),

  part(
    "give_back_taken(p_unit bigint, p_uncounted integer) RETURNS void",
    `BEGIN
  UPDATE inbox i SET state = 2, unit = NULL, attempts = attempts - p_uncounted WHERE ${takenByUnit("p_unit")};
END`,
  ),

  // The turn has ended and only sending is left, which does not concern the events' own lane.
  part(
    "keep_taken(p_unit bigint) RETURNS void",
    `BEGIN
  UPDATE inbox i SET due = NULL WHERE ${takenByUnit("p_unit")};
END`,
  ),

  entry(
    `take_queued(p_node text, p_incarnation bigint, p_again boolean, p_unit_id text, p_lane text, p_key text,
      p_now double precision,
      OUT left_out bigint, OUT events json)`,
    `DECLARE
  runs units;
  members bigint[];
  former bigint[];
BEGIN
  ${withoutFlush}
  PERFORM lock_lane(p_lane);
  runs := running_unit(p_node, p_incarnation, p_unit_id);
  left_out := 0;
  events := '[]';
  IF p_again THEN
    -- The first call may have been committed.
    SELECT coalesce(json_agg(${unpackedEvent("i")} ORDER BY i.sequence), '[]') INTO events FROM inbox i
      WHERE ${takenByUnit("runs.id")} AND i.gather_key = p_key;
    IF json_array_length(events) > 0 THEN
      left_out := left_out_of(p_key);
      RETURN;
    END IF;
  END IF;
  IF (SELECT attempts FROM inbox WHERE id = p_unit_id) >= ${maxAttempts} THEN RETURN; END IF;
  members := take_newest(p_lane, p_key, p_now, true);
  IF cardinality(members) = 0 THEN RETURN; END IF;
  former := ARRAY(SELECT DISTINCT unit FROM inbox WHERE sequence = ANY (members) AND unit IS NOT NULL);
  WITH taken AS (
    UPDATE inbox SET state = 3, attempts = attempts + 1, unit = runs.id WHERE sequence = ANY (members) RETURNING *
  ) SELECT json_agg(${unpackedEvent("taken")} ORDER BY sequence) INTO events FROM taken;
  PERFORM remove_empty_unit(unit) FROM unnest(former) AS unit;
  left_out := left_out_of(p_key);
END`,
  ),

  entry(
    "left_out_reported(p_key text, p_count bigint) RETURNS void",
    `BEGIN
  ${withoutFlush}
  UPDATE counters SET value = value - p_count WHERE name = 'left_out:' || p_key;
  DELETE FROM counters WHERE name = 'left_out:' || p_key AND value <= 0;
END`,
  ),

  entry(
    "leave_out_old(p_now double precision) RETURNS void",
    `DECLARE
  queue record;
BEGIN
  ${withoutFlush}
  FOR queue IN
    SELECT DISTINCT lane, gather_key FROM inbox
    WHERE state = 2 AND gather_key IS NOT NULL AND due IS NULL AND accepted_at <= p_now - ${keepMs}
      AND starts_with(gather_key, '${queuePrefix}') ORDER BY lane, gather_key
  LOOP
    PERFORM lock_lane(queue.lane);
    PERFORM leave_out(queue.lane, queue.gather_key, ARRAY(
      SELECT sequence FROM inbox WHERE state = 2 AND lane = queue.lane AND gather_key = queue.gather_key
        AND due IS NULL AND accepted_at <= p_now - ${keepMs}), p_now);
  END LOOP;
END`,
  ),
];
