/** Distinguishes a write of a node that lost its lease from a write for a unit that has ended on this node. */
import { part, raised } from "./define.ts";

export const lateWrites = [
  // An ended unit keeps the fence under which it ran last.
  part(
    "running_unit(p_node text, p_incarnation bigint, p_unit_id text) RETURNS units",
    `DECLARE
  mine bigint := current_fence(p_node, p_incarnation);
  led units := led_by(p_unit_id, mine);
BEGIN
  IF led.state = 1 THEN RETURN led; END IF;
  IF led.fence <> mine THEN
    RAISE EXCEPTION 'another node has ended the unit' USING ERRCODE = '${raised.leaseLost}';
  END IF;
  RAISE EXCEPTION 'The unit % is not running.', p_unit_id USING ERRCODE = '${raised.notRunning}';
END`,
  ),
];
