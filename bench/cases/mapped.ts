/**
 * Mapped hooks against the durable `wake` of the same gateway: with a template, and with a transform in its process.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hookToken, inWorkshop, load, type Workshop } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, spread } from "./report.ts";

const seconds = 1.5;

/** The body is the same as a wake's, so that all paths store the same text. */
const mapping = { action: "wake", wakeMode: "next-heartbeat", textTemplate: "{{ text }}" };
const transform = "export default ({ payload }) => ({ text: payload.text });\n";

async function openGateway(workshop: Workshop): Promise<string> {
  mkdirSync(join(workshop.directory, "transforms"));
  writeFileSync(join(workshop.directory, "transforms", "relay.mjs"), transform);
  const mappings = [
    { ...mapping, match: { path: "template" } },
    { ...mapping, match: { path: "transform" }, transform: { module: "relay.mjs" } },
  ];
  const { readyText } = await workshop.start("gateway-process.ts", [
    workshop.config("mapped", { hooks: { enabled: true, token: hookToken, mappings } }),
  ]);
  for (const path of paths) await load(readyText, { path: `/hooks/${path}`, connections: 16, seconds: 1 });
  return readyText;
}

const paths = ["wake", "template", "transform"] as const;
type Path = (typeof paths)[number];

/** In turns, in a different order each round. */
async function measure(
  rounds: number,
  of: (path: Path) => Promise<number>,
): Promise<Readonly<Record<Path, readonly number[]>>> {
  const measured: Record<Path, number[]> = { wake: [], template: [], transform: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? paths : [...paths].reverse();
    for (const path of order) measured[path].push(await of(path));
  }
  return measured;
}

export const mapped: Bench = {
  name: "mapped",
  summary: "mapped hooks with a template and with a transform, against the durable wake of the same gateway",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const url = await openGateway(workshop);
      const rates = await measure(
        rounds,
        async (path) => (await load(url, { path: `/hooks/${path}`, connections: 128, seconds })).rate,
      );
      const medians = await measure(
        rounds,
        async (path) => (await load(url, { path: `/hooks/${path}`, connections: 1, seconds })).p50,
      );
      const rate = (path: "template" | "transform", target: number) => {
        const ratios = paired(rates[path], rates.wake);
        return {
          name: "mapped",
          figure: `requests a second with a ${path}, 128 connections; reference: wake`,
          ours: spread(rates[path], 0),
          reference: spread(rates.wake, 0),
          measure: `ratio ${spread(ratios, 2)}`,
          ...atLeast(median(ratios), target),
        };
      };
      const added = medians.transform.map((value, index) => value - (medians.template[index] ?? Number.NaN));
      return [
        rate("template", 0.75),
        rate("transform", 0.4),
        {
          name: "mapped",
          figure: "median ms of a request with a transform, 1 connection; reference: the same mapping without it",
          ours: spread(medians.transform, 2),
          reference: spread(medians.template, 2),
          measure: `added ${spread(added, 2)} ms`,
          ...atMost(median(added), 0.5, " ms"),
        },
      ];
    }),
};
