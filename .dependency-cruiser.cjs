// The import rules of the house, run by `npm run check`. Type-only imports count like the others, except where a rule
// says so.
//
// `test/house/imports.full.test.ts` breaks every rule once and sees it fire, and asserts that each still matches files.
const { containedLibraries } = require("./.ci/contained-libraries.cjs");

/** One package, few importers: what is imported in one place can be replaced in one place. */
const oneImporter = (name, packages, importers) => ({
  name: `one-importer-${name}`,
  comment: `Only ${importers.join(", ")} may import ${packages.join(", ")}.`,
  severity: "error",
  from: { path: "^(core|plugins)/", pathNot: importers.map((path) => `^${path}`) },
  to: { path: packages.map((id) => `(^|/)node_modules/${id}/|^${id}(/|$)`) },
});

/**
 * The rooms of `core/`, from the ground up. A room imports only from lower floors, so there is no circle between rooms.
 */
const floors = [
  ["contract", "listeners", "log", "untrusted"],
  ["archives", "config", "media", "state"],
  ["reply", "stations"],
  ["sdk"],
  ["access", "http", "transforms"],
  ["webhooks"],
  ["host"],
  ["agents", "channels", "isolation", "stores"],
  ["actions", "backups", "path"],
  ["reports"],
  ["gateway"],
  ["cli", "index", "testkit"],
];

/** A room is a folder, or the file of a public door. */
const roomPath = (room) => `^core/${room}[/.]`;

const goesDown = floors.flatMap((rooms, floor) =>
  rooms.map((room) => ({
    name: `goes-down-${room}`,
    comment: `${room} is on floor ${floor}: it imports only from the floors below.`,
    severity: "error",
    from: { path: roomPath(room) },
    to: { path: "^core/", pathNot: [room, ...floors.slice(0, floor).flat()].map(roomPath) },
  })),
);

/**
 * What may be imported beside a room's door: the embedded store, which is opened in one place; what commands need to
 * know of the state without loading more; the judgement of addresses, which needs no way out to the network; the agent
 * for public addresses, whose HTTP client only the thread of transforms loads; the contract behind the two public doors
 * of the SDK; the bounded readers of responses, which the command line and a door of the SDK use without the rest; the
 * rules of a channel's ids, which the thread of a plugin needs alone; what transcribes and speaks, which is imported with
 * the first voice message; what edits configurations and tries deliveries in the console, which is imported with its first request; the parsers of Markdown and patterns, whose types come from libraries that users do not
 * have, so that no declaration of a door leads to them.
 */
const sideDoors = {
  access: ["identity"],
  agents: ["speech/index"],
  media: [
    "address",
    "web-address",
    "public-agent",
    "bounded-fetch",
    "body-limit",
    "line-reader",
    "read-lines",
    "workspace-file",
  ],
  sdk: ["contract", "channel", "store", "reading", "tools"],
  config: ["embedded-store", "linear-pattern", "page-editing"],
  state: ["sqlite/index", "sqlite/snapshot", "ids", "identity"],
  host: ["load", "declaration/members", "connection", "storable"],
  http: ["callers", "client-address"],
  reply: ["markdown-parser"],
  webhooks: ["trying"],
};

/**
 * The command line, the reports that it prints and the program inside the sandbox import single files, so that they
 * load only what they need.
 */
const hasDoor = floors.flat().filter((room) => !["cli", "index", "testkit"].includes(room));

const doors = hasDoor.map((room) => ({
  name: `door-of-${room}`,
  comment: `Outside of ${room}, only core/${room}/index.ts is imported.`,
  severity: "error",
  from: { path: "^core/", pathNot: [roomPath(room), "^core/cli/", "^core/reports/", "^core/transforms/guest/"] },
  to: {
    path: `^core/${room}/`,
    pathNot: ["index", ...(sideDoors[room] ?? [])].map((file) => `^core/${room}/${file}[.]`),
  },
}));

