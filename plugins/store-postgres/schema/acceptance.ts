/** Accepts events: all that wait together, in one transaction. */
import { queuePrefix } from "service-gateway/sdk/store";
import { entry } from "./define.ts";

export const acceptanceFunctions = [
  /*
   * Returns a row for each event that is a duplicate (first_id), was taken at once (unit), or was not stored because
   * its id is in use (neither). `p_again`: the call repeats one whose result was lost, so events that are stored
   * already are its own.
   */
  entry(
    `accept(p_node text, p_incarnation bigint, p_again boolean, p_ids text[], p_ats double precision[],
    p_sources text[], p_kinds text[],
      p_accounts text[], p_lanes text[], p_authorities text[], p_gather_keys text[], p_dues double precision[],
        p_extends boolean[],
      p_dedupe_keys text[], p_untils double precision[], p_fingerprints text[], p_characters integer[], p_bodies text[],
      p_claims boolean[], p_outcomes text[], p_states smallint[], p_reasons text[], p_decisions text[],
        p_senders text[])
    RETURNS TABLE (ord bigint, first_id text, same_fingerprint boolean, sequence bigint, unit bigint)`,
    `#variable_conflict use_column
DECLARE
  lease bigint;
  repeated bigint[] := '{}';
  ords bigint[];
  sequences bigint[];
  taken bigint[];
BEGIN
  PERFORM pg_advisory_xact_lock(1735745400, lanes.hash)
    FROM (SELECT DISTINCT hashtext(lane) AS hash FROM unnest(p_lanes) AS lane ORDER BY 1) AS lanes;
  IF true = ANY (p_claims) THEN
    SELECT n.fence INTO lease FROM nodes n
      WHERE n.node = p_node AND n.incarnation = p_incarnation AND n.lease_until > clock_timestamp();
  END IF;

  IF array_remove(p_dedupe_keys, NULL) <> '{}' THEN
    -- Sorted, so that two transactions never wait for each other.
    WITH input AS (
      SELECT * FROM unnest(p_dedupe_keys, p_ids, p_fingerprints, p_untils, p_ats) WITH ORDINALITY AS t (key, id,
        fingerprint, until, at, ord)
      WHERE key IS NOT NULL
    ), kept AS (
      INSERT INTO dedupe AS d (key, event_id, fingerprint, until, at)
      SELECT DISTINCT ON (key COLLATE "C") key, id, fingerprint, until, at FROM input ORDER BY key COLLATE "C", ord
      ON CONFLICT (key) DO UPDATE
        SET event_id = excluded.event_id, fingerprint = excluded.fingerprint, until = excluded.until, at = excluded.at
        WHERE d.until <= excluded.at OR (p_again AND d.event_id = excluded.event_id)
      RETURNING event_id
    )
    SELECT coalesce(array_agg(input.ord), '{}') INTO repeated FROM input WHERE NOT EXISTS (SELECT FROM kept
      WHERE kept.event_id = input.id);
  END IF;

  WITH input AS (
    SELECT * FROM unnest(p_ids, p_ats, p_sources, p_kinds, p_accounts, p_lanes, p_authorities, p_gather_keys, p_dues,
      p_extends,
      p_dedupe_keys, p_characters, p_bodies, p_claims, p_outcomes, p_states, p_reasons, p_decisions, p_senders) WITH
        ORDINALITY
      AS t (id, at, source, kind, account, lane, authority, gather_key, due, extend, dedupe_key, characters, body,
        claim, outcome, state,
        reason, decisions, senders, ord)
    WHERE ord <> ALL (repeated)
  ), judged AS (
    -- An event is taken at once if nothing of its lane runs,
    -- and no waiting event comes before it or belongs with it. These are no EXISTS,
    -- because PostgreSQL may answer that by a hash of all waiting events, and keep to it while they become many.
    SELECT input.*, claim AND lease IS NOT NULL AND state IS NULL
      AND row_number() OVER (PARTITION BY lane, state IS NULL ORDER BY ord) = 1
      AND (SELECT u.id FROM units u WHERE u.state = 1 AND u.lane = input.lane LIMIT 1) IS NULL
      AND (SELECT w.id FROM inbox w WHERE w.lane = input.lane AND w.state = 2 AND w.due IS NOT NULL LIMIT 1) IS NULL
      AND (gather_key IS NULL OR (
        SELECT w.id FROM inbox w WHERE w.state = 2 AND w.lane = input.lane AND w.gather_key = input.gather_key
          LIMIT 1) IS NULL) AS is_taken
    FROM input
  ), placed AS MATERIALIZED (
    SELECT judged.*, CASE WHEN is_taken OR state IS NOT NULL THEN nextval(pg_get_serial_sequence('units', 'id')) END
      AS unit FROM judged
  ), stored AS (
    INSERT INTO inbox (id, state, attempts, unit, accepted_at, due, source, kind, account, lane, authority,
      gather_key, extend, dedupe_key,
      characters, body)
    SELECT id, coalesce(state, CASE WHEN is_taken THEN 3 ELSE 2 END), CASE WHEN is_taken THEN 1 ELSE 0 END, unit, at,
      due, source, kind,
      account, lane, authority, gather_key, extend, dedupe_key, characters, body::json
    FROM placed ORDER BY ord
    ON CONFLICT (id) DO NOTHING
    RETURNING id, sequence
  ), opened AS (
    INSERT INTO units (id, event_id, lane, state, fence, began_at, outcome, reason, settled_at)
    SELECT p.unit, p.id, p.lane, CASE WHEN is_taken THEN 1 ELSE 2 END, CASE WHEN is_taken THEN lease END,
      CASE WHEN is_taken THEN clock_timestamp() END, p.outcome, p.reason,
      CASE WHEN NOT is_taken THEN p.at END
    FROM placed p JOIN stored ON stored.id = p.id WHERE p.unit IS NOT NULL
  ), decided AS (
    INSERT INTO decisions (unit, entries, senders)
    SELECT p.unit, p.decisions::json, ARRAY(SELECT json_array_elements_text(p.senders::json))
    FROM placed p JOIN stored ON stored.id = p.id WHERE p.decisions IS NOT NULL
  )
  SELECT array_agg(p.ord), array_agg(stored.sequence), array_agg(CASE WHEN is_taken THEN p.unit END) INTO ords,
    sequences, taken
  FROM placed p LEFT JOIN stored ON stored.id = p.id WHERE stored.sequence IS NULL OR is_taken;

  IF array_position(sequences, NULL) IS NOT NULL THEN
    IF p_again THEN
      -- The first call was committed. What it took runs under the current lease, or was lost with it.
      RETURN QUERY SELECT t.ord, NULL::text, NULL::boolean, i.sequence, CASE WHEN i.state = 3
        AND u.fence = lease THEN u.id END
        FROM unnest(ords, sequences) AS t (ord, sequence) JOIN inbox i ON i.id = p_ids[t.ord] LEFT JOIN units u
          ON u.id = i.unit
        WHERE t.sequence IS NULL;
    ELSE
      -- The key would otherwise make a repetition of the failed event a duplicate.
      DELETE FROM dedupe d USING unnest(ords, sequences) AS t (ord, sequence)
        WHERE t.sequence IS NULL AND d.key = p_dedupe_keys[t.ord] AND d.event_id = p_ids[t.ord];
      RETURN QUERY SELECT t.ord, NULL::text, NULL::boolean, NULL::bigint, NULL::bigint FROM unnest(ords, sequences)
        AS t (ord, sequence)
        WHERE t.sequence IS NULL;
    END IF;
  END IF;
  RETURN QUERY SELECT t.ord, NULL::text, NULL::boolean, t.sequence, t.unit FROM unnest(ords, sequences, taken)
    AS t (ord, sequence, unit)
    WHERE t.sequence IS NOT NULL;
  IF repeated <> '{}' THEN
    RETURN QUERY SELECT t.ord, d.event_id, d.fingerprint IS NOT DISTINCT FROM p_fingerprints[t.ord], NULL::bigint,
      NULL::bigint
      FROM unnest(repeated) AS t (ord) JOIN dedupe d ON d.key = p_dedupe_keys[t.ord];
  END IF;

  -- No node knows of the event if a command has accepted it.
  IF p_incarnation IS NULL THEN PERFORM tell_nodes(lane) FROM (SELECT DISTINCT lane FROM unnest(p_lanes) AS lane)
    AS lanes; END IF;

  IF EXISTS (SELECT FROM unnest(p_gather_keys) AS key WHERE starts_with(key, '${queuePrefix}')) THEN
    PERFORM bound_queue(queue.lane, queue.key, queue.at) FROM (
      SELECT lane, key, max(at) AS at FROM unnest(p_lanes, p_gather_keys, p_ats) AS t (lane, key, at)
      WHERE starts_with(key, '${queuePrefix}') GROUP BY lane, key ORDER BY lane COLLATE "C", key COLLATE "C") AS queue;
  END IF;
END`,
  ),
];
