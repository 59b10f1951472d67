// `tsc` writes a declaration for every module. Users read those that the doors of the package lead to; the others, more
// than a third, are removed.
const { existsSync, globSync, readFileSync, rmSync } = require("node:fs");
const { dirname, join, relative } = require("node:path");

const { exports: doors } = require("../package.json");

/** The declaration of a module: beside it, with its name. */
const declarationOf = (module) => module.replace(/\.[jt]s$/, ".d.ts");

function pruneDeclarations(target) {
  const reached = new Set();
  const visit = (file) => {
    if (reached.has(file) || !existsSync(file)) return;
    reached.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:\bfrom |\bimport\(|\bimport )"(\.[^"]+)"/g))
      visit(declarationOf(join(dirname(file), path)));
  };
  for (const { default: module } of Object.values(doors))
    if (module !== undefined) visit(declarationOf(join(target, relative("dist", module))));
  for (const path of globSync("**/*.d.ts", { cwd: target })) {
    const file = join(target, path);
    if (!reached.has(file)) rmSync(file);
  }
}

module.exports = { pruneDeclarations };
