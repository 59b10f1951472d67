// After `tsc`: what the compiled code reads at run time and the compiler leaves behind (pages, styles, pictures,
// templates).
const { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const templates = join("core", "cli", "plugins", "templates");
const style = join("core", "sdk", "page", "style.css");

/** The libraries of the console's page: browsers load them as they are, without a build. */
const pageLibraries = {
  "preact.js": "preact/dist/preact.mjs",
  "hooks.js": "preact/hooks/dist/hooks.mjs",
  "htm.js": "htm/dist/htm.mjs",
  "qr.js": "uqr/dist/index.mjs",
};

/** Returns the files of libraries that it has copied. */
function copyAssets(target) {
  cpSync(join(root, "plugins"), join(target, "plugins"), {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || !/\.(ts|md)$/.test(path),
  });
  cpSync(join(root, templates), join(target, templates), { recursive: true });
  cpSync(join(root, style), join(target, style));
  const libraries = join(target, "plugins", "console", "page", "libraries");
  return Object.entries(pageLibraries).map(([file, path]) => {
    const from = join(root, "node_modules", path);
    const code = readFileSync(from, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
    mkdirSync(libraries, { recursive: true });
    writeFileSync(join(libraries, file), `// node_modules/${path}\n${code.trim()}\n`);
    return from;
  });
}

module.exports = { copyAssets };
