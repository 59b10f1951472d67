/** Plugins that hold the event loop, in a real gateway process: the log names them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { startGateway } from "../core/cli/gateway-runner.ts";

const token = "hook-token-0123456789abcdef";

function pluginWith(home: string, { id, tap }: { readonly id: string; readonly tap: string }): void {
  const folder = join(home, id);
  mkdirSync(folder);
  writeFileSync(
    join(folder, "index.ts"),
    `import { definePlugin } from "service-gateway/sdk";
    const loop = (ms: number) => { for (const end = performance.now() + ms; performance.now() < end; ); };
    const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    export default definePlugin({ id: "${id}", version: "1.0.0", host: "^0.2.0", setup(host) { ${tap} } });`,
  );
}

async function logAfterOneRun(plugins: readonly { readonly id: string; readonly tap: string }[], runs: number) {
  const home = temporaryHome();
  for (const plugin of plugins) pluginWith(home, plugin);
  const file = join(home, "config.jsonc");
  const load = plugins.map(({ id }) => `./${id}`);
  writeFileSync(
    file,
    JSON.stringify({
      gateway: { port: 0 },
      state: { dir: "state" },
      hooks: { enabled: true, token },
      plugins: { load },
      agents: { defaults: { engine: "echo" } },
    }),
  );
  const gateway = startGateway(["gateway", "--config", file], { home });
  const url = /ready at (\S+)/.exec(await gateway.until(/ready at \S+ /))?.[1];
  for (let n = 0; n < runs; n++) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    await fetch(`${url}/hooks/agent`, {
      method: "POST",
      headers,
      body: JSON.stringify({ message: `run ${n}`, deliver: false }),
    });
  }
  const settled = new RegExp(`(?:"outcome":"[^]*?){${runs}}`);
  await gateway.until(settled);
  await gateway.until(/the event loop was blocked/);
  gateway.child.kill("SIGTERM");
  await gateway.finished;
  return readFileSync(join(home, "state", "logs", "gateway.log"), "utf8")
    .trimEnd()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as {
          readonly level: number;
          readonly ms?: number;
          readonly msg: string;
          readonly plugin?: string;
        },
    )
    .filter(({ msg }) => msg.startsWith("the event loop was blocked"));
}

test("a plugin that loops for 1.5 s in a tap is named in the log at most once a minute", async () => {
  const quiet = {
    id: "quiet",
    tap: `host.tap("routing", () => undefined); host.tap("gating", async () => undefined);`,
  };
  // The gateway measures time, hence a thread that sleeps holds it up as a loop does, and leaves the processor to
  // others.
  const tap = `let block = loop; host.tap("gating", () => { block(1_500); block = sleep; return undefined; });`;
  const looping = { id: "looping", tap };
  const lines = await logAfterOneRun([quiet, looping], 2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: 40, plugin: "looping", hook: "gating" });
  expect(lines[0]?.msg).toMatch(/^the event loop was blocked for \d+\.\d s by the plugin looping at gating$/);
  expect(lines[0]?.ms).toBeGreaterThanOrEqual(1_490);
});

test("a plugin that blocks after an await is logged with the tap that was running", async () => {
  const tap =
    `host.tap("gating", async () => { await new Promise((done) => setTimeout(done, 20)); ` +
    "sleep(1_600); return undefined; });";
  const lines = await logAfterOneRun([{ id: "later", tap }], 1);
  expect(lines[0]).toMatchObject({
    plugin: "later",
    hook: "gating",
    msg: expect.stringMatching(/; a tap of later at gating was running$/),
  });
});
