// The program in few files. Node finds, reads and links each module by itself, which was a quarter of every start. What
// is imported by its path keeps its file: the doors, the plugins, the threads and processes that the program starts.
const { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { isBuiltin } = require("node:module");
const { dirname, join, posix, relative, sep } = require("node:path");
const { pathToFileURL } = require("node:url");

/** Loaded by their paths, and able to load plugins: all of them share their modules. */
const entries = [
  "core/backups/worker",
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
        // The bundler's own module has no file.
        if (file.startsWith("\0")) return undefined;
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

/** Libraries that are files of the package: an `import` or a `require` names the file, by its path below the target. */
function libraryFiles(from, files) {
  const pathIn = (folder, library) => files[library] && relativeTo(folder, files[library]);
  return {
    name: "library-files",
    transform: {
      filter: { code: /createRequire\(import\.meta\.url\)\("/ },
      handler: (code, file) =>
        code.replaceAll(/(createRequire\(import\.meta\.url\)\()"([^"]+)"/g, (_, call, library) => {
          const path = pathIn(posix.dirname(nameOf(from, file)), library);
          return `${call}"${path ?? library}"`;
        }),
    },
    renderChunk: (code, { fileName }) =>
      code.replaceAll(/^(import .*)"([^".]+)";$/gm, (_, names, library) => {
        const path = pathIn(posix.dirname(fileName), library);
        return `${names}"${path ?? library}";`;
      }),
  };
}

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

/** The name of the package of an import: `@scope/name` of `@scope/name/file.js`. */
const nameOfPackage = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];

/** A chunk of libraries alone has the name of the one that imports the others, which comes last. */
function libraryOf(files) {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec((files.at(-1) ?? "").replaceAll(sep, "/")) ?? [];
  return name && files.every((file) => file.includes("node_modules"))
    ? `libraries/${name.replace("/", "-")}`
    : undefined;
}

/** The dependencies, which npm installs beside the program. */
const dependencies = (from) => Object.keys(JSON.parse(readFileSync(join(from, "package.json"), "utf8")).dependencies);

/**
 * Writes the program below `to`, and returns the files that it is made of.
 * @param {{ from: string, to: string, files?: Readonly<Record<string, string>>, libraries?: readonly string[],
 *   remains?: (name: string) => boolean, more?: readonly string[] }} options
 *   `from`: the repository. `files`: libraries that are files below `to`. `libraries`: others that become part of the
 *   program, with all that they need and that npm does not install. `remains`: modules that look for files beside their
 *   source. `more`: entries.
 */
async function bundleProgram({ from, to, files = {}, libraries = [], remains = () => false, more = [] }) {
  const { rolldown } = await import("rolldown");
  const contained = new Set(libraries.filter((name) => files[name] === undefined));
  const installed = new Set(dependencies(from));
  const isContained = (id, importer) =>
    /^(?:[./]|service-gateway\/)/.test(id) ||
    contained.has(nameOfPackage(id)) ||
    (importer.includes("node_modules") && !isBuiltin(id) && !installed.has(nameOfPackage(id)));
  const write = async (names, ...others) => {
    const input = Object.fromEntries(
      names.map((name) => [name.replace(/\.js$/, ""), join(from, name.endsWith(".js") ? name : `${name}.ts`)]),
    );
    const bundle = await rolldown({
      input,
      platform: "node",
      tsconfig: false,
      external: (id, importer) => importer !== undefined && !isContained(id, importer),
      plugins: [ownName(from), libraryFiles(from, files), ownPlace(from, remains), ...others],
    });
    const { output } = await bundle.generate({
      format: "esm",
      entryFileNames: "[name].js",
      chunkFileNames: ({ moduleIds }) => `${libraryOf(moduleIds) ?? "chunks/[name]"}.js`,
    });
    await bundle.close();
    writeOutput(output, to);
    return output.flatMap(({ moduleIds }) => moduleIds);
  };
  return [...(await write([...entries, ...more, ...plugins(from)])), ...(await write([thread], namedBuiltins))];
}

/**
 * Writes what the engine of the transforms reads: each module as a file of its own, with what it imports. Returns the
 * files that they are made of.
 */
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
  return output.flatMap(({ moduleIds }) => moduleIds);
}

function writeOutput(output, to) {
  for (const { fileName, code } of output) {
    const file = join(to, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

module.exports = { bundleProgram, bundleGuest };
