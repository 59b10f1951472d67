/** Which turns wait for a session or run in it: on all nodes, one at a time. */
import { entry, withoutFlush } from "./define.ts";

/** The channel of NOTIFY. Its payload is the unit whose turn may run now. */
export const turnChannel = "service_gateway_turns";

/**
 * First the columns of a unit whose turn waits for its session or runs in it: the session, and the place in the order
 * of its turns.
 */
export const sessionTurns = [
  `ALTER TABLE units ADD COLUMN turn_session text COLLATE "C", ADD COLUMN turn_number bigint;
CREATE SEQUENCE turn_numbers;
CREATE INDEX units_turns ON units (turn_session, turn_number) WHERE turn_number IS NOT NULL;
`,

  // Whether the unit's turn may run. The first call gives it its place, the others only ask again.
  entry(
    "enter_session(p_node text, p_incarnation bigint, p_unit_id text, p_session text) RETURNS boolean",
    `DECLARE
  runs units;
  mine bigint;
BEGIN
  ${withoutFlush}
  -- Taken before the unit's row, so that numbers grow in the order of the commits.
  PERFORM pg_advisory_xact_lock(1735745403, hashtext(p_session));
  runs := running_unit(p_node, p_incarnation, p_unit_id);
  mine := runs.turn_number;
  IF mine IS NULL THEN
    mine := nextval('turn_numbers');
    UPDATE units SET turn_session = p_session, turn_number = mine WHERE id = runs.id;
  END IF;
  RETURN NOT EXISTS (SELECT FROM units u WHERE u.turn_session = p_session AND u.turn_number < mine);
END`,
  ),

  // Whatever ends the turn of a unit also ends its place, so that no call can forget it. An older version of the
  // program does so too.
  entry(
    "leave_session() RETURNS trigger",
    `DECLARE
  following text;
BEGIN
  SELECT u.event_id INTO following FROM units u
    WHERE u.turn_session = OLD.turn_session AND u.turn_number > OLD.turn_number ORDER BY u.turn_number LIMIT 1;
  IF FOUND THEN PERFORM pg_notify('${turnChannel}', following); END IF;
  NEW.turn_session := NULL;
  NEW.turn_number := NULL;
  RETURN NEW;
END`,
  ),

  `CREATE TRIGGER leaves_session BEFORE UPDATE ON units FOR EACH ROW
  WHEN (OLD.turn_number IS NOT NULL AND (NEW.state <> 1 OR NEW.stage <> 'turn')) EXECUTE FUNCTION leave_session();
`,
];
