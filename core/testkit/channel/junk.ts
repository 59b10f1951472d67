/** Events that a platform never sends, and events it may send one day. Every run yields the same ones. */
import type { Json } from "../../contract/index.ts";

type Random = () => number;

/** A small random number generator, from 0 to below 1, that depends on the seed alone. */
function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const plain: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  "",
  " ",
  "0",
  "x",
  "\ud800",
  "\u0000",
  "__proto__",
  [],
  {},
  [[]],
];

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

function junk(random: Random, names: readonly string[], depth: number): Json {
  const kind = random();
  if (depth === 0 || kind < 0.4) return pick(random, plain);
  const size = Math.floor(random() * 4);
  const values = Array.from({ length: size }, () => junk(random, names, depth - 1));
  if (kind < 0.55) return values;
  return Object.fromEntries(values.map((value) => [pick(random, names), value]));
}

function namesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner as Json)]);
}

/** The path of every place in a value, as keys from its root. */
function placesIn(value: Json): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [[]];
  return [
    [],
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner as Json).map((rest) => [key, ...rest])),
  ];
}

/** A copy with the value at one place replaced; `undefined` removes it. */
function changed(value: Json, [key, ...rest]: readonly string[], to: Json | undefined): Json | undefined {
  if (key === undefined) return to;
  const copy = structuredClone(value) as Record<string, Json>;
  const inner = changed(copy[key] as Json, rest, to);
  if (inner !== undefined) copy[key] = inner;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy;
}

/** How many values are made up from nothing. */
const madeUp = 10_000;

/** Each fixture with each of its places removed or replaced, and random values made of the fixtures' own words. */
export function* junkLike(fixtures: readonly Json[]): Generator<Json> {
  yield* plain;
  for (const fixture of fixtures) {
    for (const place of placesIn(fixture)) {
      for (const to of [undefined, ...plain]) yield changed(fixture, place, to) ?? null;
    }
  }
  const random = createRandom(20_261_124);
  const names = [...new Set(["id", "type", "text", ...fixtures.flatMap(namesIn)])];
  for (let count = 0; count < madeUp; count += 1) yield junk(random, names, 4);
}

/** Deeply frozen, so that any attempt to change it throws. */
export function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
