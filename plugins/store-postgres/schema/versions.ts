/** Which versions of the program may work on this schema, and which one each node has. */
import { entry, part, raised } from "./define.ts";

export const versions = [
  `ALTER TABLE about ADD COLUMN oldest integer NOT NULL DEFAULT 1;
ALTER TABLE nodes ADD COLUMN version integer NOT NULL DEFAULT 1;
`,

  // Read after the node's row was written, so that a migration that waited for that row has ended.
  part(
    "require_version(p_version integer) RETURNS void",
    `BEGIN
  IF p_version < (SELECT oldest FROM about) THEN
    RAISE EXCEPTION 'the schema is too new for this version' USING ERRCODE = '${raised.tooNew}';
  END IF;
END`,
  ),

  entry(
    "begin_node(p_node text, p_seconds double precision, p_version integer, OUT fence bigint, OUT resumed bigint)",
    `BEGIN
  fence := nextval('fences');
  INSERT INTO nodes AS n (node, incarnation, fence, begun_at, lease_until, version)
    VALUES (p_node, fence, fence, clock_timestamp(), clock_timestamp() + make_interval(secs => p_seconds), p_version)
    ON CONFLICT (node) DO UPDATE
    SET incarnation = excluded.incarnation, fence = excluded.fence, begun_at = excluded.begun_at,
      renewed_at = clock_timestamp(),
      lease_until = excluded.lease_until, version = excluded.version;
  PERFORM require_version(p_version);
  SELECT count(*) INTO resumed FROM hand_back_lost();
END`,
  ),

  // As nodes of version 1 call it.
  entry(
    "begin_node(p_node text, p_seconds double precision, OUT fence bigint, OUT resumed bigint)",
    `BEGIN
  SELECT b.fence, b.resumed INTO fence, resumed FROM begin_node(p_node, p_seconds, 1) AS b;
END`,
  ),
];
