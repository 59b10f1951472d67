/**
 * Events that wait to be stored, in batches of one transaction each. Of one lane, only one batch is under way, so that
 * its order stays.
 */

/** Limits of one batch. An event that follows another shares its transaction, whatever the limits. */
const maxEvents = 256;
const maxCharacters = 4_000_000;

interface Facts {
  readonly lane: string;
  readonly characters: number;
  /** The event shares the transaction of the one before it. */
  readonly follows: boolean;
}

export interface AcceptanceQueue<Item> {
  add(item: Item): void;
  /** The next batch; empty if nothing waits, or only events of lanes whose batch is under way. */
  take(): readonly Item[];
  /** The batch is stored, or has failed. */
  done(batch: readonly Item[]): void;
}

export function createAcceptanceQueue<Item>(factsOf: (item: Item) => Facts): AcceptanceQueue<Item> {
  /** Each group is an event with those that follow it. */
  let groups: Item[][] = [];
  const underWay = new Set<string>();

  return {
    add(item) {
      const last = groups.at(-1);
      if (factsOf(item).follows && last !== undefined) last.push(item);
      else groups.push([item]);
    },

    take() {
      const batch: Item[] = [];
      const left: Item[][] = [];
      // A group that waits keeps later ones of its lanes waiting.
      const waiting = new Set(underWay);
      let characters = 0;
      for (const [index, group] of groups.entries()) {
        const facts = group.map(factsOf);
        const total = facts.reduce((sum, each) => sum + each.characters, 0);
        const isFull = batch.length > 0 && (batch.length >= maxEvents || characters + total > maxCharacters);
        if (isFull) {
          left.push(...groups.slice(index));
          break;
        }
        if (facts.some(({ lane }) => waiting.has(lane))) {
          left.push(group);
          for (const { lane } of facts) waiting.add(lane);
        } else {
          batch.push(...group);
          characters += total;
        }
      }
      groups = left;
      for (const item of batch) underWay.add(factsOf(item).lane);
      return batch;
    },

    done(batch) {
      for (const item of batch) underWay.delete(factsOf(item).lane);
    },
  };
}
