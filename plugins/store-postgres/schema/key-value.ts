/** Key-value data with an expiry time. Values are JSON texts, so that equal values have equal texts. */
import { entry, withoutFlush } from "./define.ts";

export const keyValueFunctions = [
  entry(
    "set_value(p_namespace text, p_key text, p_value text, p_expires_at double precision, p_durable " +
      "boolean) RETURNS void",
    `BEGIN
  IF NOT p_durable THEN ${withoutFlush} END IF;
  INSERT INTO kv (namespace, key, value, expires_at) VALUES (p_namespace, p_key, p_value, p_expires_at)
    ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at;
END`,
  ),

  entry(
    "delete_value(p_namespace text, p_key text, p_now double precision) RETURNS boolean",
    `DECLARE
  expired double precision;
BEGIN
  ${withoutFlush}
  DELETE FROM kv WHERE namespace = p_namespace AND key = p_key RETURNING expires_at INTO expired;
  RETURN FOUND AND (expired IS NULL OR expired > p_now);
END`,
  ),

  // Stores `p_next` if the value is `p_expected`; either may be absent. An expired value is absent. Otherwise returns
  // what it found.
  entry(
    `swap_value(p_namespace text, p_key text, p_expected text, p_next text, p_expires_at double precision,
    p_now double precision,
      OUT done boolean, OUT current text)`,
    `#variable_conflict use_column
DECLARE
  entry kv;
  live boolean;
BEGIN
  ${withoutFlush}
  SELECT * INTO entry FROM kv WHERE namespace = p_namespace AND key = p_key FOR UPDATE;
  live := FOUND AND (entry.expires_at IS NULL OR entry.expires_at > p_now);
  current := CASE WHEN live THEN entry.value END;
  done := swap_value.current IS NOT DISTINCT FROM p_expected;
  IF NOT done THEN RETURN; END IF;
  IF p_next IS NULL THEN
    DELETE FROM kv WHERE namespace = p_namespace AND key = p_key;
  ELSIF entry.key IS NOT NULL THEN
    UPDATE kv SET value = p_next, expires_at = coalesce(p_expires_at, CASE WHEN live THEN entry.expires_at END)
      WHERE namespace = p_namespace AND key = p_key;
  ELSE
    INSERT INTO kv (namespace, key, value, expires_at) VALUES (p_namespace, p_key, p_next, p_expires_at)
      ON CONFLICT DO NOTHING;
    done := FOUND;
    -- Another writer was faster.
    IF NOT done THEN SELECT value INTO current FROM kv WHERE namespace = p_namespace AND key = p_key; END IF;
  END IF;
END`,
  ),
];
