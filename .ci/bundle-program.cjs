// After `tsc`: the program in few files. Node finds, reads and links each module by itself, which was a quarter of every start. What is
// imported by its path keeps its file: the doors, the plugins, the threads and processes that the program starts.
const { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } = require("node:fs");
const { dirname, join, posix, relative, sep } = require("node:path");
const { pathToFileURL } = require("node:url");

const root = join(__dirname, "..");

/** Loaded by their paths, and able to load plugins: all of them share their modules. */
const entries = [
  "core/cli/main.js",
  "core/index",
  "core/sdk/index",
  "core/sdk/channel",
  "core/sdk/store",
  "core/testkit/index",
  "core/isolation/worker",
  "core/transforms/modules/compiler",
  "core/transforms/trusted-runner",
  "core/transforms/worker",
  "plugins/playground/serve",
];
/** The store's thread starts with every gateway and shares no object with it: it is one file, because it starts sooner the less it loads. */
const thread = "core/state/sqlite/writer";
/** Modules that the engine of the transforms reads as text. */
const isGuest = (name) => name.startsWith("core/transforms/guest/") || name === "core/contract/product";

/** The index of each bundled plugin. A folder with a manifest is a package of its own; stores are bundled too. */
function plugins(from, extension) {
  return readdirSync(join(root, "plugins"))
    .filter((name) => name.startsWith("store-") || !existsSync(join(root, "plugins", name, "package.json")))
    .map((name) => `plugins/${name}/index`)
    .filter((name) => existsSync(join(from, `${name}${extension}`)));
}

/** The path of a module below `from`, without its extension and with slashes. */
const nameOf = (from, file) =>
  relative(from, file)
    .split(sep)
    .join("/")
    .replace(/\.[jt]s$/, "");

/**
 * A module that moves into another file still finds what lies beside it: `import.meta` is what it would be in a file of its own below `to`,
 * or what it is in the source for those that remain there.
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
        return code.replaceAll("import.meta.url", place("url", name)).replaceAll("import.meta.dirname", place("dirname", name));
      },
    },
    renderChunk(code, { fileName }) {
      const to = (path) => posix.relative(posix.dirname(fileName), path);
      return code
        .replaceAll(/__place_url\("([^"]+)"\)/g, (_, name) => `new URL("${to(`${name}.js`)}", import.meta.url).href`)
        .replaceAll(/__place_dirname\("([^"]+)"\)/g, (_, name) => `\`\${import.meta.dirname}/${to(posix.dirname(name))}\``);
    },
  };
}

/** The package's own name leads to the same modules as a path. */
function ownName(from, extension) {
  return {
    name: "own-name",
    resolveId(id) {
      const [, name] = /^service-gateway\/(sdk|sdk\/channel|sdk\/store|testkit)$/.exec(id) ?? [];
      return name && join(from, "core", `${name.includes("/") ? name : `${name}/index`}${extension}`);
    },
  };
}

/**
 * An `import` of a built-in module makes all of its exports, the streams of `node:fs` among them, which is a tenth of a thread's start. This
 * takes only what is named.
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
 * @param {{ from: string, to: string, extension: string, remains?: (name: string) => boolean, more?: readonly string[] }} options
 *   `from`: where the modules are, with `extension`. `remains`: modules that look for files beside their source. `more`: entries.
 * @returns {Promise<ReadonlySet<string>>} the paths of the files.
 */
async function bundleProgram({ from, to, extension, remains = () => false, more = [] }) {
  const { rolldown } = await import("rolldown");
  // `dist` contains the schema library as a file of its own. Beside the source, it becomes part of the program.
  const isOwn = (id) => /^(?:[./]|service-gateway\/|typebox$)/.test(id) && !id.endsWith("libraries/typebox.js");
  const write = async (names, ...others) => {
    const input = Object.fromEntries(
      names.map((name) => [name.replace(/\.js$/, ""), join(from, name.endsWith(".js") ? name : `${name}${extension}`)]),
    );
    const bundle = await rolldown({
      input,
      platform: "node",
      tsconfig: false,
      external: (id, importer) => importer !== undefined && !isOwn(id),
      makeAbsoluteExternalsRelative: true,
      plugins: [ownName(from, extension), ownPlace(from, remains), ...others],
    });
    const { output } = await bundle.generate({ format: "esm", entryFileNames: "[name].js", chunkFileNames: "chunks/[name].js" });
    await bundle.close();
    return output;
  };
  const program = await write([...entries, ...more, ...plugins(from, extension)]);
  const files = [...program, ...(await write([thread], namedBuiltins))];
  for (const { fileName, code } of files) {
    const file = join(to, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
  return new Set(files.map(({ fileName }) => join(to, fileName)));
}

/** Bundles what `tsc` wrote to a directory, and removes the modules that it compiled for this. */
async function bundleCompiled(target) {
  const files = await bundleProgram({ from: target, to: target, extension: ".js" });
  for (const path of readdirSync(target, { recursive: true })) {
    const file = join(target, path);
    const name = nameOf(target, file);
    const isCompiled = path.endsWith(".js") && existsSync(join(target, `${name}.d.ts`));
    if (isCompiled && !files.has(file) && !isGuest(name)) rmSync(file);
  }
}

module.exports = { bundleProgram, bundleCompiled };
