// The schema library as one file. Its 373 modules, found and read one by one, were a fifth of every start.
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");

const library = join(__dirname, "..", "node_modules", "typebox");

async function bundleTypebox(file) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({ input: join(library, "build", "index.mjs"), platform: "node" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const license = readFileSync(join(library, "license"), "utf8").trim();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `/*\ntypebox\n\n${license}\n*/\n${output[0].code}`);
}

module.exports = { bundleTypebox };
