/** Creates the schema and brings it up to date. */
import { storeError } from "service-gateway/sdk/store";
import type { Database } from "./pool.ts";
import { acceptanceFunctions } from "./schema/acceptance.ts";
import { binding } from "./schema/binding.ts";
import { claimFunctions } from "./schema/claim.ts";
import { dutyFunctions } from "./schema/duties.ts";
import { keyValueFunctions } from "./schema/key-value.ts";
import { lateWrites } from "./schema/late-writes.ts";
import { leaseFunctions } from "./schema/lease.ts";
import { modelCalls } from "./schema/model-calls.ts";
import { moveFunctions } from "./schema/moves.ts";
import { notes } from "./schema/notes.ts";
import { outboxFunctions, timedSends } from "./schema/outbox.ts";
import { queueFunctions } from "./schema/queues.ts";
import { removalFunctions } from "./schema/removals.ts";
import { sessionTurns } from "./schema/session-turns.ts";
import { sessionFunctions } from "./schema/sessions.ts";
import { sharedCallFunctions } from "./schema/shared-calls.ts";
import { summaries } from "./schema/summaries.ts";
import { tables } from "./schema/tables.ts";
import { unitFunctions } from "./schema/units.ts";
import { versions } from "./schema/versions.ts";

/** PostgreSQL 14, as `server_version_num` counts. */
export const oldestServer = 140_000;
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

/**
 * A step from one version of the schema to the next. Nodes are upgraded one at a time, so a step normally leaves intact
 * what nodes of earlier versions call: it adds tables, columns with a default, and functions.
 */
export interface Migration {
  readonly sql: string;
  /**
   * Set if it does not: the oldest version that may work on the schema from now on. Older nodes have to be stopped
   * first.
   */
  readonly oldest?: number;
}

/** Each is applied once, in order; its index is the version that it starts from. */
export const migrations: readonly Migration[] = [
  { sql: foundation },
  { sql: [...sessionTurns, ...versions, ...binding].join("\n") },
  { sql: [...acceptanceFunctions, ...sharedCallFunctions, ...lateWrites].join("\n") },
  { sql: modelCalls.join("\n") },
  { sql: notes.join("\n") },
  { sql: summaries.join("\n") },
  { sql: timedSends.join("\n") },
];

/** The version of the schema that this program knows. */
export const schemaVersion = migrations.length;

interface Found {
  readonly server: string;
  readonly number: number;
  readonly exists: boolean;
  readonly about: boolean;
  readonly relations: number;
}

/**
 * Reads the catalog's tables: what `to_regclass` and its like know may be outdated within a transaction that waited for
 * another one.
 */
const look = `SELECT current_setting('server_version') AS server, current_setting('server_version_num')::int AS number,
  n.oid IS NOT NULL AS exists, c.oid IS NOT NULL AS about,
  (SELECT count(*)::int FROM pg_class any_class WHERE any_class.relnamespace = n.oid) AS relations
  FROM (SELECT) one LEFT JOIN pg_namespace n ON '"' || replace(n.nspname, '"', '""') || '"' = $1
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'about'`;

/**
 * Refuses a server, a schema or a version that this program cannot use, before anything is written. `steps` are all of
 * its migrations.
 */
export async function migrate(database: Database, steps = migrations): Promise<void> {
  const [found] = await database.query<Found>(look, [database.schema]);
  if (found === undefined || found.number < oldestServer) {
    throw storeError("database_too_old", { version: found?.server ?? "unknown", needed: "PostgreSQL 14" });
  }
  const known = steps.length;
  if ((await versionOf(database, found, known)) >= known) return;
  // Nodes that start together wait for the first of them, and then find nothing to do.
  await database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(1735745402, hashtext($1))", [database.schema]);
    const [again] = (await query(look, [database.schema])) as readonly Found[];
    const version = await versionOf({ ...database, query: query as Database["query"] }, again ?? found, known);
    if (version >= known) return;
    if (again?.exists !== true) await query(`CREATE SCHEMA ${database.schema}`);
    await query(`SET LOCAL search_path TO ${database.schema}`);
    if (version === 0) {
      await query("CREATE TABLE about (program text NOT NULL, version integer NOT NULL)");
      await query("INSERT INTO about (program, version) VALUES ($1, 0)", [program]);
    }
    for (const { sql } of steps.slice(version)) await query(sql);
    await query("UPDATE about SET version = $1", [known]);
    const oldest = Math.max(0, ...steps.slice(version).map((step) => step.oldest ?? 0));
    if (oldest > 1) await excludeOlder(query as Database["query"], { oldest, known });
  });
}

/**
 * Throws `database_in_use` if nodes of older versions hold a lease. Others of them stop when they wake, because their
 * rows are gone.
 */
async function excludeOlder(
  query: Database["query"],
  { oldest, known }: { readonly oldest: number; readonly known: number },
) {
  await query("LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
  const older = await query<{ node: string }>(
    "SELECT node FROM nodes WHERE version < $1 AND lease_until > clock_timestamp() ORDER BY node",
    [oldest],
  );
  if (older.length > 0)
    throw storeError("database_in_use", { needed: known, nodes: older.map(({ node }) => node).join(", ") });
  await query("DELETE FROM nodes WHERE version < $1", [oldest]);
  await query("UPDATE about SET oldest = $1", [oldest]);
}

/** The version of the schema; 0 if it has to be created. */
async function versionOf(database: Pick<Database, "schema" | "query">, found: Found, known: number): Promise<number> {
  const { schema } = database;
  if (!found.about) {
    if (!found.exists || found.relations === 0) return 0;
    throw storeError("database_foreign", { schema, reason: "it contains tables of something else" });
  }
  const about = await readAbout(database);
  if (about?.program !== program || typeof about.version !== "number") {
    throw storeError("database_foreign", { schema, reason: "its table about names another program" });
  }
  requireKnown(about, known);
  return about.version;
}

interface About {
  readonly program: unknown;
  readonly version: number;
  /** Absent in the first version. */
  readonly oldest?: number;
}

async function readAbout(database: Pick<Database, "query">): Promise<About | undefined> {
  const [about] = await database.query<About>("SELECT * FROM @about");
  return about;
}

function requireKnown({ version, oldest = version }: About, known: number): void {
  if (oldest > known) throw storeError("database_version", { found: version, known });
}

/** Throws `database_version` if the schema has become too new for this program. */
export async function requireVersion(database: Database): Promise<void> {
  const about = await readAbout(database);
  if (about !== undefined) requireKnown(about, schemaVersion);
}
