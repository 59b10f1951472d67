import { expect, test } from "vitest";
import { copyCommands } from "../../../plugins/store-postgres/commands.ts";

test("the commands for a copy name the schema and the database, and never the password", () => {
  const plain = copyCommands("postgres://gateway:secret-word@db.example.org:5433/gateway");
  expect(plain).toEqual({
    backup:
      "pg_dump --format=custom --schema=service_gateway --file=gateway.dump " +
      "'postgres://gateway@db.example.org:5433/gateway'",
    restore: "pg_restore --exit-on-error --dbname='postgres://gateway@db.example.org:5433/gateway' gateway.dump",
  });
  const other = copyCommands(
    "postgres://u:secret-word@h/d?schema=it%27s&lease=30&sslmode=require&password=secret-word",
  );
  expect(other.backup).toBe(
    "pg_dump --format=custom --schema='it'\\''s' --file=gateway.dump 'postgres://u@h/d?sslmode=require'",
  );
});
