/** The stand-in, judged by matrix-nio of Debian: a request of that client which it refuses is its own fault. */
import { execFile, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { open, openPlace } from "./room.ts";

const python = "/usr/bin/python3";
const hasNio = spawnSync(python, ["-c", "import nio, aiohttp"]).status === 0;
if (!hasNio) console.warn("left out: python3-matrix-nio is not installed (apt-get install python3-matrix-nio)");

test.runIf(hasNio)("a person with matrix-nio talks to the bot, and reads every event of the homeserver", async () => {
  // This client is older than the addresses of files that need a token.
  const place = await openPlace({ isOld: true });
  const { server, bot } = place;
  server.wellKnown = { "m.homeserver": { base_url: server.url } };
  const user = server.world.addUser("nio", { name: "Nio" });
  const heard: string[] = [];
  const host = await place.start(open, {
    answer({ inbound }) {
      heard.push(inbound.text);
      return inbound.media.length > 0 ? "a file" : `heard: **${inbound.text}**`;
    },
  });
  const script = fileURLToPath(new URL("../../support/matrix/nio-person.py", import.meta.url));
  const { stdout } = await promisify(execFile)(python, [script, server.url, "nio", user.password, bot, "Hello <b>"], {
    timeout: 60_000,
  });
  const seen = JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
  expect(seen.bad).toEqual([]);
  expect(seen.texts).toEqual(["heard: Hello <b>", "a file"]);
  expect(heard.join()).toContain("Hello <b>");
  expect(server.calls.some(({ path, status }) => path.startsWith("media/v3/download/") && status === 200)).toBe(true);
  await host.close();
});
