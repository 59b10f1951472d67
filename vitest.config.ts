import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * What `npm run test:all` runs beside `npm test`: kills in loops, several nodes, PostgreSQL, long sweeps of drawn
 * inputs, packing, and the kit's own tests. A file for costs or times is one of them.
 */
const full = "test/**/*.full.test.ts";
/**
 * What compares times: few files at once, when nothing else of the suite runs, and again when the machine had other
 * work.
 */
const timed = "test/**/*.timed.test.ts";
/** What compares the processor time of one thread, in a process of its own: other work beside it changes little. */
const costs = "test/**/*.cost.test.ts";
/** What takes longest, much of it waiting. */
const long =
  /\/(?:mailbox|imap-faults|imap-load|gmail-health|published|voice-kills|faults|nodes|contract|[a-z]+-contracts?)\.(?:full\.)?test/;
/** Files that mostly wait, for programs and servers; the others compute. */
const waiting = /\/(?:e2e|mail|store-postgres|cli|bench|isolation)\//;

/** Changes its own process, or measures it, so that it needs one that no other file has used. */
const alone = ["test/e2e/hook-flood.full.test.ts", "test/core/testkit/broken-channels.full.test.ts"];

/**
 * `SERVICE_TEST_STORE` runs the tests on another store than the embedded one; see `test/support/store/replacement.ts`.
 */
const otherStore = process.env.SERVICE_TEST_STORE !== undefined;
/** They test the files of the embedded store, fill their disk, or crash its thread. */
const ofEmbedded = ["mail-points", "earlier-state", "full-disk", "state-copy"].map(
  (name) => `test/e2e/${name}.full.test.ts`,
);
/** Packages of others have tests, too. */
const packages = "**/node_modules/**";
const left = otherStore ? ofEmbedded : [];

/** Many processes start at once in CI; the report names each test that needed a second attempt. */
const again = process.env.CI === undefined ? 0 : 1;

const setupFiles = [source("./test/support/own-directory.ts"), source("./test/support/seed.ts")];
/** Where no times are compared: users do not have it before their first transform. */
const keptEngine = source("./test/support/transform-engine.ts");

/**
 * Files that wait and files that compute take turns, so that both cores are busy all the time; what takes longest is in
 * the first half.
 */
class TakingTurns extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const kindOf = ({ project, moduleId }: TestSpecification) => {
      // A process that serves many files takes all of them before one is started for these.
      if (project.name === "own process") return "alone";
      return long.test(moduleId) ? "long" : waiting.test(moduleId) ? "waiting" : "computing";
    };
    const groups = Map.groupBy(
      await super.sort(files),
      (file) => `${file.project.config.sequence.groupOrder} ${kindOf(file)}`,
    );
    const placed = [...groups.values()].flatMap((group) =>
      group.map((file, index) => {
        const place = {
          alone: -1,
          long: index / group.length / 2,
          waiting: index / group.length,
          computing: index / group.length,
        };
        return { file, place: file.project.config.sequence.groupOrder + place[kindOf(file)] };
      }),
    );
    return placed.sort((one, other) => one.place - other.place).map(({ file }) => file);
  }
}

export default defineConfig({
  test: {
    pool: "forks",
    globalSetup: [source("./test/support/temporary.ts"), source("./test/support/program.ts")],
    // Node loads the modules, as it does for users: each test file would fetch them all from the test runner's own
    // loader.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--import", source(otherStore ? "./test/support/store/redirect.ts" : "./test/support/modules.ts")],
    // Child processes and worker threads of the tests strip and compile each file once, not at every start.
    env: {
      NODE_COMPILE_CACHE: source("./node_modules/.cache/tests"),
      ...(otherStore && { NODE_OPTIONS: `--import ${source("./test/support/store/redirect.ts")}` }),
    },
    // On two cores: with fewer, all of them wait at times; with more, each process warms up for less.
    maxWorkers: 8,
    sequence: { sequencer: TakingTurns },
    // Longer than a busy machine takes: what is waited for comes, or the test fails for another reason.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      // Nothing in the house is shared by a process, hence a process may serve many files.
      {
        extends: true,
        test: {
          name: "plain",
          retry: again,
          include: ["test/**/*.test.ts"],
          exclude: [full, timed, costs, packages],
          isolate: false,
          setupFiles: [...setupFiles, keptEngine],
        },
      },
      {
        extends: true,
        test: {
          name: "full",
          retry: again,
          include: [full],
          exclude: [...alone, ...left, packages],
          isolate: false,
          setupFiles: [...setupFiles, keptEngine],
        },
      },
      { extends: true, test: { name: "own process", include: alone, setupFiles } },
      { extends: true, test: { name: "costs", include: [costs], exclude: [packages], setupFiles, retry: 3 } },
      {
        extends: true,
        test: {
          name: "timed",
          include: [timed],
          exclude: [packages],
          setupFiles,
          maxWorkers: 2,
          retry: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
