import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** What went wrong in a run, for `summary.cjs`. An error outside every test fails the run without a failed test. */
interface Failures {
  passed: number;
  /** A file with the titles of a test in it, or a file that cannot be loaded. */
  tests: string[];
  /** With their stacks. */
  errors: string[];
}

/** Writes what failed to the file in `TEST_FAILURES`: the output of a run of thousands of tests is long. */
export default class FailuresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: Parameters<NonNullable<Reporter["onTestRunEnd"]>>[1]): void {
    const failures: Failures = { passed: 0, tests: [], errors: unhandled.map(described) };
    for (const module of modules) {
      const name = module.relativeModuleId;
      const cases = [...module.children.allTests()];
      failures.passed += cases.filter((test) => test.result().state === "passed").length;
      failures.tests.push(...cases.filter(isFailed).map((test) => `${name} > ${test.fullName}`));
      if (module.state() === "failed" && !cases.some(isFailed)) {
        const suites = [...module.children.allSuites()];
        const reasons = [module, ...suites].flatMap((part) => part.errors()).map(described);
        failures.tests.push(`${name} as a whole: ${reasons.join("\n")}`);
      }
    }
    const file = process.env.TEST_FAILURES;
    if (file !== undefined) writeFileSync(file, JSON.stringify(failures));
  }
}

function isFailed(test: TestCase): boolean {
  return test.result().state === "failed";
}

function described(error: { name?: string; message: string; stack?: string }): string {
  return error.stack ?? `${error.name ?? "Error"}: ${error.message}`;
}
