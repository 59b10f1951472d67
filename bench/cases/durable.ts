/**
 * Hooks of the published program against the same work written by hand: fastify, the same rows, SQLite with FULL, one
 * flush for all waiting requests.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "./package.ts";
import { hookToken, inWorkshop, type Load, load, residentMb, type Workshop } from "./processes.ts";
import { atLeast, atMost, type Bench, median, paired, type Result, spread } from "./report.ts";

const connections = [1, 16, 128];
const seconds = 1.5;
/** Size of a note in addition to the fields of every wake, with parentheses and quotes as in real text. */
const bodyBytes = 1_024;
const restMs = 10_000;
/** The least ratio to the reference with 16 connections. */
const targets = { wake: 0.65, template: 0.65 } as const;

const mapping = { action: "wake", wakeMode: "next-heartbeat", textTemplate: "{{ text }}: {{ note }}" };
const transform = "export default ({ payload }) => ({ text: payload.text + ': ' + payload.note });\n";

/** Starts the published program with its defaults, and returns its address. */
async function startShipped(workshop: Workshop, main: string, name: string, hooks: object) {
  const child = workshop.startFile(main, [
    "gateway",
    "--config",
    workshop.config(name, { hooks: { enabled: true, token: hookToken, ...hooks } }),
  ]);
  const description = join(workshop.directory, name, "gateway.json");
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      const { url } = JSON.parse(readFileSync(description, "utf8")) as { readonly url: string };
      if ((await fetch(`${url}/healthz`)).ok) return { url, pid: child.pid ?? 0 };
    } catch {
      // It is not ready yet.
    }
    await sleep(50);
  }
  throw new Error("the gateway did not start");
}

export const durable: Bench = {
  name: "durable",
  summary: "hooks of the shipped program against fastify with the same rows, each flushed",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      mkdirSync(join(workshop.directory, "transforms"));
      writeFileSync(join(workshop.directory, "transforms", "relay.mjs"), transform);
      const mappings = [
        { ...mapping, match: { path: "template" } },
        { ...mapping, match: { path: "transform" }, transform: { module: "relay.mjs" } },
      ];
      const main = build(workshop);
      const plain = await startShipped(workshop, main, "plain", {});
      await sleep(restMs);
      const atRest = residentMb(plain.pid);
      const ours = await startShipped(workshop, main, "ours", { mappings });
      await sleep(restMs);
      const withTransforms = residentMb(ours.pid);
      const reference = await workshop.start("durable-reference.ts", [
        join(workshop.directory, "reference"),
        hookToken,
      ]);

      const of = (url: string, path: string, count: number, digits: boolean): Promise<Load> =>
        load(url, {
          path: `/hooks/${path}`,
          connections: count,
          seconds,
          ...(digits ? { digits } : {}),
          ...(path === "wake" ? {} : { bytes: bodyBytes }),
        });
      const compared = async (
        path: string,
        against: { readonly url: string; readonly path: string },
        count: number,
        digits = false,
      ) => {
        const measured: { readonly ours: Load; readonly reference: Load }[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const first = round % 2 === 0 ? await of(against.url, against.path, count, digits) : undefined;
          const own = await of(ours.url, path, count, digits);
          measured.push({ ours: own, reference: first ?? (await of(against.url, against.path, count, digits)) });
        }
        return measured;
      };

      // The transform goes first, so that its first rounds run on a cold thread.
      const results: Result[] = [];
      for (const count of connections) {
        const measured = await compared("transform", { url: ours.url, path: "template" }, count);
        results.push(
          rate("transform of a 1 KB body; reference: the template", count, measured, count === 16 ? 0.75 : undefined),
        );
        if (count === 16)
          results.push(tail("transform, cold start included; reference: the template", count, measured, 2));
      }
      for (const path of ["wake", "template"] as const) {
        for (const count of connections) {
          const measured = await compared(path, { url: reference.readyText, path }, count);
          const figure = path === "wake" ? "wake; reference: by hand" : "template with a 1 KB body; reference: by hand";
          results.push(rate(figure, count, measured, count === 16 ? targets[path] : undefined));
          if (count === 1) results.push(tail(figure, count, measured, 2));
        }
      }
      const digits = await compared("template", { url: reference.readyText, path: "template" }, 16, true);
      results.push(
        rate("template with a 1 KB body and 40 digits in a text; reference: by hand", 16, digits, targets.template),
      );
      results.push({
        name: "durable",
        figure: "MB resident at rest with a transform loaded; reference: without",
        ours: withTransforms.toFixed(0),
        reference: atRest.toFixed(0),
        measure: `added ${(withTransforms - atRest).toFixed(0)} MB`,
        ...atMost(withTransforms - atRest, 25, " MB"),
      });
      return results;
    }),
};

type Measured = readonly { readonly ours: Load; readonly reference: Load }[];

function rate(figure: string, count: number, measured: Measured, target: number | undefined): Result {
  const [ours, reference] = [measured.map((round) => round.ours.rate), measured.map((round) => round.reference.rate)];
  const ratios = paired(ours, reference);
  return {
    name: "durable",
    figure: `requests a second, ${count} connection${count === 1 ? "" : "s"}, ${figure}`,
    ours: spread(ours, 0),
    reference: spread(reference, 0),
    measure: `ratio ${spread(ratios, 2)}`,
    ...(target === undefined ? {} : atLeast(median(ratios), target)),
  };
}

function tail(figure: string, count: number, measured: Measured, target: number): Result {
  const [ours, reference] = [measured.map((round) => round.ours.p99), measured.map((round) => round.reference.p99)];
  const ratios = paired(ours, reference);
  return {
    name: "durable",
    figure: `p99 in ms, ${count} connection${count === 1 ? "" : "s"}, ${figure}`,
    ours: spread(ours, 2),
    reference: spread(reference, 2),
    measure: `ratio ${spread(ratios, 2)}`,
    ...atMost(median(ratios), target),
  };
}
