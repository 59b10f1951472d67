/** The commands with which an operator copies the database and restores it. */
import type { StoreCommands } from "service-gateway/sdk/store";
import { defaultSchema, ownParameters } from "./pool.ts";

const file = "gateway.dump";

export function copyCommands(url: string): StoreCommands {
  const address = new URL(url);
  const schema = address.searchParams.get("schema") ?? defaultSchema;
  for (const own of [...ownParameters, "password"]) address.searchParams.delete(own);
  // The programs ask for it, or read it from PGPASSWORD or ~/.pgpass. A command line is visible to other users.
  address.password = "";
  const database = quoted(address.href);
  return {
    backup: `pg_dump --format=custom --schema=${quoted(schema)} --file=${file} ${database}`,
    restore: `pg_restore --exit-on-error --dbname=${database} ${file}`,
  };
}

const quoted = (word: string): string => (/^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
