/** What happens to the nodes and to their database, again and again. */
import type { PostgresServer } from "../../../test/support/postgres-server.ts";
import type { Random } from "../random.ts";
import type { SoakNode } from "./node.ts";

export const kinds = ["kill", "stop", "cut", "database crash", "database freeze"] as const;
export type Kind = (typeof kinds)[number];

export interface Fault {
  readonly kind: Kind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly detail: string;
}

export interface FaultsOptions {
  readonly nodes: readonly SoakNode[];
  readonly database: Pick<PostgresServer, "stop" | "start" | "freeze">;
  readonly random: Random;
  /** How long a node is stopped: longer than its lease. */
  readonly stopMs: () => number;
  /** So many faults in all. */
  readonly count: number;
  /** Resolves when the next fault may happen, of which `begun` have. */
  readonly pace: (begun: number) => Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Causes the faults, and resolves when the last one is over and the database answers. */
export async function causeFaults(options: FaultsOptions, faults: Fault[]): Promise<void> {
  const { nodes, database, random, stopMs, count, pace } = options;
  const under = new Set<Promise<void>>();
  let begun = 0;
  const note = (kind: Kind, detail: string) => void faults.push({ kind, at: Date.now(), detail });
  const run = (work: Promise<void>) => {
    under.add(work);
    void work.finally(() => under.delete(work));
  };

  async function breakDatabase(): Promise<void> {
    const forMs = random.whole(0, 2_000);
    if (random.chance(0.5)) {
      note("database freeze", `${forMs} ms`);
      return await database.freeze(forMs);
    }
    note("database crash", `${forMs} ms`);
    await database.stop();
    await sleep(forMs);
    await database.start();
  }

  async function cut({ name, wire }: SoakNode): Promise<void> {
    const way = random.pick(["all at once", "with a result", "after silence"] as const);
    const forMs = random.whole(500, 4_000);
    note("cut", `${name}, ${way}${way === "all at once" ? "" : `, within ${forMs} ms`}`);
    if (way === "all at once") return wire.cut();
    if (way === "after silence") return await wire.silence(forMs);
    wire.lose(random.whole(1, 5));
    await sleep(forMs);
    wire.lose(0);
  }

  function breakNode(): void {
    const up = nodes.filter((node) => node.isUp());
    // At most all but one are away at a time, so that the rest has their work to do.
    const node = random.pick(up.length > 1 ? up : nodes);
    const die = random.next();
    if (up.length > 1 && die < 0.45) {
      const downMs = random.whole(0, 2_000);
      note("kill", `${node.name}, down for ${downMs} ms`);
      node.kill(downMs);
    } else if (up.length > 1 && die < 0.6) {
      const forMs = stopMs();
      note("stop", `${node.name}, for ${forMs} ms`);
      run(node.pause(forMs));
    } else run(cut(node));
  }

  async function cause(
    breakOne: () => Promise<void> | void,
    between: readonly [least: number, most: number],
  ): Promise<void> {
    for (;;) {
      await sleep(random.between(...between));
      await pace(begun);
      if (begun >= count) return;
      begun += 1;
      await breakOne();
    }
  }

  await Promise.all([cause(breakDatabase, [5_000, 10_000]), cause(breakNode, [200, 2_600])]);
  await Promise.all(under);
}
