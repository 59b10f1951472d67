#!/usr/bin/env node
// JavaScript, and as small as can be: every Node there is can parse this file, so an old one can say what is missing
// before it meets syntax or a module that it does not know. Hence no static import but this one.
import nodeModule from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const supported = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26;

if (supported) {
  // Later starts read the compiled code from a cache, and need not load what strips types: in the repository half of
  // the time to the first line.
  nodeModule.enableCompileCache();
  const { takeNodeFlags } = await import("./start/node-flags.ts");
  takeNodeFlags(process.argv.slice(2));
  const { runCommandLine } = await import("./program.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2));
} else {
  // Written here, because in the repository an old Node cannot read the table of errors.
  const words = process.argv.slice(2);
  const typed = words.every((word) => /^[\w./:=@-]+$/.test(word)) ? words.map((word) => ` ${word}`).join("") : " ...";
  // npm puts the Node that it fetches in front of the search path. In a clone, it has it already.
  const isInstalled = import.meta.url.includes("/dist/");
  const way = isInstalled ? `npx -y -p node@26 -- service-gateway${typed}` : `npm run -s service --${typed}`;
  const needed = "this program needs Node 24.16 or later in the 24 line, or Node 26.1 or later";
  process.stderr.write(`error: Node ${process.versions.node} is too old: ${needed}.
       Install a current Node from https://nodejs.org/en/download, or let npm bring one: ${way}\n`);
  process.exitCode = 1;
}
