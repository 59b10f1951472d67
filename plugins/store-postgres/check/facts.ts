/** What the database says about itself, for its check. */
import type pg from "pg";
import { schemaMark } from "../nodes/listening.ts";
import { applicationPrefix } from "../pool.ts";

export interface Facts {
  readonly version: string;
  /** 140005 is version 14.5. */
  readonly number: number;
  readonly replica: boolean;
  readonly readOnly: boolean;
  /** Settings with which a crash of the server may lose committed transactions. */
  readonly unsafe: readonly string[];
  readonly user: string;
  readonly schemaExists: boolean;
  readonly mayCreateSchema: boolean;
  readonly mayUseSchema: boolean;
  readonly mayCreateTables: boolean;
  readonly hasTables: boolean;
  /** Tables and sequences that the user may not use as the store does. */
  readonly forbidden: readonly string[];
  /** Owner of the tables, if the user is not a member of that role. */
  readonly otherOwner: string | null;
  /** Connections that the limits of the server, the database and the user still allow. */
  readonly connectionsLeft: number;
  /** Names of nodes that more than one process uses. */
  readonly sharedNames: readonly string[];
}

const privileges = ["SELECT", "INSERT", "UPDATE", "DELETE"].map(
  (privilege) => `has_table_privilege(c.oid, '${privilege}')`,
);

/** A gateway has one connection that listens. Its sequence of fences is the only one that needs a privilege. */
const query = `SELECT
  current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  pg_is_in_recovery() AS replica, current_setting('transaction_read_only')::bool AS "readOnly", current_user::text
    AS "user",
  ARRAY(SELECT name FROM unnest(ARRAY['fsync', 'full_page_writes', 'synchronous_commit']) name
    WHERE current_setting(name) = 'off')
    AS unsafe,
  n.oid IS NOT NULL AS "schemaExists",
  has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema",
  coalesce(has_schema_privilege(n.oid, 'USAGE'), false) AS "mayUseSchema",
  coalesce(has_schema_privilege(n.oid, 'CREATE'), false) AS "mayCreateTables",
  EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind = 'r') AS "hasTables",
  ARRAY(SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = n.oid AND (
    c.relkind = 'r' AND NOT (${privileges.join(" AND ")})
    OR c.relkind = 'S' AND c.relname = 'fences' AND NOT has_sequence_privilege(c.oid, 'USAGE')) ORDER BY 1)
      AS forbidden,
  (SELECT min(pg_get_userbyid(c.relowner)::text) FROM pg_class c
    WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE')) AS "otherOwner",
  (SELECT least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) - count(*),
    (SELECT nullif(d.datconnlimit, -1) FROM pg_database d WHERE d.datname = current_database())
      - count(*) FILTER (WHERE a.datname = current_database()),
    (SELECT nullif(r.rolconnlimit, -1) FROM pg_roles r WHERE r.rolname = current_user) - count(*) FILTER (WHERE
    a.usename = current_user)
  )::int FROM pg_stat_activity a WHERE a.backend_type = 'client backend') AS "connectionsLeft",
  ARRAY(SELECT substr(a.application_name, length($2) + 1) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND starts_with(a.application_name, $2)
      AND a.query LIKE 'LISTEN %' AND right(a.query, length($3::text || $1)) = $3::text || $1
    GROUP BY a.application_name HAVING count(*) > 1 ORDER BY 1) AS "sharedNames"
  FROM (SELECT) one LEFT JOIN pg_namespace n ON '"' || replace(n.nspname, '"', '""') || '"' = $1`;

export async function readFacts(client: pg.Client, schema: string): Promise<Facts> {
  const { rows } = await client.query<Facts>(query, [schema, applicationPrefix, schemaMark]);
  const [facts] = rows;
  if (facts === undefined) throw new Error("The database returned no facts about itself.");
  return facts;
}
