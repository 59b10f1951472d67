/** The ledger of model calls, and the calls that wait for room in their budgets. */
import { entry, withoutFlush } from "./define.ts";

const columns = `id, at, agent_id, model, purpose, session_key, channel, account, sender, event_id, input_tokens,
  output_tokens, cache_read,
    cache_write, reasoning, usd, price_source, estimated`;

export const modelCalls = [
  `CREATE TABLE model_calls (
  id text COLLATE "C" PRIMARY KEY,
  at double precision NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  session_key text,
  channel text COLLATE "C",
  account text,
  sender text COLLATE "C",
  event_id text,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cache_read bigint NOT NULL,
  cache_write bigint NOT NULL,
  reasoning bigint NOT NULL,
  usd double precision,
  price_source text,
  estimated boolean NOT NULL
);
-- Contains what budgets sum, so that a sum does not read the table.
CREATE INDEX model_calls_at ON model_calls (at, agent_id, channel, sender) INCLUDE (estimated, input_tokens,
  output_tokens, usd);

-- What turns reported before.
INSERT INTO model_calls (id, at, agent_id, model, purpose, session_key, event_id, input_tokens, output_tokens,
  cache_read, cache_write,
    reasoning, estimated)
  SELECT n.unit || ':' || row_number() OVER (PARTITION BY n.unit ORDER BY n.at, n.ctid), n.at, coalesce(u.agent_id,
    ''), n.model, 'turn',
    u.session_key, u.event_id, n.input_tokens, n.output_tokens, 0, 0, 0, false
  FROM usage n JOIN units u ON u.id = n.unit;
`,

  // The call as the port describes it. A repetition, whose first result was lost, changes nothing.
  entry(
    "record_call(p_call json) RETURNS void",
    `BEGIN
  ${withoutFlush}
  INSERT INTO model_calls (${columns})
    SELECT p_call->>'id', (p_call->>'at')::double precision, p_call->>'agentId', p_call->>'model',
      p_call->>'purpose', p_call->>'sessionKey',
      p_call->>'channel', p_call->>'account', p_call->>'sender', p_call->>'eventId', (p_call->>'inputTokens')::bigint,
      (p_call->>'outputTokens')::bigint, (p_call->>'cacheRead')::bigint, (p_call->>'cacheWrite')::bigint,
      (p_call->>'reasoning')::bigint,
      (p_call->>'usd')::double precision, p_call->>'priceSource', (p_call->>'estimated')::boolean
    ON CONFLICT (id) DO UPDATE SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      cache_read = excluded.cache_read, cache_write = excluded.cache_write, reasoning = excluded.reasoning,
        model = excluded.model,
      usd = excluded.usd, price_source = excluded.price_source, estimated = excluded.estimated;
END`,
  ),

  // p_scopes is an array of scopes as the port describes them. The sums are in the same order.
  entry(
    "spent(p_scopes json, p_except text DEFAULT NULL) RETURNS TABLE (tokens bigint, usd double precision)",
    `#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT coalesce(total.tokens, 0)::bigint, coalesce(total.usd, 0)
    FROM json_array_elements(p_scopes) WITH ORDINALITY AS s (scope, place)
    CROSS JOIN LATERAL (
      SELECT sum(c.input_tokens + c.output_tokens) AS tokens, sum(c.usd) AS usd FROM model_calls c
      WHERE c.at >= (scope->>'since')::double precision
        AND (scope->>'agentId' IS NULL OR c.agent_id = scope->>'agentId')
        AND (scope->'sender' IS NULL OR (c.channel = scope->'sender'->>'channel' AND c.sender = scope->'sender'->>'id'))
        AND c.id IS DISTINCT FROM p_except
    ) total ORDER BY place;
END`,
  ),

  // One after the other, so that calls that ask at the same moment cannot pass a limit together.
  entry(
    "reserve_call(p_call json, p_limits json, OUT refused_by integer, OUT spent json)",
    `DECLARE
  used bigint := (p_call->>'inputTokens')::bigint + (p_call->>'outputTokens')::bigint;
  cost double precision := coalesce((p_call->>'usd')::double precision, 0);
BEGIN
  ${withoutFlush}
  PERFORM pg_advisory_xact_lock('model_calls'::regclass::oid::bigint);
  SELECT json_agg(json_build_object('tokens', s.tokens, 'usd', s.usd) ORDER BY s.ordinality) INTO spent
    FROM spent(p_limits, p_call->>'id') WITH ORDINALITY AS s;
  SELECT min(l.ordinality) - 1 INTO refused_by FROM json_array_elements(p_limits) WITH ORDINALITY AS l (element,
    ordinality)
    CROSS JOIN LATERAL (SELECT spent->(l.ordinality::integer - 1) AS sum) sums
    WHERE (sum->>'tokens')::bigint + used > (element->>'tokens')::double precision
      OR (sum->>'usd')::double precision + cost > (element->>'usd')::double precision;
  IF refused_by IS NULL THEN PERFORM record_call(p_call); END IF;
END`,
  ),

  entry(
    "prune_calls(p_before double precision, p_step integer) RETURNS bigint",
    `DECLARE
  removed bigint;
BEGIN
  ${withoutFlush}
  DELETE FROM model_calls WHERE id IN (SELECT id FROM model_calls WHERE at < p_before ORDER BY at LIMIT p_step
    FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
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
  -- The tokens still count, but no longer for this person. The key of a direct chat's session contains the id.
  UPDATE model_calls SET sender = NULL, session_key = NULL WHERE channel = p_channel AND sender = p_chat;
END`,
  ),
];
