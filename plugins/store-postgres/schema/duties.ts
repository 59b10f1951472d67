/** Duties: what one node at a time does, such as receiving for an account. */
import { entry, part, withoutFlush } from "./define.ts";

/**
 * A duty is free for others if its node did not renew its lease for this part of it. The node itself stops earlier
 * (`lease.ts`).
 */
const freeAfterPart = 0.4;

export const dutyFunctions = [
  // Whether a node has the duty and renews its lease.
  part(
    "is_fulfilled(p_duty duties) RETURNS boolean",
    `BEGIN
  RETURN EXISTS (SELECT FROM nodes n WHERE n.node = p_duty.node AND n.fence = p_duty.fence
    AND n.renewed_at + (n.lease_until - n.renewed_at) * ${freeAfterPart} > clock_timestamp());
END`,
  ),

  entry(
    "take_duty(p_node text, p_incarnation bigint, p_name text) RETURNS boolean",
    `DECLARE
  mine bigint := current_fence(p_node, p_incarnation);
BEGIN
  ${withoutFlush}
  INSERT INTO duties AS d (name, node, fence) VALUES (p_name, p_node, mine)
    ON CONFLICT (name) DO UPDATE SET node = excluded.node, fence = excluded.fence WHERE d.node = p_node
      OR NOT is_fulfilled(d);
  RETURN FOUND;
END`,
  ),

  entry(
    "node_reports() RETURNS TABLE (node text, since double precision, silent_ms double precision, alive " +
      "boolean, duties text[], running bigint)",
    `#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT n.node, floor(extract(epoch FROM n.begun_at)::double precision * 1000),
    floor(extract(epoch FROM clock_timestamp() - n.renewed_at)::double precision * 1000),
    n.lease_until > clock_timestamp(),
    ARRAY(SELECT d.name FROM duties d WHERE d.node = n.node AND d.fence = n.fence AND is_fulfilled(d) ORDER BY d.name),
    (SELECT count(*) FROM units u WHERE u.state = 1 AND u.fence = n.fence)
  FROM nodes n ORDER BY n.node;
END`,
  ),

  // Whether the next row of a unit is for an account for which another node sends.
  part(
    "is_sent_elsewhere(p_unit bigint, p_node text) RETURNS boolean",
    `BEGIN
  RETURN EXISTS (
    SELECT FROM outbox o JOIN duties d ON d.name = 'account:' || o.channel || ':' || o.account
    WHERE o.unit = p_unit AND o.state < 2 AND d.node <> p_node AND is_fulfilled(d));
END`,
  ),
];
