/** How many times a second this process can do work that produces a text. */
import { performance } from "node:perf_hooks";

const milliseconds = 300;

/** Calls a second. The last character is read, because V8 does not build a concatenated text before it is read. */
function rate(work: () => string, batch: number): number {
  let calls = 0;
  let checksum = 0;
  const start = performance.now();
  let now = start;
  while (now - start < milliseconds) {
    for (let index = 0; index < batch; index += 1) {
      const text = work();
      checksum += text.charCodeAt(text.length - 1);
    }
    calls += batch;
    now = performance.now();
  }
  if (checksum === 0) throw new Error("nothing was rendered");
  return (calls * 1_000) / (now - start);
}

/** The rates of each work in each round, in turns. A first round is discarded, so that the compiler can finish. */
export function ratesByTurns<Name extends string>(
  works: Readonly<Record<Name, () => string>>,
  { rounds, batch }: { readonly rounds: number; readonly batch: number },
): Readonly<Record<Name, readonly number[]>> {
  const names = Object.keys(works) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (const name of names) rate(works[name], batch);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) rates[name].push(rate(works[name], batch));
  }
  return rates;
}
