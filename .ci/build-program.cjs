// Builds the package, in `dist` or in the directory that is named: the program, the libraries that it contains and
// their licences, and the files that it reads. `tsc` has written the declarations there before; those that users read
// stay.
const { join } = require("node:path");

const root = join(__dirname, "..");
const target = process.argv[2] ?? join(root, "dist");
const { bundleLibrary } = require("./bundle-library.cjs");
const { bundleProgram, bundleGuest } = require("./bundle-program.cjs");
const { containedLibraries: libraries, libraryFiles: files } = require("./contained-libraries.cjs");
const { pruneDeclarations } = require("./prune-declarations.cjs");
const { writeLicences } = require("./write-licences.cjs");

const copied = require("./copy-assets.cjs").copyAssets(target);
pruneDeclarations(target);
Promise.all([
  ...Object.entries(files).map(([name, file]) => bundleLibrary(name, join(target, file))),
  bundleProgram({ from: root, to: target, files, libraries }),
  bundleGuest({ from: root, to: target }),
])
  .then((modules) => writeLicences([...copied, ...modules.flat()], join(target, "THIRD-PARTY-LICENSES")))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
