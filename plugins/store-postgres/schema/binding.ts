/** Units that only one node can send, because it has their files. */
import { entry, part } from "./define.ts";

/** How long others leave such a unit to a node that is gone. */
const minutes = 10;

export const binding = [
  `ALTER TABLE units ADD COLUMN bound_node text COLLATE "C";
`,

  entry(
    "bind_unit(p_node text, p_incarnation bigint, p_unit_id text) RETURNS void",
    `DECLARE
  runs units := running_unit(p_node, p_incarnation, p_unit_id);
BEGIN
  UPDATE units SET bound_node = p_node WHERE id = runs.id;
END`,
  ),

  // Whether the next row of a unit is for an account for which another node sends, or needs the files of another node.
  part(
    "is_sent_elsewhere(p_unit bigint, p_node text) RETURNS boolean",
    `DECLARE
  bound text := (SELECT u.bound_node FROM units u JOIN nodes n ON n.node = u.bound_node
    WHERE u.id = p_unit AND n.lease_until > clock_timestamp() - interval '${minutes} minutes');
BEGIN
  IF bound IS NOT NULL THEN RETURN bound <> p_node; END IF;
  RETURN EXISTS (
    SELECT FROM outbox o JOIN duties d ON d.name = 'account:' || o.channel || ':' || o.account
    WHERE o.unit = p_unit AND o.state < 2 AND d.node <> p_node AND is_fulfilled(d));
END`,
  ),
];
