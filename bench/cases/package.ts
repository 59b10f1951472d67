/** The published program: the time until it is ready, its memory use at rest, its size. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Size, sizesOfInstallation, sizesOfPackage } from "../../test/support/installed-size.ts";
import { packPackage } from "../../test/support/packed-package.ts";
import { freePort } from "../../test/support/ports.ts";
import { inWorkshop, residentMb, type Workshop } from "./processes.ts";
import { atMost, type Bench, median, type Result, spread } from "./report.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Compiles the package into the working directory; the libraries are the repository's. */
export function build(workshop: Workshop): string {
  const target = join(workshop.directory, "package");
  mkdirSync(target);
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(join(root, file), join(target, file));
  symlinkSync(join(root, "node_modules"), join(target, "node_modules"), "junction");
  execFileSync(process.execPath, [
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    join(root, "tsconfig.build.json"),
    "--outDir",
    join(target, "dist"),
  ]);
  execFileSync(process.execPath, [join(root, ".ci/build-program.cjs"), join(target, "dist")]);
  return join(target, "dist/core/cli/main.js");
}

async function untilReady(port: number): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; ) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    await sleep(2);
  }
  throw new Error("the gateway was not ready within 30 s");
}

async function startMs(workshop: Workshop, main: string, config: string, port: number): Promise<number> {
  const begun = performance.now();
  const child = workshop.startFile(main, ["gateway", "--config", config]);
  await untilReady(port);
  const ms = performance.now() - begun;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  return ms;
}

function emptyMs(): number {
  const begun = performance.now();
  execFileSync(process.execPath, ["-e", "0"]);
  return performance.now() - begun;
}

export const start: Bench = {
  name: "start",
  summary: "from the start of the process to /readyz 200, caches warm",
  run: ({ rounds }) =>
    inWorkshop(async (workshop) => {
      const port = await freePort();
      const config = workshop.config("start", {
        gateway: { port },
        hooks: { enabled: true, token: "bench-hook-token-123456" },
      });
      const mains = { "published package": build(workshop), "repository, TypeScript": join(root, "core/cli/main.js") };
      const times = new Map<string, number[]>(Object.keys(mains).map((name) => [name, []]));
      const empty: number[] = [];
      for (let round = -2; round < rounds * 2; round += 1) {
        for (const [name, main] of Object.entries(mains)) {
          const ms = await startMs(workshop, main, config, port);
          if (round >= 0) times.get(name)?.push(ms);
        }
        if (round >= 0) empty.push(emptyMs());
      }
      return [...times].map(
        ([name, all]): Result => ({
          name: "start",
          figure: `ms to ready, ${name}; reference: node -e 0`,
          ours: spread(all, 0),
          reference: spread(empty, 0),
          measure: `ratio ${spread(
            all.map((ms, index) => ms / (empty[index] ?? Number.NaN)),
            1,
          )}`,
          ...atMost(median(all), 600, " ms"),
        }),
      );
    }),
};

export const memory: Bench = {
  name: "memory",
  summary: "resident memory at rest, ten seconds after the start",
  run: () =>
    inWorkshop(async (workshop) => {
      const main = build(workshop);
      const { first } = await workshop.talk<{ readonly url: string; readonly tokens: readonly string[] }>(
        "chat-platform.ts",
        ["idle_bot"],
      );
      const hooks = { enabled: true, token: "bench-hook-token-123456" };
      const botchat = { botToken: first.tokens[0], apiRoot: first.url };
      const configs = {
        "hooks only": workshop.config("hooks-only", { hooks }),
        "hooks and a connected bot": workshop.config("with-bot", { hooks, channels: { botchat } }),
      };
      const empty = workshop.startFile("-e", ["setInterval(() => {}, 1000)"]);
      const results: Result[] = [];
      for (const [name, config] of Object.entries(configs)) {
        const child = workshop.startFile(main, ["gateway", "--config", config]);
        await sleep(10_000);
        const [ours, reference] = [residentMb(child.pid ?? 0), residentMb(empty.pid ?? 0)];
        child.kill("SIGTERM");
        results.push({
          name: "memory",
          figure: `MB resident after 10 s, ${name}; reference: an empty node`,
          ours: ours.toFixed(0),
          reference: reference.toFixed(0),
          measure: `ratio ${(ours / reference).toFixed(2)}`,
          ...atMost(ours, 110, " MB"),
        });
      }
      return results;
    }),
};

export const size: Bench = {
  name: "size",
  summary: "the package with its dependencies on the disk, as npm installs it",
  run: () =>
    inWorkshop(async (workshop) => {
      const [made, home] = [join(workshop.directory, "made"), join(workshop.directory, "home")];
      for (const directory of [made, home]) mkdirSync(directory);
      writeFileSync(join(home, "package.json"), "{}");
      execFileSync(
        "npm",
        [
          "install",
          packPackage(made, home),
          "--omit=dev",
          "--ignore-scripts",
          "--prefer-offline",
          "--no-audit",
          "--no-fund",
          "--loglevel=error",
        ],
        { cwd: home, stdio: ["ignore", "ignore", "inherit"] },
      );
      const sizes = sizesOfInstallation(home);
      const of = (own: readonly Size[]) => own.reduce((sum, [, megabytes]) => sum + megabytes, 0);
      const [all, itself] = [of(sizes), of(sizesOfPackage(join(home, "node_modules", "service-gateway")))];
      return [
        {
          name: "size",
          figure: "MB on the disk; reference: the package without its dependencies",
          ours: all.toFixed(0),
          reference: itself.toFixed(0),
          measure: `ratio ${(all / itself).toFixed(1)}`,
          ...atMost(all, 60, " MB"),
        },
      ];
    }),
};
