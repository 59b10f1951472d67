/** Takes the next unit of a lane. */
import { queuePrefix } from "service-gateway/sdk/store";
import { entry, part, withoutFlush } from "./define.ts";
import { unpackedEvent } from "./fragments.ts";

/** Clock adjustments up to this size do not count as the clock being set back. */
const adjustedMs = 5_000;

export const claimFunctions = [
  // The newest event with the head's key sets the time for all of them if it extends the wait.
  part(
    `due_of(p_lane text, p_key text, p_stage text, p_accepted_at double precision, p_due double precision,
    p_not_before double precision,
      p_now double precision, OUT due double precision, OUT extended boolean)`,
    `DECLARE
  accepted double precision := p_accepted_at;
  newest record;
BEGIN
  due := p_due;
  extended := false;
  IF p_key IS NOT NULL AND p_stage IS DISTINCT FROM 'delivery' THEN
    SELECT i.accepted_at, i.due, i.extend INTO newest FROM inbox i
      WHERE i.state = 2 AND i.lane = p_lane AND i.gather_key = p_key AND i.due IS NOT NULL ORDER BY i.sequence DESC
        LIMIT 1;
    IF newest.extend THEN
      accepted := newest.accepted_at;
      due := newest.due;
      extended := true;
    END IF;
  END IF;
  -- An event from the future was accepted before the clock was set back.
  due := CASE WHEN accepted - p_now > ${adjustedMs} THEN 0 ELSE greatest(due, coalesce(p_not_before, 0)) END;
END`,
  ),

  part(
    "gathered(p_lane text, p_key text, p_head bigint, p_limit integer) RETURNS bigint[]",
    `DECLARE
  members bigint[] := ARRAY(
    SELECT i.sequence FROM inbox i WHERE i.state = 2 AND i.lane = p_lane AND i.gather_key = p_key
      AND NOT EXISTS (SELECT FROM units u WHERE u.id = i.unit AND u.stage = 'delivery')
    ORDER BY i.sequence LIMIT greatest(1, p_limit));
BEGIN
  IF p_head = ANY (members) THEN RETURN members; END IF;
  RETURN members[1:greatest(1, p_limit) - 1] || p_head;
END`,
  ),

  // A unit that was handed back keeps its row, so that its decisions and previews stay with it.
  part(
    "open_unit(p_lane text, p_members bigint[], p_fence bigint, p_token text) RETURNS bigint",
    `DECLARE
  leader text := (SELECT id FROM inbox WHERE sequence = p_members[1]);
  known bigint := (SELECT unit FROM inbox WHERE sequence = ANY (p_members) AND unit IS NOT NULL
    ORDER BY array_position(p_members, sequence) LIMIT 1);
BEGIN
  IF known IS NULL THEN
    INSERT INTO units (event_id, lane, state, fence, began_at, token)
      VALUES (leader, p_lane, 1, p_fence, clock_timestamp(), p_token) RETURNING id INTO known;
  ELSE
    -- The limit may leave one of its former events out this time.
    UPDATE inbox SET unit = NULL WHERE unit = known AND sequence <> ALL (p_members);
    UPDATE units SET state = 1, event_id = leader, not_before = 0, fence = p_fence, began_at = clock_timestamp(),
      token = p_token,
      lost = false WHERE id = known;
  END IF;
  UPDATE inbox SET state = 3, attempts = attempts + 1, unit = known WHERE sequence = ANY (p_members);
  RETURN known;
END`,
  ),

  // The events that belong to the next unit, in its order.
  part(
    `members_of(p_lane text, p_head bigint, p_key text, p_unit bigint, p_stage text, p_now double precision,
    p_limit integer)
    RETURNS bigint[]`,
    `BEGIN
  IF p_stage = 'delivery' THEN
    -- What its turn took from a queue may be older than the event that leads it.
    RETURN ARRAY(SELECT i.sequence FROM inbox i JOIN units u ON u.id = i.unit WHERE i.unit = p_unit AND i.state = 2
      ORDER BY i.id <> u.event_id, i.sequence);
  END IF;
  IF starts_with(p_key, '${queuePrefix}') THEN RETURN take_newest(p_lane, p_key, p_now, false); END IF;
  IF p_key IS NOT NULL THEN RETURN gathered(p_lane, p_key, p_head, p_limit); END IF;
  RETURN ARRAY[p_head];
END`,
  ),

  // Also returns the unit if an earlier call with the same token took it, because the result of that call was lost.
  entry(
    `claim(p_node text, p_incarnation bigint, p_token text, p_lane text, p_now double precision, p_limit integer,
      OUT due double precision, OUT stage text, OUT preview json, OUT ending json, OUT left_out bigint,
        OUT others boolean,
      OUT events json)`,
    `#variable_conflict use_column
DECLARE
  lease bigint;
  head record;
  opened bigint;
  runs units;
BEGIN
  ${withoutFlush}
  PERFORM lock_lane(p_lane);
  lease := current_fence(p_node, p_incarnation);
  SELECT * INTO runs FROM units u WHERE u.state = 1 AND u.lane = p_lane;
  IF runs.id IS NOT NULL AND runs.token IS DISTINCT FROM p_token THEN RETURN; END IF;
  IF runs.id IS NULL THEN
    SELECT i.sequence, i.accepted_at, i.due, i.gather_key, i.unit, u.stage, u.not_before INTO head
      FROM inbox i LEFT JOIN units u ON u.id = i.unit
      WHERE i.lane = p_lane AND i.state = 2 AND i.due IS NOT NULL ORDER BY i.sequence LIMIT 1;
    IF NOT FOUND THEN RETURN; END IF;
    due := (due_of(p_lane, head.gather_key, head.stage, head.accepted_at, head.due, head.not_before, p_now)).due;
    IF claim.due > p_now THEN RETURN; END IF;
    IF head.stage = 'delivery' AND is_sent_elsewhere(head.unit, p_node) THEN
      due := NULL;
      RETURN;
    END IF;
    opened := open_unit(
      p_lane, members_of(p_lane, head.sequence, head.gather_key, head.unit, head.stage, p_now, p_limit), lease,
        p_token);
    SELECT * INTO runs FROM units u WHERE u.id = opened;
  END IF;
  stage := runs.stage;
  preview := runs.preview;
  ending := runs.ending;
  SELECT json_agg(${unpackedEvent("i")} ORDER BY i.id <> runs.event_id, i.sequence), 0 INTO events, left_out
    FROM inbox i WHERE i.unit = runs.id AND i.state = 3;
  IF runs.stage = 'turn' THEN
    left_out := (SELECT left_out_of(i.gather_key) FROM inbox i
      WHERE i.id = runs.event_id AND starts_with(i.gather_key, '${queuePrefix}'));
  END IF;
  others := EXISTS (SELECT FROM inbox i WHERE i.lane = p_lane AND i.state = 2 AND i.due IS NOT NULL);
END`,
  ),

  entry(
    `waiting_lanes(p_now double precision) RETURNS TABLE (lane text, due double precision, gathers boolean)`,
    `#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT i.lane, d.due, i.unit IS NULL AND d.extended
  FROM (SELECT min(h.sequence) AS first FROM inbox h WHERE h.state = 2 AND h.due IS NOT NULL GROUP BY h.lane) heads
  JOIN inbox i ON i.sequence = heads.first LEFT JOIN units u ON u.id = i.unit
  CROSS JOIN LATERAL due_of(i.lane, i.gather_key, u.stage, i.accepted_at, i.due, u.not_before, p_now) d
  ORDER BY i.sequence;
END`,
  ),
];
