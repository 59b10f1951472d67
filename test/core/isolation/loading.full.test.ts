import { expect, test } from "vitest";
import { openRoom } from "./room.ts";

/** Writes the name of each file of the room at once. */
const probe = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  registerHooks({ load: (url, context, next) => {
    if (url.includes("/core/isolation/")) writeSync(2, "loaded " + url + "\\n");
    return next(url, context);
  } });
`)}`;

test("no isolation file is loaded while no plugin is isolated", async () => {
  const nodeArgs = ["--import", probe];
  const inline = await openRoom("inline", { nodeArgs });
  expect(await inline.say("faulty", "hello")).toContain("hello");
  inline.gateway.child.kill("SIGTERM");
  expect((await inline.gateway.finished).err).not.toContain("loaded ");
  const isolated = await openRoom("worker", { nodeArgs });
  expect(await isolated.gateway.until(/loaded .*supervisor/)).toContain("loaded ");
});
