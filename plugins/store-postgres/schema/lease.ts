/** Nodes, their leases, and how units of a node without a lease wait again. */
import { entry, part, raised, withoutFlush } from "./define.ts";

/** Longer than a call waits for its result, and is repeated. */
const unknownSeconds = 20;
/** The channel of NOTIFY that asks to look for work. For nodes of versions before 5, its payload was a lane. */
export const wakeChannel = "service_gateway_work";
/** The channel on which versions before 5 send their notes to each other. Later ones do not listen there. */
export const noteChannel = "service_gateway_notes";
const lease = "clock_timestamp() + make_interval(secs => p_seconds)";

export const leaseFunctions = [
  part(
    "current_fence(p_node text, p_incarnation bigint) RETURNS bigint",
    `DECLARE
  mine nodes;
BEGIN
  SELECT * INTO mine FROM nodes WHERE node = p_node;
  IF NOT FOUND OR mine.incarnation IS DISTINCT FROM p_incarnation THEN
    RAISE EXCEPTION 'another process has taken over the node' USING ERRCODE = '${raised.fenced}';
  END IF;
  IF mine.lease_until <= clock_timestamp() THEN
    RAISE EXCEPTION 'the lease has ended' USING ERRCODE = '${raised.leaseLost}';
  END IF;
  RETURN mine.fence;
END`,
  ),

  // All writers of a lane take this lock first, so that sequence numbers of a lane grow in the order of the commits.
  part(
    "lock_lane(p_lane text) RETURNS void",
    `BEGIN
  PERFORM pg_advisory_xact_lock(1735745400, hashtext(p_lane));
END`,
  ),

  part(
    "hand_back_unit(p_unit units, p_due double precision, p_uncounted integer, p_lost boolean) RETURNS void",
    `BEGIN
  IF p_unit.stage = 'turn' THEN PERFORM give_back_taken(p_unit.id, p_uncounted); END IF;
  UPDATE inbox SET state = 2, attempts = attempts - p_uncounted WHERE unit = p_unit.id AND state = 3;
  UPDATE units SET state = 0, not_before = p_due, lost = p_lost WHERE id = p_unit.id;
END`,
  ),

  // A unit whose lease is gone waits again. A writer that holds the unit's row is waited for, and the row is looked at
  // again.
  part(
    "hand_back_lost() RETURNS SETOF text",
    `DECLARE
  gone units;
BEGIN
  FOR gone IN
    SELECT * FROM units WHERE state = 1
      AND fence <> ALL (ARRAY(SELECT n.fence FROM nodes n WHERE n.lease_until > clock_timestamp()))
    ORDER BY id FOR UPDATE
  LOOP
    PERFORM hand_back_unit(gone, 0, 0, true);
    PERFORM append_decisions(gone.id, json_build_array(json_build_object(
      'at', floor(extract(epoch FROM clock_timestamp()) * 1000), 'station', 'settled', 'plugin', 'core', 'verdict',
      'retry',
      'code', 'lease_lost', 'detail', 'its node ' || coalesce((SELECT node || ' ' FROM nodes
      WHERE fence = gone.fence), '')
        || 'did not renew its lease, or was started again')), NULL, NULL);
    RETURN NEXT gone.lane;
  END LOOP;
  -- Waits that the node set end with it.
  UPDATE units SET not_before = 0 WHERE state = 0 AND not_before > 0
    AND fence <> ALL (ARRAY(SELECT n.fence FROM nodes n WHERE n.lease_until > clock_timestamp()));
END`,
  ),

  entry(
    "begin_node(p_node text, p_seconds double precision, OUT fence bigint, OUT resumed bigint)",
    `BEGIN
  fence := nextval('fences');
  INSERT INTO nodes AS n (node, incarnation, fence, begun_at, lease_until) VALUES (p_node, fence, fence,
    clock_timestamp(), ${lease})
    ON CONFLICT (node) DO UPDATE
    SET incarnation = excluded.incarnation, fence = excluded.fence, begun_at = excluded.begun_at,
      renewed_at = clock_timestamp(),
      lease_until = excluded.lease_until;
  SELECT count(*) INTO resumed FROM hand_back_lost();
END`,
  ),

  // Units of the lease that the node does not run. It never learned that it took them, because the connection broke.
  part(
    "hand_back_unknown(p_fence bigint, p_running text[]) RETURNS SETOF text",
    `DECLARE
  unknown units;
BEGIN
  FOR unknown IN
    SELECT * FROM units WHERE state = 1 AND fence = p_fence AND event_id <> ALL (p_running)
      AND began_at < clock_timestamp() - interval '${unknownSeconds} seconds' ORDER BY id FOR UPDATE
  LOOP
    PERFORM hand_back_unit(unknown, 0, 1, false);
    RETURN NEXT unknown.lane;
  END LOOP;
END`,
  ),

  // A lane too long for a notification is left to the poll.
  part(
    "tell_nodes(p_lane text) RETURNS void",
    `BEGIN
  PERFORM pg_notify('${wakeChannel}', CASE WHEN octet_length(p_lane) < 7000 THEN p_lane ELSE '' END);
END`,
  ),

  // Lanes whose head is due and in which nothing runs, found lane by lane so that a long lane costs no more than a
  // short one.
  entry(
    "idle_lanes(p_node text, p_now double precision, p_limit integer) RETURNS SETOF text",
    `BEGIN
  RETURN QUERY
  WITH RECURSIVE lanes (lane) AS (
    (SELECT i.lane FROM inbox i WHERE i.state = 2 AND i.due IS NOT NULL ORDER BY i.lane LIMIT 1)
    UNION ALL
    SELECT (SELECT i.lane FROM inbox i WHERE i.state = 2 AND i.due IS NOT NULL AND i.lane > lanes.lane
      ORDER BY i.lane LIMIT 1)
    FROM lanes WHERE lanes.lane IS NOT NULL
  )
  SELECT lanes.lane FROM lanes
  WHERE lanes.lane IS NOT NULL AND NOT EXISTS (SELECT FROM units u WHERE u.state = 1 AND u.lane = lanes.lane)
    AND (SELECT greatest(i.due, coalesce(u.not_before, 0)) <= p_now
        AND NOT (coalesce(u.stage, 'turn') = 'delivery' AND is_sent_elsewhere(u.id, p_node))
      FROM inbox i LEFT JOIN units u ON u.id = i.unit
      WHERE i.lane = lanes.lane AND i.state = 2 AND i.due IS NOT NULL ORDER BY i.sequence LIMIT 1)
  LIMIT p_limit;
END`,
  ),

  // A lease that has ended is not renewed: the node takes a new one, without the units that it had.
  entry(
    `renew_lease(p_node text, p_incarnation bigint, p_seconds double precision, p_running text[],
      OUT held boolean, OUT renewed boolean, OUT lanes text[])`,
    `DECLARE
  mine bigint;
BEGIN
  UPDATE nodes SET renewed_at = clock_timestamp(), lease_until = ${lease}
    WHERE node = p_node AND incarnation = p_incarnation AND lease_until > clock_timestamp() RETURNING fence INTO mine;
  renewed := FOUND;
  held := FOUND;
  IF NOT renewed THEN
    UPDATE nodes SET fence = nextval('fences'), renewed_at = clock_timestamp(), lease_until = ${lease}
      WHERE node = p_node AND incarnation = p_incarnation;
    held := FOUND;
  END IF;
  -- Other nodes look too; the first one hands the units back.
  lanes := ARRAY(SELECT hand_back_lost()) || ARRAY(SELECT hand_back_unknown(mine, p_running));
  DELETE FROM nodes WHERE lease_until < clock_timestamp() - interval '1 day' AND node <> p_node;
  IF renewed AND cardinality(lanes) = 0 THEN ${withoutFlush} END IF;
END`,
  ),

  entry(
    "end_lease(p_node text, p_incarnation bigint) RETURNS void",
    `BEGIN
  UPDATE nodes SET lease_until = clock_timestamp() WHERE node = p_node AND incarnation = p_incarnation;
END`,
  ),
];
