/** What `doctor` says of voice messages. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

interface Finding {
  readonly check: string;
  readonly verdict: string;
  readonly reason: string;
  readonly path?: string;
}

async function voice(config: object, rows: readonly (readonly [string, string, number | string])[] = []) {
  const home = temporaryHome();
  const state = join(home, "state");
  writeFileSync(
    join(home, "config.jsonc"),
    JSON.stringify({ state: { dir: "state" }, agents: { defaults: { engine: "echo" } }, ...config }),
    { mode: 0o600 },
  );
  if (rows.length > 0) {
    const store = await openSqliteStore({ directory: state, now: Date.now });
    for (const [namespace, key, value] of rows) await store.set(namespace, key, value);
    await store.close();
  }
  const { out } = await run(["doctor", "--json", "--config", join(home, "config.jsonc")], { home });
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  return findings
    .filter(({ check }) => check === "voice")
    .map(({ verdict, reason, path = "" }) => `${verdict} ${path}: ${reason}`);
}

const providers = { ears: { api: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" } };

test("without settings it is silent, unless people have sent voice messages", async () => {
  expect(await voice({})).toEqual([]);
  const people = ["1", "2"].map((id) => ["speech-notices", `botchat:default:${id}`, "event"] as const);
  expect(await voice({}, people)).toEqual([
    "warn models.speech.in: 2 people have sent voice messages, and nothing is set that transcribes them",
  ]);
});

test("a program that may not be run is not called missing", async () => {
  const file = join(temporaryHome(), "listen");
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o644 });
  expect(await voice({ models: { speech: { in: { command: [file, "{file}"] } } } })).toEqual([
    `fail models.speech.in.command: the program ${file} may not be run by this user`,
  ]);
});

test("a missing program, a price that is needed, and what does not answer are named", async () => {
  const speech = {
    in: [{ model: "ears/small" }, { command: ["no-such-program", "{file}"] }, { command: ["node", "{file}"] }],
  };
  const found = await voice({ models: { providers, speech }, budget: { perDayUsd: 1 } }, [
    ["speech-away", "ears/small", Date.now() - 3_600_000],
  ]);
  expect(found).toEqual([
    "fail models.speech.in[1].command: the program no-such-program is not found",
    "fail models.speech.in[0].model: the price of a minute of ears/small is unknown and budget.perDayUsd is set, " +
      "so it is not called",
    expect.stringMatching(/^warn models\.speech: ears\/small has not answered for 1 h/),
  ]);
});

test("settings that work are fine", async () => {
  const prices = { "ears/*": { minute: 0 } };
  const speech = { in: { model: "ears/small" }, out: { model: "ears/loud" } };
  expect(await voice({ models: { providers, speech, prices }, budget: { perDayUsd: 1 } })).toEqual([
    "ok : what transcribes and speaks is set",
  ]);
});
