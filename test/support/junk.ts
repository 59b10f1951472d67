/**
 * What a source may send that is no message of it, and the one way to feed it to a handler: each kind once, then 10,000
 * in a row. The table of handlers (`test/house/handler-tests.ts`) names the test of each handler that does so.
 */
import { expect } from "vitest";
import { burst, junk } from "./junk-texts.ts";

export { burst, junk, junkTexts } from "./junk-texts.ts";

/** The log of faults has a line for the first of each kind, and for each tenfold. */
const linesOfKind = 5;

export interface Fed {
  /** Sends a value as the source would. */
  readonly send: (value: unknown) => unknown;
  /** Rejects if the next good message is not handled. */
  readonly works: () => unknown;
  /**
   * Lines of the log that name the source. Absent: what the source sends is no fault, such as a line of a program that
   * is logged itself.
   */
  readonly named?: () => readonly string[];
  /** Of how many kinds the faults are. */
  readonly kinds?: number;
}

/**
 * A handler is fed each kind of junk and a burst, and then a good message. Its source is named, a few times at most.
 */
export async function feedJunk({ send, works, named, kinds = 1 }: Fed): Promise<void> {
  for (const value of Object.values(junk)) await send(value);
  await works();
  for (let count = 0; count < burst; count += 1) await send(null);
  await works();
  if (named === undefined) return;
  expect(named().length).toBeGreaterThan(0);
  expect(named().length).toBeLessThanOrEqual(kinds * linesOfKind);
}
