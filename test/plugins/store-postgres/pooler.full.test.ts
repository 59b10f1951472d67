/**
 * The same contract through PgBouncer, which gives each transaction any of its few connections. Skipped where it is not
 * installed.
 */
import { storeContract } from "service-gateway/testkit";
import { describe } from "vitest";
import { hasPooler, usePooler } from "../../support/pooler.ts";
import { usePostgres } from "../../support/postgres.ts";
import { contractOptions } from "./contract-options.ts";

describe.skipIf(!hasPooler)("behind a pooler in transaction mode", () => {
  const server = usePostgres();
  storeContract({ name: "the store in PostgreSQL", ...contractOptions(server, usePooler(server)) });
});
