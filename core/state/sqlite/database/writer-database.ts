/** The context shared by all write operations in the writer thread. */
import { HostError } from "../../../contract/index.ts";
import type { Statements } from "./statements.ts";

/**
 * Running totals, so that `stats` never scans tables. `kept` counts the settled events still in the inbox, `commits`
 * the flushed commits.
 */
export type Total =
  | "waiting"
  | "running"
  | "outbox"
  | "kept"
  | "commits"
  | "answered"
  | "silent"
  | "refused"
  | "failed";

export interface WriteContext extends Statements {
  /** Adds to a total. Totals are written once per transaction. */
  count(total: Total, difference: number): void;
  /** Whether this process holds the fence, because no other process has taken it since. */
  holdsFence(): boolean;
  /** Throws `state_fenced` if this process does not hold the fence. */
  requireFence(): void;
  /** Raises the fence and takes it for this process. */
  takeFence(): number;
}

export interface TransactionContext extends WriteContext {
  /** Starts a transaction: discards totals of an earlier one and the cached fence. */
  open(): void;
  /** Writes the totals. Call it last in a transaction. */
  finish(): void;
  /** Runs one operation and undoes its totals if it throws. */
  guard<Result>(operation: () => Result): Result;
}

const addTo =
  "INSERT INTO numbers (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value";

export function createWriteContext(sql: Statements): TransactionContext {
  let totals = new Map<Total, number>();
  let ours: number | undefined;
  let current: number | undefined;

  const fence = (): number => {
    current ??= sql.one<{ value: number }>("SELECT value FROM numbers WHERE name = 'fence'")?.value ?? 0;
    return current;
  };

  const holdsFence = () => ours !== undefined && fence() === ours;

  return {
    ...sql,
    holdsFence,
    count(total, difference) {
      if (difference !== 0) totals.set(total, (totals.get(total) ?? 0) + difference);
    },
    requireFence() {
      if (!holdsFence()) throw new HostError("state_fenced");
    },
    takeFence() {
      ours = fence() + 1;
      current = ours;
      sql.run(
        "INSERT INTO numbers (name, value) VALUES ('fence', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        ours,
      );
      return ours;
    },
    open() {
      totals.clear();
      current = undefined;
    },
    finish() {
      for (const [total, difference] of totals) sql.run(addTo, total, difference);
      totals.clear();
    },
    guard(operation) {
      const before = new Map(totals);
      try {
        return operation();
      } catch (error) {
        totals = before;
        throw error;
      }
    },
  };
}
