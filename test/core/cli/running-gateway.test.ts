/**
 * Which gateway a command talks to: only one that holds the lock of the state, because it is sent the gateway token.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findGateway } from "../../../core/cli/running-gateway.ts";
import { lockState } from "../../../core/state/index.ts";

/** A state directory whose gateway has the process id of this process. */
function stateOf(): string {
  const directory = mkdtempSync(join(tmpdir(), "running-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(
    join(directory, "gateway.json"),
    JSON.stringify({ url: "http://127.0.0.1:9", pid: process.pid, startedAt: 1 }),
  );
  return directory;
}

test("a killed gateway is not running, even if another process now has its id", async () => {
  const state = stateOf();
  const lock = lockState(state);
  expect(await findGateway(state)).toMatchObject({ pid: process.pid });
  lock.release();
  expect(await findGateway(state)).toBeNull();
});

test("a gateway may be running if its lock cannot be read", async () => {
  const state = stateOf();
  expect(await findGateway(state)).toMatchObject({ pid: process.pid });
  writeFileSync(join(state, "lock.db"), "damaged ".repeat(200));
  expect(await findGateway(state)).toMatchObject({ pid: process.pid });
});
