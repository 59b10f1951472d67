/** Sessions and their transcripts. */
import { entry, part, withoutFlush } from "./define.ts";

export const sessionFunctions = [
  // Appends to the current generation. A unit that runs again replaces its earlier messages.
  part(
    `write_transcript(p_unit_id text, p_session_key text, p_roles text[], p_contents text[],
    p_ats double precision[], p_writers text[],
      p_again boolean) RETURNS void`,
    `DECLARE
  own bigint;
  now_generation integer;
BEGIN
  IF p_again THEN
    DELETE FROM messages m USING transcripts t WHERE t.session_key = p_session_key AND m.transcript = t.id
      AND m.unit_id = p_unit_id;
    DELETE FROM transcripts t WHERE t.session_key = p_session_key AND NOT EXISTS (SELECT FROM messages m
      WHERE m.transcript = t.id);
  END IF;
  IF cardinality(p_roles) = 0 THEN RETURN; END IF;
  now_generation := coalesce((SELECT generation FROM sessions WHERE key = p_session_key), 0);
  SELECT id INTO own FROM transcripts WHERE session_key = p_session_key AND generation = now_generation FOR KEY SHARE;
  WHILE own IS NULL LOOP
    -- Another unit of the session may create it at the same moment. The constraint is deferrable,
    -- so a conflict is looked for by hand.
    PERFORM pg_advisory_xact_lock(1735745401, hashtext(p_session_key));
    SELECT id INTO own FROM transcripts WHERE session_key = p_session_key AND generation = now_generation FOR KEY SHARE;
    IF own IS NULL THEN
      INSERT INTO transcripts (session_key, generation) VALUES (p_session_key, now_generation) RETURNING id INTO own;
    END IF;
  END LOOP;
  INSERT INTO messages (transcript, position, unit_id, role, at, content)
    SELECT own, nextval(pg_get_serial_sequence('messages', 'id')), coalesce(t.writer, p_unit_id), t.role, t.at,
      t.content
    FROM unnest(p_roles, p_contents, p_ats, p_writers) WITH ORDINALITY AS t (role, content, at, writer, ord)
      ORDER BY t.ord;
END`,
  ),

  entry(
    `update_session(p_key text, p_agent_id text, p_at double precision, p_settings jsonb, p_removed text[],
    p_last_recipient jsonb,
      p_new_generation integer) RETURNS void`,
    `BEGIN
  ${withoutFlush}
  INSERT INTO sessions AS s (key, agent_id, generation, last_recipient, settings, updated_at)
    VALUES (p_key, p_agent_id, p_new_generation, p_last_recipient, p_settings, p_at)
    ON CONFLICT (key) DO UPDATE SET
      agent_id = excluded.agent_id,
      generation = s.generation + excluded.generation,
      last_recipient = coalesce(excluded.last_recipient, s.last_recipient),
      settings = (s.settings || excluded.settings) - p_removed,
      updated_at = excluded.updated_at;
END`,
  ),

  // The older conversation comes first. Its last generation is merged with the target's first one.
  part(
    "move_session(p_from text, p_to text) RETURNS void",
    `DECLARE
  source sessions;
  target sessions;
  last integer;
  earlier bigint;
  later bigint;
BEGIN
  SELECT * INTO source FROM sessions WHERE key = p_from FOR UPDATE;
  SELECT * INTO target FROM sessions WHERE key = p_to FOR UPDATE;
  last := coalesce(source.generation, 0);
  earlier := (SELECT id FROM transcripts WHERE session_key = p_from AND generation = last);
  later := (SELECT id FROM transcripts WHERE session_key = p_to AND generation = 0);
  IF earlier IS NOT NULL AND later IS NOT NULL THEN
    UPDATE messages SET transcript = later, position = position
      - (SELECT max(m.position) FROM messages m WHERE m.transcript = earlier)
      + (SELECT min(m.position) FROM messages m WHERE m.transcript = later) - 1
      WHERE transcript = earlier;
    DELETE FROM transcripts WHERE id = earlier;
  END IF;
  SET CONSTRAINTS ALL DEFERRED;
  UPDATE transcripts SET generation = generation + last WHERE session_key = p_to;
  UPDATE transcripts SET session_key = p_to WHERE session_key = p_from;
  IF source.key IS NULL THEN RETURN; END IF;
  INSERT INTO sessions (key, agent_id, generation, last_recipient, settings, updated_at)
    VALUES (p_to, coalesce(target.agent_id, source.agent_id), last + coalesce(target.generation, 0),
      coalesce(target.last_recipient, source.last_recipient), source.settings || coalesce(target.settings, '{}'),
      greatest(source.updated_at, target.updated_at))
    ON CONFLICT (key) DO UPDATE SET agent_id = excluded.agent_id, generation = excluded.generation,
      last_recipient = excluded.last_recipient, settings = excluded.settings, updated_at = excluded.updated_at;
  DELETE FROM sessions WHERE key = p_from;
END`,
  ),

  entry(
    "delete_session(p_key text, OUT existed boolean, OUT messages bigint)",
    `#variable_conflict use_column
BEGIN
  WITH gone AS (
    DELETE FROM messages m USING transcripts t WHERE t.session_key = p_key AND m.transcript = t.id RETURNING m.id
  ) SELECT count(*) INTO messages FROM gone;
  DELETE FROM transcripts t WHERE t.session_key = p_key;
  DELETE FROM sessions s WHERE s.key = p_key;
  existed := FOUND OR delete_session.messages > 0;
END`,
  ),

  entry(
    "edit_transcript(p_transcript bigint, p_removed bigint[], p_ids bigint[], p_contents text[]) RETURNS void",
    `BEGIN
  UPDATE messages m SET content = t.content FROM unnest(p_ids, p_contents) AS t (id, content) WHERE m.id = t.id;
  DELETE FROM messages WHERE transcript = p_transcript AND id = ANY (p_removed);
  DELETE FROM transcripts t WHERE t.id = p_transcript AND NOT EXISTS (SELECT FROM messages m WHERE m.transcript = t.id);
END`,
  ),

  // One step: removes messages older than a time, in whole turns, so that what is left begins with a user's message.
  entry(
    `prune_transcripts(p_before double precision, p_after bigint, p_step integer, OUT removed bigint, OUT next bigint)`,
    `DECLARE
  old record;
  cut bigint;
  count bigint;
  looked integer := 0;
BEGIN
  ${withoutFlush}
  removed := 0;
  FOR old IN SELECT id FROM transcripts WHERE id > p_after ORDER BY id LIMIT p_step LOOP
    looked := looked + 1;
    next := old.id;
    SELECT max(position) INTO cut FROM messages WHERE transcript = old.id AND at < p_before;
    CONTINUE WHEN cut IS NULL;
    SELECT min(position) INTO cut FROM messages WHERE transcript = old.id AND position > cut AND role = 'user';
    DELETE FROM messages WHERE transcript = old.id AND (cut IS NULL OR position < cut);
    GET DIAGNOSTICS count = ROW_COUNT;
    removed := removed + count;
    DELETE FROM transcripts t WHERE t.id = old.id AND NOT EXISTS (SELECT FROM messages m WHERE m.transcript = t.id);
  END LOOP;
  IF looked < p_step THEN next := NULL; END IF;
END`,
  ),
];
