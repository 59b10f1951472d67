// Before `npm run test:all`: installs the makers' own clients and the servers of others, which judge the stand-ins of the
// chat platforms. They are large, so they have a folder of their own; `npm start` and `npm test` do without them.
const { readFileSync } = require("node:fs");
const { execSync } = require("node:child_process");
const { join } = require("node:path");

const folder = join(__dirname, "..", "test", "clients");

/** True when the folder holds what its lock file names, in the same versions. */
function complete() {
  try {
    const read = (file) => JSON.parse(readFileSync(join(folder, file), "utf8")).packages;
    const present = read("node_modules/.package-lock.json");
    return Object.entries(read("package-lock.json")).every(
      ([path, { version, optional }]) => path === "" || optional || present[path]?.version === version,
    );
  } catch {
    return false;
  }
}

if (!complete()) {
  console.log("Installing the makers' clients into test/clients (once, about ten seconds) ...");
  try {
    execSync("npm ci --ignore-scripts --no-audit --no-fund --loglevel=error", { cwd: folder, stdio: "inherit" });
  } catch {
    console.error(
      `error: npm could not install the clients that tests use, in ${folder}.\n` +
        "       Check that this machine reaches the registry of npm. `npm test` does not need them.",
    );
    process.exitCode = 1;
  }
}
