/** Executes SQL by its text. Each statement is compiled once per connection, at its first use. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export interface Statements {
  /** How many statements have changed data so far. Failed statements do not count. */
  writes(): number;
  /** The first row. */
  one<Row>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  /**
   * The first row as a list of columns. Used for rows sent between threads, where column names would cost more than the
   * values.
   */
  oneList<Row extends readonly unknown[]>(sql: string, ...values: readonly SQLInputValue[]): Row | undefined;
  allLists<Row extends readonly unknown[]>(sql: string, ...values: readonly SQLInputValue[]): readonly Row[];
  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly SQLInputValue[]): number;
  /** Returns the id of the inserted row. */
  insert(sql: string, ...values: readonly SQLInputValue[]): number;
}

export function createStatements(db: DatabaseSync): Statements {
  const compiler = (lists: boolean) => {
    const compiled = new Map<string, StatementSync>();
    return (sql: string): StatementSync => {
      let statement = compiled.get(sql);
      if (!statement) {
        statement = db.prepare(sql);
        statement.setReturnArrays(lists);
        compiled.set(sql, statement);
      }
      return statement;
    };
  };
  const prepare = compiler(false);
  const prepareLists = compiler(true);
  let writes = 0;
  // A statement that is not a SELECT, such as UPDATE with RETURNING.
  const countIfWrites = (sql: string) => {
    if (!sql.startsWith("SELECT")) writes += 1;
  };
  return {
    writes: () => writes,
    one: <Row>(sql: string, ...values: readonly SQLInputValue[]) => {
      countIfWrites(sql);
      return prepare(sql).get(...values) as Row | undefined;
    },
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepare(sql).all(...values) as unknown as readonly Row[],
    oneList: <Row>(sql: string, ...values: readonly SQLInputValue[]) => {
      countIfWrites(sql);
      return prepareLists(sql).get(...values) as Row | undefined;
    },
    allLists: <Row>(sql: string, ...values: readonly SQLInputValue[]) =>
      prepareLists(sql).all(...values) as unknown as readonly Row[],
    run: (sql, ...values) => {
      const changes = Number(prepare(sql).run(...values).changes);
      if (changes > 0) writes += 1;
      return changes;
    },
    insert: (sql, ...values) => {
      const id = Number(prepare(sql).run(...values).lastInsertRowid);
      writes += 1;
      return id;
    },
  };
}
