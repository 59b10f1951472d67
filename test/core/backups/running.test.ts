/** A backup of a gateway that runs: what a gateway on the restored directory does with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createBackup } from "../../../core/backups/create.ts";
import { planBackup } from "../../../core/backups/plan.ts";
import { examineBackup, restoreBackup } from "../../../core/backups/restore.ts";
import { loadConfig } from "../../../core/config/index.ts";
import { packageVersion } from "../../../core/contract/package.ts";
import { knownSchema } from "../../../core/state/sqlite/snapshot.ts";
import { signIn } from "../../support/browser-client.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { createEngine, createLoopback, repeat, startGateway } from "../../support/gateway.ts";

test("what was accepted before a backup is answered once after its restore, and what was sent stays sent", async () => {
  const first = createLoopback();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holding = createEngine(async (turn) => {
    if (turn.inbound.text.startsWith("waits")) await held;
    return `heard: ${turn.inbound.text}`;
  });
  const channels = { loopback: { dmPolicy: "open", allowFrom: ["*"] } };
  const running = await startGateway({ config: { channels }, plugins: [first.plugin, holding] });
  const texts = (prefix: string) => Array.from({ length: 3 }, (_, index) => `${prefix} ${index}`);
  await Promise.all(texts("ends").map((text) => first.say(text, { sender: text })));
  await first.sentCount(3);
  const waiting = await Promise.all(texts("waits").map((text) => first.say(text, { sender: text })));

  const file = join(temporaryDirectory(), "backup.tar.gz");
  const place = { directory: running.gateway.stateDirectory, store: "sqlite" };
  const loaded = await loadConfig({ file: running.configFile, env: {} });
  const plan = await planBackup({ loaded, schemas: undefined, place, excluded: [] });
  await createBackup(plan, { file, now: Date.now });
  await Promise.all(texts("late").map((text) => first.say(text, { sender: text })));
  release();
  await running.gateway.close();

  const directory = join(temporaryDirectory(), "restored");
  const options = { file, directory, known: { version: packageVersion(), schema: knownSchema } };
  await restoreBackup({ ...options, examined: await examineBackup(options) });
  const second = createLoopback();
  const { createGateway } = await import("../../../core/gateway/gateway.ts");
  const restored = await createGateway({
    ...{ configFile: join(directory, "config.jsonc"), environment: {}, bundled: false, writerThread: false },
    plugins: [second.plugin, repeat],
  });
  expect(restored.stateDirectory).toBe(directory);
  await expect.poll(() => second.sent.map(({ text }) => text), { timeout: 5_000 }).toHaveLength(3);
  const known = await second.say("hello again", { sender: "ends 0", id: "new" });
  await second.sentCount(4);
  await restored.close();
  expect(second.sent.map(({ text }) => text).toSorted()).toEqual(
    ["heard: hello again", ...texts("waits").map((text) => `heard: ${text}`)].toSorted(),
  );
  expect(new Set([...waiting, known]).size).toBe(4);
});

test("a backup contains no sign-in of a browser", async () => {
  const { gateway, configFile } = await startGateway({ config: {} });
  const token = readFileSync(join(gateway.stateDirectory, "gateway-token"), "utf8").trim();
  const { ask } = await signIn(gateway.url, token);
  expect((await ask("/gateway/v1/session")).status).toBe(200);
  const file = join(temporaryDirectory(), "backup.tar.gz");
  const place = { directory: gateway.stateDirectory, store: "sqlite" };
  const loaded = await loadConfig({ file: configFile, env: {} });
  await createBackup(await planBackup({ loaded, schemas: undefined, place, excluded: [] }), { file, now: Date.now });
  const directory = join(temporaryDirectory(), "restored");
  const options = { file, directory, known: { version: packageVersion(), schema: knownSchema } };
  await restoreBackup({ ...options, examined: await examineBackup(options) });
  expect([signInsOf(gateway.stateDirectory), signInsOf(directory)]).toEqual([1, 0]);
});

function signInsOf(directory: string): unknown {
  const db = new DatabaseSync(join(directory, "state.db"), { readOnly: true });
  try {
    return db.prepare("SELECT count(*) AS rows FROM kv WHERE namespace = 'browser-sessions'").get()?.rows;
  } finally {
    db.close();
  }
}