module.exports = {
  forbidden: [
    ...goesDown,
    ...doors,
    {
      name: "no-folder-circles",
      comment: "Two folders that need each other are one room, or lack a third.",
      severity: "error",
      scope: "folder",
      from: { path: "^(core|plugins)/" },
      to: { circular: true },
    },
    {
      name: "no-cycles",
      comment:
        "Two files that need each other are one file, or lack a third. Types count too: a reader follows them as well.",
      severity: "error",
      from: { path: "^(core|plugins|transforms|bench)/" },
      to: { circular: true },
    },
    {
      name: "no-orphans",
      comment: "A file that nobody imports and that is no door is dead.",
      severity: "error",
      from: {
        orphan: true,
        path: "^(core|plugins)/",
        pathNot: [
          "^core/(index|sdk/(index|channel|store|reading|tools)|testkit/index|cli/main|transforms/(trusted-runner|guest/main))\\.",
          "^plugins/[^/]+/index\\.",
          "/worker\\.",
        ],
      },
      to: {},
    },
    {
      name: "no-unresolvable",
      comment: "Every import leads to a file, or to a package that is installed.",
      severity: "error",
      from: { path: "^(core|plugins|transforms|bench)/" },
      to: {
        couldNotResolve: true,
        pathNot: "^service-gateway(/sdk|/sdk/channel|/sdk/store|/sdk/reading|/sdk/tools|/testkit)?$",
      },
    },
    {
      name: "production-needs-no-dev-dependency",
      comment:
        "What is published runs without the development dependencies, except those that the build puts into it. " +
        "Types are gone by then, so they may come from them. Optional packages are among them for the tests; what " +
        "imports those works without.",
      severity: "error",
      // The testkit runs in the test runner of whoever uses it.
      from: { path: "^(core|plugins|transforms)/", pathNot: "^core/testkit/" },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only", "npm-peer"],
        pathNot: `(^|/)node_modules/(${containedLibraries.join("|")})/`,
      },
    },
    {
      name: "core-knows-no-plugin",
      comment: "The runtime is complete without any plugin; plugins come in by the loader, as a stranger's would.",
      severity: "error",
      from: { path: "^core/" },
      to: { path: "^(plugins|transforms|examples|test|bench)/" },
    },
    {
      name: "plugins-use-the-door",
      comment:
        "A bundled plugin imports `service-gateway/sdk` by name, as a stranger does, and nothing else of " +
        "this repository.",
      severity: "error",
      // The tests of the template, and what runs it by hand, use the other doors as those of a stranger do.
      from: { path: "^(plugins|transforms|examples)/", pathNot: "^examples/plugin-template(-lines)?/(test/|dev\\.)" },
      to: { path: ["^(core|test|bench|\\.ci)/", "^service-gateway$", "^service-gateway/testkit$"] },
    },
    {
      name: "plugins-are-strangers",
      comment: "No plugin imports another one.",
      severity: "error",
      from: { path: "^plugins/([^/]+)/" },
      to: { path: "^plugins/", pathNot: "^plugins/$1/" },
    },
    {
      name: "core-does-not-use-its-own-door",
      comment: "Inside, files are imported by their path; the doors by name are for those outside.",
      severity: "error",
      from: { path: "^core/" },
      to: { path: "^service-gateway(/|$)" },
    },
    {
      name: "types-stand-alone",
      comment:
        "The vocabulary and its tables import nothing but the program's own name, so that everything can import them.",
      severity: "error",
      from: { path: "^core/contract/(types|errors|plugin-errors|error-table|product|codes)[./]" },
      to: { path: ".", pathNot: "^core/contract/(command|error-table|types|codes)[./]" },
    },
    {
      name: "stations-are-strangers",
      comment: "Only the steps of the path (walk, say, finish) imports stations; they meet in the hook table.",
      severity: "error",
      from: { path: "^(core|plugins)/", pathNot: "^core/path/(walk|say|finish)\\." },
      to: { path: "^core/path/(ingress|gating|routing|turn|formatting|delivery)\\." },
    },
    {
      name: "path-is-composed-once",
      comment: "path/index <- gateway: only the composition builds the spine.",
      severity: "error",
      from: { path: "^core/", pathNot: "^core/(gateway|testkit)/" },
      to: { path: "^core/path/index\\." },
    },
    {
      name: "nobody-imports-the-command-line",
      comment: "The command line is one way to run the gateway, not a part of it.",
      severity: "error",
      from: { path: "^(core|plugins)/", pathNot: "^core/cli/" },
      to: { path: "^core/cli/" },
    },
    {
      name: "media-stands-alone",
      comment:
        "What is fetched for whoever asks is judged by rules that know neither agents, channels nor configuration.",
      severity: "error",
      from: { path: "^core/media/" },
      to: { path: "^core/", pathNot: "^core/(media/|contract/|listeners/)" },
    },
    {
      name: "media-is-wired-once",
      comment:
        "Only the composition decides what is fetched; a second way out would be one without a guard. " +
        "Requests of transforms start in their own thread and ask the same table of addresses. An address " +
        "may be judged anywhere.",
      severity: "error",
      from: {
        path: "^core/",
        pathNot: "^core/(media/|gateway/(runtime|agents/outbound-files)\\.|sdk/|transforms/requests\\.)",
      },
      to: {
        path: "^core/media/",
        pathNot: "^core/media/(address|web-address|bounded-fetch|body-limit|line-reader|read-lines|workspace-file)\\.",
      },
    },
    oneImporter("ipaddr.js", ["ipaddr\\.js"], ["core/media/address\\."]),
    oneImporter("tapable", ["tapable"], ["core/stations/stations\\."]),
    oneImporter("jiti", ["jiti"], ["core/host/load\\.", "core/transforms/(modules/compiler|trusted-runner)\\."]),
    oneImporter("quickjs", ["quickjs-emscripten-core", "@jitl/[^/]+"], ["core/transforms/engine/"]),
    oneImporter("pino", ["pino"], ["core/log/log\\."]),
    oneImporter("fastify", ["fastify"], ["core/http/", "core/webhooks/"]),
    oneImporter("grammy", ["grammy", "@grammyjs/[^/]+"], ["plugins/botchat/", "plugins/playground/"]),
    oneImporter("ai", ["ai", "@ai-sdk/(?!mcp(?:/|$))[^/]+"], ["plugins/ai/"]),
    oneImporter("mcp", ["@ai-sdk/mcp"], ["plugins/mcp/"]),
    oneImporter("pg", ["pg", "pg-[^/]+"], ["plugins/store-postgres/"]),
    oneImporter("croner", ["croner"], ["plugins/schedule/times\\."]),
    oneImporter("modern-tar", ["modern-tar"], ["core/archives/"]),
    oneImporter("commander", ["commander"], ["core/cli/"]),
    {
      name: "one-importer-sqlite",
      comment:
        "Only the embedded store touches the database engine, and the lock, which borrows its file locks; " +
        "everybody else uses the port.",
      severity: "error",
      from: { path: "^(core|plugins)/", pathNot: "^core/state/(sqlite/|lock\\.)" },
      to: { path: "^(node:)?sqlite$" },
    },
    {
      name: "store-port-is-neutral",
      comment: "The port knows nothing of the engine behind it.",
      severity: "error",
      from: { path: "^core/state/[^/]+$", pathNot: "^core/state/sqlite/" },
      to: { path: "^core/state/sqlite/" },
    },
  ],
  options: {
    doNotFollow: { path: "(^|/)node_modules/" },
    tsPreCompilationDeps: true,
    // The packages' own export maps decide, as they do at run time.
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
