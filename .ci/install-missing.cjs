// Before `npm start`, `npm test` and `npm run check`: installs what the lock file names and this clone lacks.
// CommonJS and old syntax on purpose: it runs under whatever Node the host has, and brings the right one.
const { existsSync, readFileSync } = require("node:fs");
const { execSync } = require("node:child_process");
const { join } = require("node:path");

const root = join(__dirname, "..");
process.chdir(root);

/**
 * True when every package of the lock file that this platform takes is there, in the version that the lock file names.
 */
function complete() {
  try {
    const wanted = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
    const present = JSON.parse(readFileSync("node_modules/.package-lock.json", "utf8")).packages;
    for (const [path, entry] of Object.entries(wanted)) {
      if (path === "" || entry.optional || entry.peer) continue;
      if (!present[path] || present[path].version !== entry.version) return false;
    }
    return existsSync(join("node_modules", ".bin", process.platform === "win32" ? "node.cmd" : "node"));
  } catch {
    return false;
  }
}

if (!complete()) {
  console.log("Installing what package-lock.json names (once, about half a minute) ...");
  // `install`, not `ci`: it adds what is missing, where `ci` would first empty the folder; the lock file holds either
  // way.
  try {
    execSync("npm install --no-audit --no-fund --loglevel=error", { stdio: "inherit" });
  } catch {
    // npm has printed the cause. A stack of this file would only hide it.
    console.error(
      `error: npm could not install the packages in ${root}.\n` +
        "       Check that this machine reaches the registry of npm, and that you may write into this folder.",
    );
    process.exitCode = 1;
  }
}
