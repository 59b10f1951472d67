/** A command without sudo, beside a gateway with a user of its own: it must not say that none runs. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createContext } from "../../../core/cli/context.ts";
import type { CheckInput } from "../../../core/cli/doctor/check-input.ts";
import { checkGateway, checkState } from "../../../core/cli/doctor/machine.ts";
import { createTerminal } from "../../../core/cli/output/terminal.ts";
import { temporaryHome } from "./command.ts";

/** As for another user: the tests may run as root, who may read everything. */
function deny(denied: string): void {
  const { accessSync } = fs;
  const replace = (by: typeof accessSync) => {
    fs.accessSync = by;
    syncBuiltinESMExports();
  };
  replace((path, mode) => {
    if (path === denied)
      throw Object.assign(new Error(`EACCES: permission denied, access '${path}'`), { code: "EACCES" });
    accessSync(path, mode);
  });
  onTestFinished(() => replace(accessSync));
}

/** The context of a command whose state belongs to another user. */
function foreign(path: (state: string) => string = (state) => state) {
  const state = join(temporaryHome(), "state");
  fs.mkdirSync(state);
  const config = join(state, "config.jsonc");
  fs.writeFileSync(config, "{}");
  deny(path(state));
  const terminal = createTerminal(process);
  return createContext({ terminal, config, state, looks: true });
}

const forbidden = {
  code: "state_forbidden",
  message: expect.stringMatching(/^This user may not read the state directory .+\/state\.$/),
};

describe("the state of another user", () => {
  test.each([
    ["status", async () => (await import("../../../core/cli/status.ts")).showStatus],
    ["stop", async () => (await import("../../../core/cli/control/stop.ts")).stopGateway],
    ["why", async () => (await import("../../../core/cli/why/why.ts")).explainEvent],
    ["logs", async () => (await import("../../../core/cli/logs.ts")).showLogs],
  ])("%s reports that this user may not read it", async (_, load) => {
    const context = foreign();
    const command = (await load()) as (...args: readonly unknown[]) => Promise<number>;
    await expect(command(context, [], {})).rejects.toMatchObject(forbidden);
  });

  test("is also reported if the directory is open but the gateway's file is unreadable", async () => {
    const context = foreign((state) => join(state, "gateway.json"));
    await expect(context.gateway()).rejects.toMatchObject(forbidden);
  });

  test("is reported by doctor once, without claiming that no gateway runs", async () => {
    const context = foreign();
    const state = await context.gateway().catch((error: unknown) => error);
    const patient = {
      context,
      state,
      stateDirectory: await context.stateDirectory(),
      gateway: null,
    } as unknown as CheckInput;
    expect([...checkState(patient), ...(await checkGateway(patient))]).toEqual([
      expect.objectContaining({
        ...{
          check: "state",
          verdict: "fail",
          reason: expect.stringMatching(/^This user may not read the state directory/),
        },
        fix: expect.stringMatching(/^Run the command as the user of the gateway or as root/),
      }),
    ]);
  });
});
