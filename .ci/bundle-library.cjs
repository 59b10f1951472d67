// A library as one file.
const { mkdirSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");

const root = join(__dirname, "..");

/** Returns the files that it is made of. */
async function bundleLibrary(name, file) {
  const { rolldown } = await import("rolldown");
  const isRequired = file.endsWith(".cjs");
  const bundle = await rolldown({
    input: name,
    cwd: root,
    platform: "node",
    resolve: { conditionNames: ["node", isRequired ? "require" : "import"] },
  });
  const { output } = await bundle.generate({ format: isRequired ? "cjs" : "esm" });
  await bundle.close();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, output[0].code);
  return output[0].moduleIds;
}

module.exports = { bundleLibrary };
