/** Replaces the nodes with another version of the program, one at a time, as an operator does. */
import type { SoakNode } from "./node.ts";

export interface UpgradeOptions {
  readonly nodes: readonly SoakNode[];
  /** The number of events in all, and those sent so far. */
  readonly count: number;
  readonly sent: () => number;
  /** The version of the schema in the database. */
  readonly schemaVersion: () => Promise<number>;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Divides the events evenly: before the first replacement, between two of them, and after the last one. */
export async function upgradeNodes({ nodes, count, sent, schemaVersion }: UpgradeOptions): Promise<void> {
  console.log(`the schema has version ${await schemaVersion()}`);
  for (const [index, node] of nodes.entries()) {
    while (sent() < (count * (index + 1)) / (nodes.length + 1)) await sleep(50);
    const [began, before] = [performance.now(), sent()];
    await node.upgrade();
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(
      `${node.name} was replaced in ${seconds} s, during events ${before} to ${sent()}; the schema has ` +
        `version ${await schemaVersion()}`,
    );
  }
}
