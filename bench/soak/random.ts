/** Random numbers that a seed reproduces. */

export interface Random {
  /** From 0 (included) to 1 (excluded). */
  next(): number;
  between(least: number, most: number): number;
  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(share: number): boolean;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between: (least, most) => least + next() * (most - least),
    whole,
    pick(items) {
      const item = items[whole(0, items.length - 1)];
      if (item === undefined) throw new Error("There is nothing to pick from.");
      return item;
    },
    chance: (share) => next() < share,
  };
}
