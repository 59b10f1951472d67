/** SQL by its text: each statement is compiled once per connection, at its first use. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export interface Statements {
  /** How many statements that write were run so far. */
  writes(): number;
  /** First row. */
  one<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  /** Number of rows changed. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
  /** Id of the row inserted. */
  insert(sql: string, ...values: readonly SQLInputValue[]): number;
}

export function createStatements(db: DatabaseSync): Statements {
  const compiled = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = compiled.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      compiled.set(sql, statement);
    }
    return statement;
  };
  let writes = 0;
  return {
    writes: () => writes,
    one: <Row>(sql: string, ...values: readonly SQLInputValue[]) => {
      // An UPDATE with RETURNING.
      if (!sql.startsWith("SELECT")) writes += 1;
      return prepare(sql).get(...values) as Row | undefined;
    },
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) => prepare(sql).all(...values) as unknown as readonly Row[],
    run: (sql, ...values) => {
      writes += 1;
      return Number(prepare(sql).run(...values).changes);
    },
    insert: (sql, ...values) => {
      writes += 1;
      return Number(prepare(sql).run(...values).lastInsertRowid);
    },
  };
}
