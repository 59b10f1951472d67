/** PostgreSQL servers for the tests of one file. */
import { afterAll, beforeAll } from "vitest";
import { onTestFinished } from "./own-test.ts";
import { createPostgres, type PostgresServer } from "./postgres-server.ts";

/** Starts a server before the tests of a file, and removes it after them. */
export function usePostgres(): PostgresServer {
  const server = createPostgres();
  beforeAll(() => server.start());
  afterAll(() => server.remove());
  return server;
}

/** Starts a server for one test, which may stop it without disturbing the others. */
export async function openOwnPostgres(): Promise<PostgresServer> {
  const server = createPostgres();
  onTestFinished(() => server.remove());
  await server.start();
  return server;
}
