/** Creates the schema and brings it up to date. */
import { storeError } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";
import { acceptanceFunctions } from "./schema/acceptance.ts";
import { claimFunctions } from "./schema/claim.ts";
import { dutyFunctions } from "./schema/duties.ts";
import { keyValueFunctions } from "./schema/key-value.ts";
import { leaseFunctions } from "./schema/lease.ts";
import { moveFunctions } from "./schema/moves.ts";
import { outboxFunctions } from "./schema/outbox.ts";
import { queueFunctions } from "./schema/queues.ts";
import { removalFunctions } from "./schema/removals.ts";
import { sessionTurns } from "./schema/session-turns.ts";
import { sessionFunctions } from "./schema/sessions.ts";
import { tables } from "./schema/tables.ts";
import { unitFunctions } from "./schema/units.ts";

/** PostgreSQL 14, as `server_version_num` counts. */
const oldestServer = 140_000;
const program = "service-gateway";

const foundation = [
  tables,
  ...leaseFunctions,
  ...dutyFunctions,
  ...unitFunctions,
  ...queueFunctions,
  ...acceptanceFunctions,
  ...claimFunctions,
  ...outboxFunctions,
  ...sessionFunctions,
  ...keyValueFunctions,
  ...moveFunctions,
  ...removalFunctions,
].join("\n");

/** Each is applied once, in order; its index is the version that it starts from. */
const migrations: readonly string[] = [foundation, sessionTurns.join("\n")];

interface Found {
  readonly server: string;
  readonly number: number;
  readonly exists: boolean;
  readonly about: boolean;
  readonly relations: number;
}

/** Reads the catalog's tables: what `to_regclass` and its like know may be outdated within a transaction that waited for another one. */
const look = `SELECT current_setting('server_version') AS server, current_setting('server_version_num')::int AS number,
  n.oid IS NOT NULL AS exists, c.oid IS NOT NULL AS about,
  (SELECT count(*)::int FROM pg_class any_class WHERE any_class.relnamespace = n.oid) AS relations
  FROM (SELECT) one LEFT JOIN pg_namespace n ON '"' || replace(n.nspname, '"', '""') || '"' = $1
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'about'`;

/** Refuses a server, a schema or a version that this program cannot use, before anything is written. */
export async function migrate(database: Database): Promise<void> {
  const [found] = await database.query<Found>(look, [database.schema]);
  if (found === undefined || found.number < oldestServer) {
    throw storeError("database_too_old", { version: found?.server ?? "unknown", needed: "PostgreSQL 14" });
  }
  if ((await versionOf(database, found)) === migrations.length) return;
  // Nodes that start together wait for the first of them, and then find nothing to do.
  await database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(1735745402, hashtext($1))", [database.schema]);
    const [again] = (await query(look, [database.schema])) as readonly Found[];
    const version = await versionOf({ ...database, query: query as Database["query"] }, again ?? found);
    if (version === migrations.length) return;
    if (again?.exists !== true) await query(`CREATE SCHEMA ${database.schema}`);
    await query(`SET LOCAL search_path TO ${database.schema}`);
    if (version === 0) await query("CREATE TABLE about (program text NOT NULL, version integer NOT NULL)");
    for (const migration of migrations.slice(version)) await query(migration);
    await query(version === 0 ? "INSERT INTO about (program, version) VALUES ($1, $2)" : "UPDATE about SET program = $1, version = $2", [
      program,
      migrations.length,
    ]);
  });
}

/** The version of the schema; 0 if it has to be created. */
async function versionOf(database: Pick<Database, "schema" | "query">, found: Found): Promise<number> {
  const { schema } = database;
  if (!found.about) {
    if (!found.exists || found.relations === 0) return 0;
    throw storeError("database_foreign", { schema, reason: "it contains tables of something else" });
  }
  const [about] = await database.query<{ program: unknown; version: unknown }>("SELECT * FROM @about");
  if (about?.program !== program || typeof about.version !== "number") {
    throw storeError("database_foreign", { schema, reason: "its table about names another program" });
  }
  if (about.version > migrations.length) {
    throw storeError("database_version", { found: about.version, known: migrations.length });
  }
  return about.version;
}
