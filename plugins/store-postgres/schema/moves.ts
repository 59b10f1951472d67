/** Moves a chat to a new platform id, along with its waiting events and the messages passed over. */
import { entry, part } from "./define.ts";

/** Limits the size of one write; a chat produces this much in several days. */
const mostPassedOver = 10_000;

/** A chat's own lane, those of its threads, and their command lanes, as ranges for the index. */
const inLanesOf = (lane: string) =>
  `(i.lane = ${lane} OR (i.lane >= ${lane} || ':' AND i.lane < ${lane} || ';') OR (i.lane >= ${lane} || ` +
  `chr(9) AND i.lane < ${lane} || chr(10)))`;

export const moveFunctions = [
  // A type that can be changed, jsonb, cannot contain U+0000. Message ids differ in the new chat, so replies replace
  // and quote nothing there. Messages to be removed are removed in the old chat.
  part(
    "readdress(p_channel text, p_account text, p_from text, p_to text, p_from_lane text, p_to_lane text) RETURNS void",
    `BEGIN
  UPDATE outbox o SET chat = p_to, part = (replace(o.part::text, '\\u0000',
    '\\ufffd')::jsonb - 'replaces' - 'replyTo')::json
    WHERE o.state < 2 AND o.operation = 'send' AND o.channel = p_channel AND o.account = p_account AND o.chat = p_from
      AND o.unit IN (
        SELECT i.id FROM units i WHERE i.state = 1 AND (${inLanesOf("p_from_lane")} OR ${inLanesOf("p_to_lane")})
        UNION
        SELECT i.unit FROM inbox i WHERE i.state = 2 AND i.due IS NOT NULL AND i.unit IS NOT NULL
          AND (${inLanesOf("p_from_lane")} OR ${inLanesOf("p_to_lane")}));
END`,
  ),

  entry(
    `move_chat(p_node text, p_incarnation bigint, p_channel text, p_account text, p_from text, p_to text,
    p_from_lane text,
      p_to_lane text, p_session_sources text[], p_session_targets text[]) RETURNS bigint`,
    `DECLARE
  moved bigint[];
  units_moved bigint[];
BEGIN
  PERFORM current_fence(p_node, p_incarnation);
  PERFORM lock_lane(lane) FROM (SELECT lane FROM unnest(ARRAY[p_from_lane, p_to_lane]) AS lane
    ORDER BY hashtext(lane)) AS lanes;
  moved := ARRAY(SELECT i.sequence FROM inbox i WHERE i.state = 2 AND (i.due IS NOT NULL OR i.gather_key IS NOT NULL)
    AND ${inLanesOf("p_from_lane")} FOR UPDATE);
  -- A running unit keeps its lane until it is done. Nothing in the new lane can overtake it there.
  units_moved := ARRAY(SELECT unit FROM inbox WHERE sequence = ANY (moved) AND unit IS NOT NULL);
  UPDATE units i SET lane = p_to_lane || substr(i.lane, length(p_from_lane) + 1), preview = NULL
    WHERE i.id = ANY (units_moved) AND i.state = 0 AND ${inLanesOf("p_from_lane")};
  UPDATE inbox i SET lane = p_to_lane || substr(i.lane, length(p_from_lane) + 1) WHERE i.sequence = ANY (moved);
  -- Messages that the old chat passed over become context for messages in the new one.
  UPDATE inbox i SET lane = p_to_lane || substr(i.lane, length(p_from_lane) + 1) WHERE i.sequence IN (
    SELECT i.sequence FROM inbox i WHERE i.state = 5 AND ${inLanesOf("p_from_lane")} LIMIT ${mostPassedOver});
  PERFORM readdress(p_channel, p_account, p_from, p_to, p_from_lane, p_to_lane);
  PERFORM move_session(t.source, t.target) FROM unnest(p_session_sources, p_session_targets) AS t (source, target);
  RETURN cardinality(moved);
END`,
  ),
];
