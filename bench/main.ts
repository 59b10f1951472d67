/**
 * The benchmarks, run by `npm run bench`. Each is compared with a reference in the same run, in turns, because the
 * machine's speed varies.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { backlog } from "./cases/backlog.ts";
import { roundtrip, throughput } from "./cases/chat.ts";
import { durable } from "./cases/durable.ts";
import { mapped } from "./cases/mapped.ts";
import { outbox } from "./cases/outbox.ts";
import { memory, size, start } from "./cases/package.ts";
import { render } from "./cases/render.ts";
import { type Bench, columns, type Result, row } from "./cases/report.ts";
import { templates } from "./cases/template.ts";
import { slowFlush, wake } from "./cases/wake.ts";
import { countOf, mistyped, readCommandLine } from "./command-line.ts";

const benches: readonly Bench[] = [
  wake,
  durable,
  mapped,
  slowFlush,
  roundtrip,
  throughput,
  backlog,
  outbox,
  templates,
  render,
  start,
  memory,
  size,
];
const readme = new URL("./README.md", import.meta.url);
const marks = ["<!-- results -->", "<!-- end of results -->"] as const;

const help = `Measures each benchmark against a reference in the same run.

Usage: npm run bench -- [NAME ...] [options]

  --rounds N   so often each, by turns (5)
  --write      puts the figures of all of them into the table of bench/README.md
  --whole      to the very end, of what else is measured in parts: outbox

Example: npm run bench -- --rounds 3 wake start

${benches.map(({ name, summary }) => `  ${name.padEnd(11)}  ${summary}`).join("\n")}`;

const { positionals, values } = readCommandLine(
  {
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "5" },
      write: { type: "boolean", default: false },
      whole: { type: "boolean", default: false },
    },
  },
  help,
);
const rounds = countOf("--rounds", values.rounds);

function runOf({ name, run, whole }: Bench): () => Promise<readonly Result[]> {
  if (!values.whole) return () => run({ rounds });
  if (whole !== undefined && !values.write) return whole;
  const names = benches.filter((bench) => bench.whole !== undefined).map((bench) => bench.name);
  return mistyped(
    values.write
      ? "the table has no whole runs: leave out --write"
      : `there is no whole run of ${name}, but of ${names.join(", ")}`,
  );
}

function chosen(): readonly Bench[] {
  const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) mistyped(`there is no benchmark ${unknown.join(", ")}`);
  if (values.write && positionals.length > 0)
    mistyped("the table is of one run of all: leave out --write, or the names");
  return positionals.length === 0 ? benches : benches.filter(({ name }) => positionals.includes(name));
}

function print(result: Result): void {
  const { figure, ours, reference, measure, target, holds } = result;
  const verdict = target === undefined ? "" : `, ${target}: ${holds === true ? "holds" : "DOES NOT HOLD"}`;
  console.log(`  ${figure}\n    ours ${ours}, reference ${reference}, ${measure}${verdict}`);
}

function write(results: readonly Result[]): void {
  const machine =
    `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ` +
    `${process.versions.node}, ${process.platform}`;
  const table = [columns, columns.map(() => "---"), ...results.map(row)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
  const text = readFileSync(readme, "utf8");
  const from = text.indexOf(marks[0]) + marks[0].length;
  const to = text.indexOf(marks[1]);
  writeFileSync(
    readme,
    `${text.slice(0, from)}\n\n${new Date().toISOString().slice(0, 10)}, ${machine}.\n\n${table}\n\n${text.slice(to)}`,
  );
}

const results: Result[] = [];
for (const { bench, run } of chosen().map((bench) => ({ bench, run: runOf(bench) }))) {
  console.log(`${bench.name}: ${bench.summary}`);
  const found = await run();
  for (const result of found) print(result);
  results.push(...found);
}
if (values.write) write(results);
const missed = results.filter(({ holds }) => holds === false);
console.log(
  missed.length === 0 ? "Every target holds." : `${missed.length} of ${results.length} figures miss their target.`,
);
