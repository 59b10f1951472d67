/** Calls that share a transaction: each one succeeds or fails by itself. */
import { entry } from "./define.ts";

/** The parameters of a function with its types, and its result for one call as JSON. */
function attempt(name: string, parameters: string, result: string): string {
  const values = (parameters.match(/p_\w+/g) ?? []).join(", ");
  return entry(
    `try_${name}(${parameters}) RETURNS TABLE (result json, failure text, message text)`,
    `#variable_conflict use_column
BEGIN
  SELECT ${result} INTO result FROM ${name}(${values}) AS done;
  RETURN NEXT;
EXCEPTION
  -- The whole transaction is repeated.
  WHEN deadlock_detected THEN RAISE;
  WHEN OTHERS THEN
    failure := SQLSTATE;
    message := SQLERRM;
    RETURN NEXT;
END`,
  );
}

/** The rows of a call as a JSON array, and why it failed, if it did. */
export const sharedCallFunctions = [
  attempt(
    "settle",
    `p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_at double precision, p_outcome text,
    p_state smallint, p_reason text,
      p_session_key text, p_agent_id text, p_reply text, p_unread boolean, p_sent_row bigint, p_message_ids text[],
      p_sent_at double precision, p_entries json, p_senders text[], p_usage json`,
    "json_build_array(json_build_object('settled', done.settled, 'lane', done.lane))",
  ),
  attempt(
    "say",
    `p_node text, p_incarnation bigint, p_unit_id text, p_token text, p_ending json, p_channels text[],
    p_accounts text[],
      p_chats text[], p_threads text[], p_operations text[], p_parts text[], p_first_sends boolean, p_taken text,
        p_session_key text,
      p_roles text[], p_contents text[], p_message_ats double precision[], p_writers text[], p_entries json,
        p_senders text[],
      p_usage json`,
    `coalesce(json_agg(json_build_object('id', done.id, 'position', done."position") ORDER BY done."position"), '[]')`,
  ),
];
