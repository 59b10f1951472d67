// Adds up the JSON reports of the test runs and prints `N passed, N failed`. A report that is missing counts as a
// failure.
const { readFileSync } = require("node:fs");

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    passed += report.numPassedTests;
    // A file that cannot even be loaded has no tests to count.
    const unloadable = report.testResults.filter(
      (result) => result.status === "failed" && result.assertionResults.length === 0,
    ).length;
    failed += report.numFailedTests + unloadable;
  } catch {
    failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
