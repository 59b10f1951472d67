/**
 * A process that takes events in: `acceptor.ts DIRECTORY PREFIX COUNT`. Prints each id once it is acknowledged.
 * With a count of `forever` it goes on until it is killed. It never closes the store.
 */
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";

const [, , directory = "", prefix = "", count = "forever"] = process.argv;
const store = await openSqliteStore({ directory, now: () => 0 });
const last = count === "forever" ? Number.POSITIVE_INFINITY : Number(count);
let begun = 0;

async function caller(): Promise<void> {
  while (begun < last) {
    begun += 1;
    const id = `${prefix}-${begun}`;
    await store.accept({
      id,
      at: begun,
      event: {
        source: "hooks",
        kind: "wake",
        lane: prefix,
        authority: "hook",
        dedupeKey: id,
        body: { text: "x".repeat(200) },
      },
    });
    process.stdout.write(`${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, caller));
