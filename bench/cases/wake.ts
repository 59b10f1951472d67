/** A durable `wake`: each answer waits for its flushed commit. */
import { hookToken, inWorkshop, type Load, load } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, type Result, spread } from "./report.ts";

const connections = [1, 16, 128];
const rateTargets: Readonly<Record<number, number>> = { 16: 0.4, 128: 0.8 };
const seconds = 1.5;

export const wake: Bench = {
  name: "wake",
  summary: "durable wake against the same server with the same checks and no store",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const ours = await workshop.start("gateway-process.ts", [
        workshop.config("wake", { hooks: { enabled: true, token: hookToken } }),
      ]);
      const reference = await workshop.start("wake-reference.ts", [hookToken]);
      for (const { readyText } of [ours, reference]) await load(readyText, { connections: 16, seconds: 1 });
      const results: Result[] = [];
      for (const count of connections) {
        const measured: { readonly ours: Load; readonly reference: Load }[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const first = round % 2 === 0 ? reference : ours;
          const a = await load(first.readyText, { connections: count, seconds });
          const b = await load(first === ours ? reference.readyText : ours.readyText, { connections: count, seconds });
          measured.push(first === ours ? { ours: a, reference: b } : { ours: b, reference: a });
        }
        results.push(...compare(count, measured));
      }
      return results;
    }),
};

function compare(
  count: number,
  measured: readonly { readonly ours: Load; readonly reference: Load }[],
): readonly Result[] {
  const of = (side: "ours" | "reference", what: "rate" | "p99") => measured.map((round) => round[side][what]);
  const rates = paired(of("ours", "rate"), of("reference", "rate"));
  const target = rateTargets[count];
  const rate: Result = {
    name: "wake",
    figure: `requests a second, ${count} connection${count === 1 ? "" : "s"}`,
    ours: spread(of("ours", "rate"), 0),
    reference: spread(of("reference", "rate"), 0),
    measure: `ratio ${spread(rates, 2)}`,
    ...(target === undefined ? {} : atLeast(median(rates), target)),
  };
  if (count !== 16) return [rate];
  const tails = paired(of("ours", "p99"), of("reference", "p99"));
  const tail: Result = {
    name: "wake",
    figure: "p99 in ms, 16 connections, checkpoints included",
    ours: spread(of("ours", "p99"), 2),
    reference: spread(of("reference", "p99"), 2),
    measure: `ratio ${spread(tails, 2)}`,
    ...atMost(median(tails), 2.5),
  };
  return [rate, tail];
}

export const slowFlush: Bench = {
  name: "slow-flush",
  summary: "other requests while each flush takes 10 ms longer",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const hooks = { hooks: { enabled: true, token: hookToken } };
      const slow = await workshop.start("gateway-process.ts", [
        workshop.config("slow", hooks),
        "--slow-flush-ms",
        "10",
      ]);
      const quick = await workshop.start("gateway-process.ts", [workshop.config("quick", hooks)]);
      const measured: { readonly ours: Load; readonly reference: Load }[] = [];
      const probe = async (url: string) => {
        const busy = load(url, { connections: 128, seconds: 3 });
        const health = await load(url, { connections: 2, seconds: 2.5, rate: 50, get: true, path: "/healthz" });
        await busy;
        return health;
      };
      for (let round = 0; round < rounds; round += 1)
        measured.push({ reference: await probe(quick.readyText), ours: await probe(slow.readyText) });
      const ours = measured.map((round) => round.ours.p99);
      const reference = measured.map((round) => round.reference.p99);
      return [
        {
          name: "slow-flush",
          figure: "/healthz p99 in ms beside 128 wakes at once, 10 ms added to each flush; the reference without them",
          ours: spread(ours, 1),
          reference: spread(reference, 1),
          measure: `ratio ${spread(paired(ours, reference), 2)}`,
          ...atMost(median(ours), 10, " ms"),
        },
      ];
    }),
};
