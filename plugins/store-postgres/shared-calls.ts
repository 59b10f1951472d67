/** Calls of one function: those that wait while others run are made together, in one statement and one transaction. */
import { isBadValue, translatedState } from "./failure.ts";
import type { Database, Values } from "./pool.ts";

/** Below 64, the number of attempts in a transaction that PostgreSQL keeps in shared memory. */
const maxCalls = 32;
/** While one transaction waits for the disk, the next one is executed. */
const maxTransactions = 2;

interface Waiting {
  readonly values: Values;
  resolve(rows: readonly unknown[]): void;
  reject(error: unknown): void;
}

interface Result {
  readonly ord: number;
  readonly result: readonly unknown[] | null;
  readonly failure: string | null;
  readonly message: string | null;
}

/** Makes a call, alone or with others. Rejects if it fails, whatever becomes of the others. */
export type SharedCall = <Row>(values: Values) => Promise<readonly Row[]>;

/** `schema/` has a function `try_` for each function whose calls are shared. */
export function createSharedCalls(database: Pick<Database, "call" | "calls">, name: "say" | "settle"): SharedCall {
  let waiting: Waiting[] = [];
  let running = 0;
  let planned = false;

  async function callEach(batch: readonly Waiting[]): Promise<void> {
    for (const { values, resolve, reject } of batch) await database.call(name, values).then(resolve, reject);
  }

  async function callTogether(batch: readonly Waiting[]): Promise<void> {
    try {
      const lists = batch.map(({ values }) => values);
      for (const { ord, result, failure, message } of await database.calls<Result>(`try_${name}`, lists)) {
        if (failure === null) batch[ord]?.resolve(result ?? []);
        else batch[ord]?.reject(translatedState(failure, message ?? ""));
      }
    } catch (error) {
      // A value that cannot even be read makes the whole statement fail, so each call is made by itself.
      if (isBadValue(error)) await callEach(batch);
      else for (const { reject } of batch) reject(error);
    }
  }

  function pump(): void {
    planned = false;
    while (running < maxTransactions && waiting.length > 0) {
      const batch = waiting.slice(0, maxCalls);
      waiting = waiting.slice(maxCalls);
      running += 1;
      void (batch.length === 1 ? callEach(batch) : callTogether(batch)).then(() => {
        running -= 1;
        pump();
      });
    }
  }

  return <Row>(values: Values) =>
    new Promise<readonly Row[]>((resolve, reject) => {
      waiting.push({ values, resolve: (rows) => resolve(rows as readonly Row[]), reject });
      if (planned || running === maxTransactions) return;
      planned = true;
      // What ends in the same turn of the event loop shares the transaction.
      setImmediate(pump);
    });
}
