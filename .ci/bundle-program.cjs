// The program in few files. Node finds, reads and links each module by itself, which was a quarter of every start. What
// is imported by its path keeps its file: the doors, the plugins, the threads and processes that the program starts.
const { existsSync, globSync, mkdirSync, readdirSync, writeFileSync } = require("node:fs");
const { isBuiltin } = require("node:module");
const { dirname, join, posix, relative, sep } = require("node:path");
const { pathToFileURL } = require("node:url");

/** Loaded by their paths, and able to load plugins: all of them share their modules. */
const entries = [
  "core/cli/main.js",
  "core/index",
  "core/sdk/index",
  "core/sdk/channel",
  "core/sdk/store",
  "core/sdk/reading",
  "core/sdk/tools",
  "core/testkit/index",
  "core/isolation/worker",
  "core/transforms/modules/compiler",
  "core/transforms/trusted-runner",
  "core/transforms/worker",
  "plugins/playground/serve",
];
/**
 * The store's thread starts with every gateway and shares no object with it: it is one file, because it starts sooner
 * the less it loads.
 */
const thread = "core/state/sqlite/writer";
/** Modules that the engine of the transforms reads as text. */
const guest = "core/transforms/guest/*.ts";

/** The index of each bundled plugin. A folder with a manifest is a package of its own; stores are bundled too. */
function plugins(from) {
  return readdirSync(join(from, "plugins"))
    .filter((name) => name.startsWith("store-") || !existsSync(join(from, "plugins", name, "package.json")))
    .map((name) => `plugins/${name}/index`)
    .filter((name) => existsSync(join(from, `${name}.ts`)));
}

/** The path of a module below `from`, without its extension and with slashes. */
const nameOf = (from, file) =>
  relative(from, file)
    .split(sep)
    .join("/")
    .replace(/\.[jt]s$/, "");

/**
 * A module that moves into another file still finds what lies beside it: `import.meta` is what it would be in a file of
 * its own below `to`, or what it is in the source for those that remain there.
 */
function ownPlace(from, remains) {
  const place = (kind, name) => `__place_${kind}("${name}")`;
  return {
    name: "own-place",
    transform: {
      filter: { code: /import\.meta\.(?:url|dirname)\b/ },
      handler(code, file) {
        const name = nameOf(from, file);
        if (remains(name))
          return code
            .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href))
            .replaceAll("import.meta.dirname", JSON.stringify(dirname(file)));
        return code
          .replaceAll("import.meta.url", place("url", name))
          .replaceAll("import.meta.dirname", place("dirname", name));
      },
    },
    renderChunk(code, { fileName }) {
      const to = (path) => posix.relative(posix.dirname(fileName), path);
      return code
        .replaceAll(/__place_url\("([^"]+)"\)/g, (_, name) => `new URL("${to(`${name}.js`)}", import.meta.url).href`)
        .replaceAll(
          /__place_dirname\("([^"]+)"\)/g,
          (_, name) => `\`\${import.meta.dirname}/${to(posix.dirname(name))}\``,
        );
    },
  };
}

/** The package's own name leads to the same modules as a path. */
function ownName(from) {
  return {
    name: "own-name",
    resolveId(id) {
      const [, name] =
        /^service-gateway\/(sdk|sdk\/channel|sdk\/store|sdk\/reading|sdk\/tools|testkit)$/.exec(id) ?? [];
      return name && join(from, "core", `${name.includes("/") ? name : `${name}/index`}.ts`);
    },
  };
}

/** The schema library is a file of the package, at this path. */
const packagedSchemas = (path) => ({
  name: "packaged-schemas",
  renderChunk: (code, { fileName }) =>
    code.replaceAll(
      /^(import .*)"typebox";$/gm,
      (_, names) => `${names}"${relativeTo(posix.dirname(fileName), path)}";`,
    ),
});

function relativeTo(directory, path) {
  const found = posix.relative(directory, path);
  return found.startsWith(".") ? found : `./${found}`;
}

/**
 * An `import` of a built-in module makes all of its exports, the streams of `node:fs` among them, which is a tenth of a
 * thread's start. This takes only what is named.
 */
const namedBuiltins = {
  name: "named-builtins",
  renderChunk: (code) =>
    code.replaceAll(
      /^import \{ (.+) \} from "(node:\w+)";$/gm,
      (_, names, id) => `const { ${names.replaceAll(" as ", ": ")} } = process.getBuiltinModule("${id}");`,
    ),
};

/**
 * Writes the program below `to`.
 * @param {{ from: string, to: string, schemas?: string, libraries?: readonly string[], remains?: (name: string) => boolean,
 *   more?: readonly string[] }} options
 *   `from`: the repository. `schemas`: where the schema library is below `to`; without it, it becomes part of the program.
 *   `libraries`: others that become part of it, with all that they need. `remains`: modules that look for files beside their source.
 *   `more`: entries.
 */
async function bundleProgram({ from, to, schemas, libraries = [], remains = () => false, more = [] }) {
  const { rolldown } = await import("rolldown");
  const contained = new Set(schemas === undefined ? ["typebox", ...libraries] : libraries);
  const nameOfPackage = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
  const isContained = (id, importer) =>
    /^(?:[./]|service-gateway\/)/.test(id) ||
    contained.has(nameOfPackage(id)) ||
    (importer.includes("node_modules") && !isBuiltin(id));
  const write = async (names, ...others) => {
    const input = Object.fromEntries(
      names.map((name) => [name.replace(/\.js$/, ""), join(from, name.endsWith(".js") ? name : `${name}.ts`)]),
    );
    const bundle = await rolldown({
      input,
      platform: "node",
      tsconfig: false,
      external: (id, importer) => importer !== undefined && !isContained(id, importer),
      plugins: [
        ownName(from),
        ownPlace(from, remains),
        ...(schemas === undefined ? [] : [packagedSchemas(schemas)]),
        ...others,
      ],
    });
    const { output } = await bundle.generate({
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
    });
    await bundle.close();
    writeOutput(output, to);
  };
  await write([...entries, ...more, ...plugins(from)]);
  await write([thread], namedBuiltins);
}

/** Writes what the engine of the transforms reads: each module as a file of its own, with what it imports. */
async function bundleGuest({ from, to }) {
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: globSync(guest, { cwd: from }).map((path) => join(from, path)),
    tsconfig: false,
    treeshake: false,
  });
  const options = { format: "esm", preserveModules: true, preserveModulesRoot: from, entryFileNames: "[name].js" };
  const { output } = await bundle.generate(options);
  await bundle.close();
  writeOutput(output, to);
}

function writeOutput(output, to) {
  for (const { fileName, code } of output) {
    const file = join(to, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

module.exports = { bundleProgram, bundleGuest };
