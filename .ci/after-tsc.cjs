// What a build needs besides `tsc`, into `dist` or the directory that is named.
const { join } = require("node:path");

const target = process.argv[2] ?? join(__dirname, "..", "dist");
require("./copy-assets.cjs").copyAssets(target);
require("./bundle-typebox.cjs")
  .bundleTypebox(target)
  .then(() => require("./bundle-program.cjs").bundleCompiled(target))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
