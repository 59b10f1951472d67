// After `tsc`: what the compiled code reads at run time and the compiler leaves behind (pages, styles, pictures,
// templates).
const { cpSync, statSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const templates = join("core", "cli", "plugins", "templates");

function copyAssets(target) {
  cpSync(join(root, "plugins"), join(target, "plugins"), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !/\.(ts|md)$/.test(path),
  });
  cpSync(join(root, templates), join(target, templates), { recursive: true });
}

module.exports = { copyAssets };
