// The package without its declarations, which `tsc` writes: the program, the libraries that it contains, and the files
// that it reads. Into `dist` or the directory that is named.
const { join } = require("node:path");

const root = join(__dirname, "..");
const target = process.argv[2] ?? join(root, "dist");
const { bundleProgram, bundleGuest } = require("./bundle-program.cjs");
require("./copy-assets.cjs").copyAssets(target);
Promise.all([
  require("./bundle-typebox.cjs").bundleTypebox(join(target, "libraries", "typebox.js")),
  bundleProgram({ from: root, to: target, schemas: "libraries/typebox.js" }),
  bundleGuest({ from: root, to: target }),
]).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
