/** A PostgreSQL server for the tests of one file. */
import { afterAll, beforeAll } from "vitest";
import { createPostgres, type PostgresServer } from "./postgres-server.ts";

/** Starts a server before the tests of a file, and removes it after them. */
export function usePostgres(): PostgresServer {
  const server = createPostgres();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  return server;
}
