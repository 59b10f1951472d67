// Prints what failed in the test runs, and `N passed, N failed`. A report that is missing counts as a failure, and so does
// an error outside every test.
const { readFileSync } = require("node:fs");
const { basename } = require("node:path");

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  const run = basename(file, ".json");
  let failures;
  try {
    failures = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    failures = { passed: 0, tests: [], errors: ["The run ended without a report."] };
  }
  passed += failures.passed;
  failed += failures.tests.length + failures.errors.length;
  for (const test of failures.tests) console.log(`${run}: failed: ${test}`);
  for (const error of failures.errors) console.log(`${run}: outside every test: ${error}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
