/**
 * Stops and crashes in the middle of a turn: each message is answered once, a message that kills is given up, nothing
 * stale stays.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { start, temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import {
  answered,
  answers,
  configure,
  kill,
  openChannel,
  openPlatform,
  people,
  type Running,
  restart,
  stop,
} from "./room.ts";

/** Says the message back, word by word, as slowly as the file beside it asks for; "die" ends the process. */
const engine = `
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { defineEngine } from "service-gateway/sdk";
export default defineEngine({
  id: "patient", version: "1.0.0", host: "^0.2.0",
  async *run(turn, signal) {
    if (turn.inbound.text.includes("die")) process.kill(process.pid, "SIGKILL");
    for (const word of ("You said: " + turn.inbound.text).split(/(?= )/)) {
      yield { type: "text", delta: word };
      if (existsSync(join(import.meta.dirname, "slow"))) await wait(turn.inbound.text.includes("brief") ? 150 : 700, undefined, { signal });
    }
    yield { type: "done" };
  },
});
`;

interface Place {
  readonly home: string;
  readonly file: string;
  readonly platform: Platform;
  quicken(): void;
}

async function prepare(drainSeconds: number): Promise<Place> {
  const platform = await openPlatform();
  const home = temporaryHome();
  writeFileSync(join(home, "patient.ts"), engine);
  writeFileSync(join(home, "slow"), "");
  const file = configure(home, {
    gateway: { port: 0, drainSeconds },
    plugins: { load: ["./patient.ts"] },
    agents: { defaults: { engine: "patient" } },
    session: { dmScope: "per-peer" },
    channels: { botchat: openChannel(platform) },
  });
  return { home, file, platform, quicken: () => rmSync(join(home, "slow")) };
}

/** Typing is shown: the turn runs. */
const turnRuns = (platform: Platform) =>
  expect.poll(() => platform.calls.list({ method: "sendChatAction" }).length).toBeGreaterThan(0);

async function explain(
  gateway: Running,
): Promise<{ readonly outcome: string; readonly attempts: number; readonly reason: string }> {
  return JSON.parse((await run(["why", "last", "--json", "--config", gateway.file], { home: gateway.home })).out);
}

describe("SIGTERM during a turn", () => {
  test("waits for a turn that ends in time and answers it before the process exits", async () => {
    const place = await prepare(20);
    const [ada = 0] = people(place.platform);
    const gateway = await restart(place);
    place.platform.act.say(ada, ada, "this takes a brief while to say back to me, please");
    await turnRuns(place.platform);
    await stop(gateway);
    expect(answers(place.platform, ada)).toEqual(["You said: this takes a brief while to say back to me, please"]);
  });

  test("returns an unfinished turn to the queue for one answer after the next start; a second signal exits at once", {
    timeout: 60_000,
  }, async () => {
    const place = await prepare(1);
    const { platform } = place;
    const [ada = 0] = people(platform);
    const first = await restart(place);
    platform.act.say(ada, ada, "one two three four five six seven eight nine ten eleven twelve");
    await turnRuns(platform);
    await stop(first);
    expect(answers(platform, ada).join()).not.toContain("twelve");

    configure(place.home, { ...JSON.parse(readFileSync(place.file, "utf8")), gateway: { port: 0, drainSeconds: 60 } });
    platform.calls.clear();
    const second = await restart(place);
    await turnRuns(platform);
    second.child.kill("SIGTERM");
    await second.until(/Stopping/);
    second.child.kill("SIGTERM");
    expect((await second.finished).code).toBe(143);

    place.quicken();
    const third = await restart(place);
    await answered(platform, ada, "twelve");
    // The text is shown before the end of its event is on disk.
    await expect.poll(async () => (await explain(third)).outcome).toBe("answered");
    await stop(third);
    expect(answers(platform, ada)).toHaveLength(1);
  });
});

describe("kill -9", () => {
  test("during a preview still makes the same message the answer", async () => {
    const place = await prepare(5);
    const { platform } = place;
    const [ada = 0] = people(platform);
    const text = "supercalifragilisticexpialidocious wonders grow while you watch them";
    const first = await restart(place);
    platform.act.say(ada, ada, text);
    await expect.poll(() => answers(platform, ada).join()).toContain("supercali");
    // The platform shows it a moment before the gateway has written down whose it is.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await kill(first);
    const [preview] = botMessages(platform, ada);
    place.quicken();
    const second = await restart(place);
    await answered(platform, ada, `You said: ${text}`);
    await expect.poll(async () => (await explain(second)).outcome).toBe("answered");
    expect(botMessages(platform, ada)).toEqual([preview]);
    await stop(second);
  });

  test("caused three times by one message gives that message up with one apology; other chats are served", {
    timeout: 60_000,
  }, async () => {
    const place = await prepare(5);
    place.quicken();
    const { platform } = place;
    const [ada = 0, bela = 0] = people(platform);
    platform.act.say(ada, ada, "die");
    for (let time = 0; time < 3; time += 1) {
      const gateway = start(["gateway", "--config", place.file], { home: place.home });
      await gateway.finished;
      expect(gateway.child.signalCode).toBe("SIGKILL");
    }
    platform.act.say(bela, bela, "and me?");
    const gateway = await restart(place);
    await answered(platform, bela, "You said: and me?");
    const printed = await gateway.until(/attempts_exhausted/);
    const line = JSON.parse(printed.split("\n").find((one) => one.includes("attempts_exhausted")) ?? "{}") as Record<
      string,
      string
    >;
    expect(line).toMatchObject({
      outcome: "failed",
      reason: "attempts_exhausted",
      hint: expect.stringContaining("log lines"),
    });
    const told = await run(["why", line.event ?? "", "--config", place.file], { home: place.home });
    expect(told.out).toMatch(/^failed \(attempts_exhausted\)/);
    expect(told.out).toMatch(/^ *attempts +3$/m);
    expect(told.out).toContain("3 attempts did not end");
    const status = await run(["status", "--config", place.file], { home: place.home });
    expect(status.out).toMatch(/1 failed/);
    platform.act.say(ada, ada, "still there?");
    await answered(platform, ada, "You said: still there?");
    await stop(gateway);
    const apology = "Sorry, I was interrupted three times while I worked on your message. Please send it again.";
    expect(answers(platform, ada)).toEqual([apology, "You said: still there?"]);
  });
});

function botMessages(platform: Platform, chat: number): readonly number[] {
  const room = [...platform.world.rooms.values()].find((one) => one.chat.id === chat);
  return [...(room?.messages.values() ?? [])]
    .filter(({ from }) => from?.is_bot === true)
    .map(({ message_id }) => message_id);
}
