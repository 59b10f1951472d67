/** What a fault of a plugin does to the gateway: in the gateway's own thread, and in a worker. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundled, ownFlags } from "../cli/command.ts";
import { type Fault, openRoom, type Room } from "./room.ts";

/** The last fault of each channel, for which the next one waits: tests of a room run at once. */
const turns = new Map<string, Promise<void>>();

/** A fault that ends the thread of a channel: the words of its report, and the worker that takes its place. */
function endsItsThread(room: Room, fault: Fault, reason: RegExp, channel: string = fault): Promise<void> {
  const turn = (turns.get(channel) ?? Promise.resolve()).then(() => setsOff(room, fault, reason, channel));
  turns.set(
    channel,
    turn.catch(() => {}),
  );
  return turn;
}

async function setsOff(room: Room, fault: Fault, reason: RegExp, channel: string): Promise<void> {
  const { restarts = 0 } = (await room.workerOf(channel)) ?? {};
  expect(await room.say(channel, "before")).toContain("before");
  await room.setOff(fault, channel);
  await room.gateway.until(new RegExp(`"plugin":"${channel}"[^\\n]*(?:${reason.source})[^\\n]*has ended`));
  expect(await room.say("steady", "beside it")).toContain("beside it");
  await room.replies(channel);
  const lastEnd = { reason: expect.stringMatching(reason) };
  expect(await room.workerOf(channel), fault).toMatchObject({ state: "up", restarts: restarts + 1, lastEnd });
}

/** Sends a message that is never answered. */
const send = (room: Room, channel: string, text: string) => void room.say(channel, text).catch(() => {});

async function survives(room: Room, channel: string): Promise<void> {
  await room.setOff("rejection", channel);
  send(room, channel, "throw in parse");
  send(room, channel, "hang in send");
  await room.gateway.until(/nobody cares/);
  expect(await room.gateway.until(new RegExp(`"channel":"${channel}"[^\\n]*"reason":"ingress_failed"`))).toContain(
    "no parse today",
  );
  expect(await room.say(channel, "another chat")).toContain("another chat");
  expect(await room.say("steady", "another channel")).toContain("another channel");
}

interface Events {
  readonly events: readonly { readonly source: string; readonly outcome: string }[];
}

interface Examined {
  readonly findings: readonly { readonly check: string; readonly reason: string }[];
}

/** A room for several tests. */
function shareRoom(...how: Parameters<typeof openRoom>): () => Room {
  const atEnd: (() => void | Promise<void>)[] = [];
  let room: Room;
  const [isolation, more] = how;
  beforeAll(async () => {
    room = await openRoom(isolation, { ...more, atEnd: (fn) => void atEnd.push(fn) });
  });
  afterAll(async () => {
    for (const fn of atEnd.reverse()) await fn();
  });
  return () => room;
}

describe.concurrent("in a worker", () => {
  const open = shareRoom("worker", { faulty: ["exit", "uncaught", "loop", "parse", "rejection"] });

  test("each of several concurrent faults ends only its own thread and is named; its channel restarts", async () => {
    const room = open();
    await Promise.all([
      endsItsThread(room, "exit", /exit code 3/),
      endsItsThread(room, "uncaught", /thrown by a timer/),
      endsItsThread(room, "loop", /did not answer for 5 s/),
      (async () => {
        send(room, "parse", "exit in parse & innocent");
        expect(await room.gateway.until(/"channel":"parse"[^\n]*"reason":"ingress_failed"/)).toMatch(
          /The worker of the plugin parse has ended: [^"]*exit code 4/,
        );
        await room.replies("parse");
        // It is not tried again, neither when it arrives nor in its turn. The others are: the one beside it, and the
        // one afterwards.
        expect(await room.workerOf("parse")).toMatchObject({ state: "up", restarts: 1 });
        const { events } = await room.ask<Events>("events", "list", "-n", "1000");
        const outcomes = events.filter(({ source }) => source === "parse").map(({ outcome }) => outcome);
        expect(outcomes.sort()).toEqual(["answered", "answered", "failed"]);
      })(),
      (async () => {
        await survives(room, "rejection");
        expect(await room.gateway.until(/nobody cares/)).toMatch(/"plugin":"rejection"[^\n]*nobody cares/);
        expect(await room.workerOf("rejection")).toMatchObject({ state: "up", restarts: 0 });
      })(),
    ]);
    expect(room.gateway.child.exitCode).toBeNull();
    const { findings } = await room.ask<Examined>("doctor");
    expect(findings.find(({ check }) => check === "plugins")?.reason).toMatch(
      /exit: its worker ended at .*exit code 3.*up again after 1 restart/,
    );
  });

  test("a plugin that uses too much memory is ended, named and restarted", async () => {
    const room = open();
    // In channels that have a thread; each one more would compile its plugin. On a busy machine the heartbeats may be
    // missed before the heap is full.
    await Promise.all([
      endsItsThread(room, "memory", /more than 512 MB of memory|did not answer for 5 s/, "uncaught"),
      endsItsThread(room, "buffers", /more than 512 MB of buffers/, "loop"),
    ]);
  });
});

describe.concurrent("inline, as documented for plugin authors", () => {
  const open = shareRoom("inline");
  const inOrder = { concurrent: false };

  test(
    "a throw in parse fails its event, a hanging send blocks no other chat, and an unhandled rejection is logged",
    inOrder,
    async () => {
      await survives(open(), "faulty");
    },
  );

  test("an endless loop blocks every channel until it ends", inOrder, async () => {
    const room = open();
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
    expect(Math.max(...waits)).toBeGreaterThan(1_000);
  });

  // The last test of the room, because it ends it.
  test("a call of exit ends the process", inOrder, async () => {
    const room = open();
    void room.setOff("exit");
    expect((await room.gateway.finished).code).toBe(3);
  });

  test("an uncaught error ends the process", async ({ onTestFinished: atEnd }) => {
    const room = await openRoom("inline", { atEnd });
    void room.setOff("uncaught");
    expect((await room.gateway.finished).code).toBe(1);
  });

  test("exceeding the heap limit ends the process", async ({ onTestFinished: atEnd }) => {
    const room = await openRoom("inline", {
      atEnd,
      main: bundled,
      nodeArgs: ["--max-old-space-size=256", ...ownFlags],
    });
    void room.setOff("memory");
    const { err } = await room.gateway.finished;
    expect(err).toContain("heap out of memory");
  });
});
