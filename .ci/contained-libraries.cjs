// The libraries that the build puts into the program. npm would install each of them with several builds, source maps,
// declarations, sources and pages, of which the program loads one build: the package of the model client alone takes
// 11 MB. These are the large ones that no plugin shares with the gateway. All others are dependencies: what plugins
// share, what looks for files beside its own, and what speaks with the network below HTTP, so that `npm update` brings
// its fixes.
const containedLibraries = [
  "@ai-sdk/mcp",
  "@ai-sdk/openai-compatible",
  "@pydantic/genai-prices",
  "ai",
  "htm",
  "html-to-text",
  "htmlparser2",
  "markdown-it",
  "markdown-it-emoji",
  "preact",
  "re2js",
  "uqr",
];

/**
 * Libraries that are one file of the package, by its path. The schema library is shared by all of the program; its 373
 * modules, found and read one by one, were a fifth of every start. CommonJS is for what is loaded by `require`, when it
 * is first needed.
 */
const libraryFiles = {
  "markdown-it": "libraries/markdown-it.cjs",
  "markdown-it-emoji/lib/data/full.mjs": "libraries/emoji-names.cjs",
  re2js: "libraries/re2js.cjs",
  typebox: "libraries/typebox.js",
};

module.exports = { containedLibraries, libraryFiles };
