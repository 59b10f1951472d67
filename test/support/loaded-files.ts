/** Which files a process of Node loads. */

/** Writes each module that is loaded to the standard error output at the end, as one line of JSON. */
export const probe = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  const loaded = [];
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
  process.on("exit", () => writeSync(2, "\\nloaded: " + JSON.stringify(loaded.filter((url) => url.startsWith("file:"))) + "\\n"));
`)}`;

/** The thread that writes to the database has a list of its own. */
export const listsIn = (err: string) =>
  [...err.matchAll(/\nloaded: (.*)\n/g)].map(([, list = "[]"]) => JSON.parse(list) as readonly string[]);
