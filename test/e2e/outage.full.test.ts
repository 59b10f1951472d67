/**
 * A platform that breaks while an answer is under way: the answer waits for it, over a kill too, where the operator
 * sees it.
 */
import { expect, test } from "vitest";
import { openSqliteStore } from "../../core/state/sqlite/index.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  answers,
  kill,
  openChannel,
  openPlatform,
  people,
  type Running,
  restart,
  startGatewayProcess,
  stop,
} from "./room.ts";

const waits = "1 send with an unknown outcome waits for the platform to answer";
const told = async (gateway: Running, ...args: readonly string[]) =>
  (await run([...args, "--config", gateway.file], { home: gateway.home })).out;

/** The event that came last; `why last` is about the account while that is down. */
async function lastEvent(gateway: Running): Promise<string> {
  const store = await openSqliteStore({ directory: gateway.state, now: Date.now });
  const [event] = await store.events({ limit: 1 });
  await store.close();
  return event?.id ?? "none";
}

test("an answer of unknown fate waits for the platform over a kill, arrives once, and appears in status and why", {
  timeout: 90_000,
}, async () => {
  const platform = await openPlatform();
  const [ada = 0] = people(platform);
  const first = await startGatewayProcess({ channels: { botchat: openChannel(platform) } });
  platform.act.say(ada, ada, "before the outage");
  await answered(platform, ada, "before the outage");

  platform.act.say(ada, ada, "during the outage");
  platform.faults.leaveTo(() => ({ kind: "reset-before" }));
  await expect.poll(() => told(first, "status"), { interval: 200 }).toContain(waits);
  expect(await told(first, "channels", "status")).toContain(waits);
  const event = await lastEvent(first);
  const chain = await told(first, "why", event);
  expect(chain).toMatch(
    /delivery +possibly_repeated[^\n]*\n +repeated once when the platform answers: sendMessage: no answer \(/,
  );
  await kill(first);

  const second = await restart(first);
  await expect.poll(() => told(second, "status"), { interval: 200 }).toContain(waits);
  expect(answers(platform, ada)).toEqual(["before the outage"]);
  platform.faults.leaveTo(undefined);
  await answered(platform, ada, "during the outage");
  await expect.poll(() => told(second, "why", event), { interval: 200 }).toMatch(/^answered/);
  expect(await told(second, "status")).not.toContain("unknown fate");
  expect((await told(second, "why", event)).match(/possibly_repeated/g)).toHaveLength(1);
  await stop(second);
  expect(answers(platform, ada)).toEqual(["before the outage", "during the outage"]);
});

test.each([undefined, "worker"])(
  "why reports that the start of a reply may remain beside it; the channel runs in: %s",
  {
    timeout: 60_000,
  },
  async (isolation) => {
    const platform = await openPlatform();
    const [ada = 0] = people(platform);
    const entries = { echo: { options: { delayMs: 40 } }, ...(isolation !== undefined && { botchat: { isolation } }) };
    const gateway = await startGatewayProcess({ channels: { botchat: openChannel(platform) }, plugins: { entries } });
    platform.faults.add({ method: "sendMessage", times: 1, kind: "reset-after" });
    const text = Array.from({ length: 40 }, (_, index) => `word${index}`).join(" ");
    platform.act.say(ada, ada, text);
    await expect.poll(() => answers(platform, ada).at(-1), { timeout: 20_000 }).toBe(text);
    const [beginning = "", ...others] = answers(platform, ada);
    expect(text.startsWith(beginning)).toBe(true);
    expect(others).toEqual([text]);
    await expect
      .poll(() => told(gateway, "why", "last"), { interval: 200 })
      .toMatch(/^answered[\s\S]*delivery +preview_uncertain/);
    await stop(gateway);
  },
);
