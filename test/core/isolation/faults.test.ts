/** What a fault of a plugin does to the gateway: in the gateway's own thread, and in a worker. */
import { describe, expect, test } from "vitest";
import { type Fault, openRoom, type Room } from "./room.ts";

/** The name of each fault that ends the thread, and the words of its report. */
const deaths: readonly (readonly [Fault, RegExp])[] = [
  ["exit", /exit code 3/],
  ["uncaught", /thrown by a timer/],
  ["loop", /did not answer for 5 s/],
  // On a busy machine the heartbeats may be missed before the heap is full.
  ["memory", /more than 512 MB of memory|did not answer for 5 s/],
  ["buffers", /more than 512 MB of buffers/],
];

interface Listed {
  readonly plugins: readonly {
    readonly id: string;
    readonly isolation?: string;
    readonly worker?: { readonly state: string; readonly restarts: number; readonly lastEnd?: { readonly reason: string } };
  }[];
}

const workerOf = async ({ ask }: Room) => (await ask<Listed>("plugins", "list")).plugins.find(({ id }) => id === "faulty");

/** Retries while the channel's listener is away. */
const answers = (room: Room, text: string) =>
  expect.poll(() => room.say("faulty", text).catch((error: unknown) => String(error)), { interval: 200 }).toContain(text);

describe("in a worker", () => {
  test.each(deaths)("%s ends the thread only, is named, and the channel comes back", async (fault, reason) => {
    const room = await openRoom("worker");
    expect(await room.say("faulty", "before")).toContain("before");
    await room.setOff(fault);
    await room.gateway.until(reason);
    expect(await room.say("steady", "beside it")).toContain("beside it");
    await answers(room, "afterwards");
    expect(room.gateway.child.exitCode).toBeNull();
    expect(await workerOf(room)).toMatchObject({
      isolation: "worker",
      worker: { state: "up", restarts: 1, lastEnd: { reason: expect.stringMatching(reason) } },
    });
  });

  test("a rejection that no code handles is logged with the plugin's name, and ends nothing", async () => {
    const room = await openRoom("worker");
    await room.setOff("rejection");
    expect(await room.gateway.until(/nobody cares/)).toMatch(/"plugin":"faulty"[^\n]*nobody cares/);
    expect(await room.say("faulty", "afterwards")).toContain("afterwards");
    expect(await workerOf(room)).toMatchObject({ worker: { state: "up", restarts: 0 } });
  });

  test("a message whose parse ends the thread is tried once more, fails with the reason, and the next one is answered", async () => {
    const room = await openRoom("worker");
    void room.say("faulty", "exit in parse").catch(() => {});
    expect(await room.gateway.until(/"reason":"ingress_failed"/)).toMatch(/exit code 4/);
    await answers(room, "afterwards");
  });

  test("doctor and status name the last end", async () => {
    const room = await openRoom("worker");
    await room.setOff("exit");
    await room.gateway.until(/is up again/);
    const { findings } = await room.ask<{ readonly findings: readonly { readonly check: string; readonly reason: string }[] }>("doctor");
    expect(findings.find(({ check }) => check === "plugins")?.reason).toMatch(
      /faulty: its worker ended at .*exit code 3.*up again after 1 restart/,
    );
  });
});

describe.each(["inline", "worker"] as const)("%s", (isolation) => {
  test("a throw in parse fails its own event, and a send that never ends holds up no other chat", async () => {
    const room = await openRoom(isolation);
    void room.say("faulty", "throw in parse").catch(() => {});
    expect(await room.gateway.until(/"reason":"ingress_failed"/)).toMatch(/no parse today/);
    void room.say("faulty", "hang in send").catch(() => {});
    expect(await room.say("faulty", "another chat")).toContain("another chat");
    expect(await room.say("steady", "another channel")).toContain("another channel");
  });
});

describe("inline, as the page for authors says", () => {
  test("a rejection that no code handles is logged, and the gateway goes on", async () => {
    const room = await openRoom("inline");
    await room.setOff("rejection");
    await room.gateway.until(/nobody cares/);
    expect(await room.say("steady", "afterwards")).toContain("afterwards");
  });

  test.each([
    ["exit", 3],
    ["uncaught", 1],
  ] as const)("%s ends the process", async (fault, code) => {
    const room = await openRoom("inline");
    void room.setOff(fault);
    expect((await room.gateway.finished).code).toBe(code);
  });

  test("more heap than the process may have ends the process", async () => {
    const room = await openRoom("inline", { nodeArgs: ["--max-old-space-size=512"] });
    void room.setOff("memory");
    const { err } = await room.gateway.finished;
    expect(err).toContain("heap out of memory");
  });

  test("a loop blocks every channel until it ends", async () => {
    const room = await openRoom("inline");
    let isLooping = true;
    const looping = room.setOff("loop").then(() => {
      isLooping = false;
    });
    const waits: number[] = [];
    while (isLooping) {
      const begun = Date.now();
      await room.say("steady", "beside it");
      waits.push(Date.now() - begun);
    }
    await looping;
    expect(Math.max(...waits)).toBeGreaterThan(5_000);
  });
});
