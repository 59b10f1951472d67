// After `tsc`: the schema library as one file. Its 373 modules, found and read one by one, were a fifth of every start.
const { mkdirSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname, join, relative } = require("node:path");

const root = join(__dirname, "..");
const library = join(root, "node_modules", "typebox");
const imported = 'from "typebox";';

async function bundle(bundled) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({ input: join(library, "build", "index.mjs"), platform: "node" });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const license = readFileSync(join(library, "license"), "utf8").trim();
  mkdirSync(dirname(bundled), { recursive: true });
  writeFileSync(bundled, `/*\ntypebox\n\n${license}\n*/\n${output[0].code}`);
}

/** What `tsc` wrote asks for the one file; the types still come from the library itself. */
function point(target, bundled) {
  for (const name of readdirSync(target, { recursive: true })) {
    const file = join(target, name);
    if (!name.endsWith(".js") || file === bundled) continue;
    const code = readFileSync(file, "utf8");
    if (code.includes(imported)) writeFileSync(file, code.replaceAll(imported, `from "./${relative(dirname(file), bundled)}";`));
  }
}

async function bundleTypebox(target) {
  const bundled = join(target, "libraries", "typebox.js");
  await bundle(bundled);
  point(target, bundled);
}

module.exports = { bundleTypebox };
