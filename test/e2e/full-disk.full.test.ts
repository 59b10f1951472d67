/**
 * The disk of the state directory is full: nothing is lost, nothing is repeated, and all goes on when there is room.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aroundEach, describe, test } from "vitest";
import { temporaryHome } from "../core/cli/command.ts";
import { run } from "../core/cli/command-runner.ts";
import { createLoopback, repeat, startGateway } from "../support/gateway.ts";
import { expect, inOwnTest, onTestFinished } from "../support/own-test.ts";
import {
  answered,
  answers,
  hookToken,
  kill,
  openChannel,
  openPlatform,
  people,
  postHook,
  restart,
  startGatewayProcess,
  stop,
} from "./room.ts";

aroundEach(inOwnTest);

const hooks = { enabled: true, token: hookToken };

function mountSmallDisk(directory: string): boolean {
  if (process.getuid?.() !== 0) return false;
  mkdirSync(directory, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", directory], { stdio: "ignore" });
  } catch {
    return false;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", directory]));
  return true;
}

function fillDisk(filler: string): void {
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}

describe.concurrent("a full disk", () => {
  test("asks webhooks to retry and leaves updates on the platform, and all are processed once space is free", {
    timeout: 60_000,
  }, async (context) => {
    const home = temporaryHome();
    const state = join(home, "state");
    if (!mountSmallDisk(state)) {
      console.warn("left out: a full disk needs root, to mount a small one");
      context.skip();
    }
    const platform = await openPlatform();
    const [ada = 0, bela = 0, chen = 0] = people(platform);
    const channels = { botchat: openChannel(platform, { streamMode: "off" }) };
    const gateway = await startGatewayProcess({ hooks, channels }, { home });
    platform.act.say(ada, ada, "before");
    await answered(platform, ada, "before");

    // A turn that runs when the disk becomes full cannot write down what it says; it is not told before that.
    platform.act.say(chen, chen, "show slow");
    await expect.poll(() => platform.calls.list({ method: "sendChatAction" }).length).toBeGreaterThan(0);

    const filler = join(state, "filler");
    const acknowledged: string[] = [];
    const post = async (index: number): Promise<Response> => {
      const body = { message: `${index} ${"x".repeat(20_000)}`, deliver: false };
      const answer = await postHook(gateway.url, "agent", body);
      if (answer.status === 202) acknowledged.push(((await answer.json()) as { readonly eventId: string }).eventId);
      return answer;
    };
    fillDisk(filler);
    let refused: Response | undefined;
    for (let index = 0; index < 200 && refused === undefined; index += 1) {
      fillDisk(filler);
      const answer = await post(index);
      if (answer.status !== 202) refused = answer;
    }
    expect(refused?.status).toBe(503);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await refused?.json()).toMatchObject({ ok: false, code: "unavailable" });
    for (let index = 0; index < 5; index += 1) platform.act.say(bela, bela, `while full ${index} ${"y".repeat(3_000)}`);
    await gateway.until(/could not be stored; its update stays/);
    expect(platform.pending()).toBeGreaterThan(0);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    const notReady = await fetch(`${gateway.url}/readyz`);
    expect(notReady.status).toBe(503);
    expect(await notReady.json()).toEqual({ ok: false });
    const status = JSON.parse((await run(["status", "--json", "--config", gateway.file], { home })).out) as object;
    expect(status).toHaveProperty("ready", false);
    expect((status as { readonly reasons: readonly string[] }).reasons).toContainEqual(
      expect.stringMatching(/^Nothing can be stored: .+\. Free space on the disk/),
    );
    await gateway.until(/an attempt failed/);
    fillDisk(filler);
    expect(answers(platform, chen)).toEqual([]);

    rmSync(filler);
    await answered(platform, chen, "Thank you for waiting");
    expect(answers(platform, chen)).toHaveLength(1);
    await expect
      .poll(() => answers(platform, bela).map((text) => /while full \d/.exec(text)?.[0]))
      .toEqual([0, 1, 2, 3, 4].map((index) => `while full ${index}`));
    await expect.poll(() => platform.pending()).toBe(0);
    expect((await post(1_000)).status).toBe(202);
    await expect.poll(async () => (await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const id of acknowledged) {
      await expect
        .poll(async () => (await run(["why", id, "--json", "--config", gateway.file], { home })).out, { interval: 200 })
        .toMatch(/"outcome": ?"(answered|silent)"/);
    }
    await stop(gateway);
  });
});

describe.concurrent("starting on a full disk", () => {
  test("ends with the directory and the remedy, and the next start with free space continues", async (context) => {
    const home = temporaryHome();
    const state = join(home, "state");
    if (!mountSmallDisk(state)) {
      console.warn("left out: a full disk needs root, to mount a small one");
      context.skip();
    }
    const filler = join(state, "filler");
    const before = await startGatewayProcess({ hooks }, { home });
    expect((await postHook(before.url, "wake", { text: "kept", mode: "next-heartbeat" })).status).toBe(200);
    await kill(before);
    for (const file of ["logs", "gateway-token", "gateway.json"])
      rmSync(join(state, file), { recursive: true, force: true });
    fillDisk(filler);
    const refused = await run(["gateway", "--config", before.file], { home });
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`error: The gateway cannot start: the disk of its state directory ${state} is full.`);
    expect(refused.err).toContain(
      `Free space there (\`df -h ${state}\` shows how much is left), then start the gateway again.`,
    );
    rmSync(filler);
    const after = await restart(before);
    const status = JSON.parse((await run(["status", "--json", "--config", after.file], { home })).out);
    expect(status.events.waiting).toBe(1);
    await stop(after);
  });
});

describe.concurrent("a disk that fills up during a send", () => {
  test("does not repeat what the platform accepted; the record waits for space", async (context) => {
    const home = temporaryHome();
    const state = join(home, "state");
    if (!mountSmallDisk(state)) {
      console.warn("left out: a full disk needs root, to mount a small one");
      context.skip();
    }
    const loopback = createLoopback();
    const config = { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } };
    const chat = await startGateway({ directory: home, config, plugins: [loopback.plugin, repeat] });
    onTestFinished(() => chat.gateway.close());
    const filler = join(state, "filler");
    loopback.beforeSend = () => fillDisk(filler);
    const ids = [];
    for (let index = 0; index < 20 && loopback.sent.length === index; index += 1) {
      const before = await chat.gateway.describe();
      ids.push(await loopback.say(`${index} ${"z".repeat(30_000)}`));
      await loopback.sentCount(index + 1);
      const recorded = async () =>
        (await chat.gateway.describe()).stats.settled.answered > before.stats.settled.answered;
      // A slow machine records late; one whose disk is full says so, and does not record in the next two seconds
      // either.
      for (let late = Date.now() + 20_000; Date.now() < late && !(await recorded()); ) {
        if (!chat.gateway.readiness().ready) late = Math.min(late, Date.now() + 2_000);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (!(await recorded())) break;
      rmSync(filler, { force: true });
    }
    const { stats } = await chat.gateway.describe();
    expect(stats.settled.answered, "the last one could not be recorded").toBe(ids.length - 1);
    loopback.beforeSend = () => {};
    rmSync(filler);
    for (const id of ids) expect(await chat.settled(id)).toMatchObject({ outcome: "answered" });
    expect(loopback.sent).toHaveLength(ids.length);
  });
});
