/** What facts about the database mean for an operator: one sentence for each problem, and what to do. */
import type { StoreFinding } from "service-gateway/sdk/store";
import { oldestServer } from "../migrations.ts";
import { maxConnections } from "../pool.ts";
import type { Facts } from "./facts.ts";

/** When the updates of a major version end, from https://www.postgresql.org/support/versioning/. */
const supportEnds: ReadonlyMap<number, string> = new Map([
  [14, "2026-11-12"],
  [15, "2027-11-11"],
  [16, "2028-11-09"],
  [17, "2029-11-08"],
  [18, "2030-11-14"],
]);

/** A gateway also has a connection for the renewals of its lease, and one that listens. */
const connectionsOfGateway = maxConnections + 2;

const fail = (reason: string, fix: string): StoreFinding => ({ verdict: "fail", reason, fix });
const warn = (reason: string, fix: string): StoreFinding => ({ verdict: "warn", reason, fix });

/** `schema` is quoted as in SQL. `at` is the time of this machine. */
export function findingsOf(
  facts: Facts,
  { schema, at }: { readonly schema: string; readonly at: number },
): readonly StoreFinding[] {
  if (facts.number < oldestServer) {
    const needed = Math.floor(oldestServer / 10_000);
    return [
      fail(
        `the server has PostgreSQL ${facts.version}, and the store needs ${needed} or later`,
        "Upgrade the server, or use another one.",
      ),
    ];
  }
  return [
    ...versionFindings(facts, at),
    ...durabilityFindings(facts),
    ...privilegeFindings(facts, schema),
    ...nodeFindings(facts),
  ];
}

function versionFindings({ version, number }: Facts, at: number): readonly StoreFinding[] {
  const end = supportEnds.get(Math.floor(number / 10_000));
  if (end === undefined || at < Date.parse(end)) return [];
  const newest = Math.max(...supportEnds.keys());
  return [
    warn(
      `PostgreSQL ${version} has had no updates since ${end}, not even for security`,
      `Upgrade the server, for example to PostgreSQL ${newest}.`,
    ),
  ];
}

function durabilityFindings({ replica, readOnly, unsafe, user }: Facts): readonly StoreFinding[] {
  const found: StoreFinding[] = [];
  if (replica)
    found.push(
      fail("the server is a replica, which accepts no writes", "Set state.url to the address of the primary server."),
    );
  else if (readOnly) {
    const fix = "Reset default_transaction_read_only for this user, this database and the server.";
    found.push(fail(`transactions of the user ${user} are read-only`, fix));
  }
  if (unsafe.length > 0) {
    const reason =
      `${unsafe.map((name) => `${name} is off`).join(" and ")}: if the server crashes, ` +
      "accepted events may be lost";
    found.push(warn(reason, `Set ${unsafe.join(" and ")} to on, for the server and for the user ${user}.`));
  }
  return found;
}

function privilegeFindings(facts: Facts, schema: string): readonly StoreFinding[] {
  const { user, schemaExists, mayCreateSchema, mayUseSchema, mayCreateTables, hasTables, forbidden, otherOwner } =
    facts;
  const role = quoted(user);
  if (!schemaExists) {
    if (mayCreateSchema) return [];
    const fix = `Run as the owner of the database: CREATE SCHEMA ${schema} AUTHORIZATION ${role};`;
    return [fail(`the schema ${schema} does not exist, and the user ${user} may not create it`, fix)];
  }
  if (!mayUseSchema || (!hasTables && !mayCreateTables)) {
    const fix = `Run as the owner of the schema: GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role};`;
    return [fail(`the user ${user} may not ${mayUseSchema ? "create tables in" : "use"} the schema ${schema}`, fix)];
  }
  if (forbidden.length > 0) {
    const tables = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};`;
    const sequences = `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role};`;
    const reason =
      `the user ${user} may not read and write all tables of the schema ${schema}: ` + `${forbidden.join(", ")}`;
    return [fail(reason, `Run as the owner of the tables: ${tables} ${sequences}`)];
  }
  if (otherOwner === null) return [];
  const reason =
    `the tables belong to ${otherOwner}, so the user ${user} cannot change them for a later ` +
    "version of the gateway";
  return [warn(reason, `Run as an administrator: GRANT ${quoted(otherOwner)} TO ${role};`)];
}

function nodeFindings({ connectionsLeft, sharedNames }: Facts): readonly StoreFinding[] {
  const found = sharedNames.map((name) =>
    fail(
      `more than one gateway runs under the node name ${name}, and each takes the work of the other`,
      "Give each gateway a gateway.node and a state directory of its own.",
    ),
  );
  if (connectionsLeft >= connectionsOfGateway) return found;
  const reason =
    `${Math.max(0, connectionsLeft)} connections to the database are left, and one more ` +
    `gateway uses up to ${connectionsOfGateway}`;
  return [
    ...found,
    warn(reason, "Raise max_connections of the server, or the connection limits of the database and the user."),
  ];
}

/** The nodes correct the difference, but the times in their logs differ by it. */
export function clockFindings(aheadMs: number): readonly StoreFinding[] {
  if (Math.abs(aheadMs) < 2_000) return [];
  const seconds = `${(Math.abs(aheadMs) / 1_000).toFixed(1)} s`;
  const reason = `the clock of this machine is ${seconds} ${aheadMs > 0 ? "ahead of" : "behind"} that of the database`;
  return [warn(reason, "Synchronize the clocks of all machines, for example with chrony.")];
}

export function notificationFindings(arrived: boolean): readonly StoreFinding[] {
  if (arrived) return [];
  const reason =
    "notifications of the database do not arrive, as behind a pooler in transaction mode: a node learns of " +
    "the others' events and of /stop up to 1 s later";
  return [
    warn(
      reason,
      "Add listen=HOST:PORT to state.url, with the address of the database itself for the one connection that listens.",
    ),
  ];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
