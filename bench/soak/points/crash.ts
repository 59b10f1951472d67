/**
 * One state directory and one platform. For each point a gateway process is killed there, and the next one repairs what
 * it left.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPlatform, type Platform } from "../../../plugins/playground/platform/index.ts";
import type { StatePlace } from "../place.ts";
import type { Random } from "../random.ts";
import { createVictims, type Outfit, type Victims } from "../victim.ts";
import type { Aim, Point, Shape } from "./aim.ts";
import { type Case, judge, type Shown, type Verdict } from "./judge.ts";
import { chunkLimit } from "./parts.ts";

const botToken = "4242:crash-bot-token";
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

interface Run {
  readonly points: readonly Point[];
  readonly random: Random;
  /** First part of each reply's name. */
  readonly name: string;
  readonly spoil?: Aim["spoil"];
  /** Longest time that a process needs to reach its point, or to finish its work. */
  readonly withinMs: number;
  /** Where the state of the run's directory is. */
  readonly place: (directory: string) => StatePlace;
}

interface Planned extends Case {
  readonly aim: Aim;
  /** Where the process after it is killed. */
  readonly again?: Aim;
  /** Another chat, busy at the same time. */
  readonly neighbour?: Case;
}

export async function crashAtEach(run: Run): Promise<Verdict> {
  const directory = mkdtempSync(join(tmpdir(), "crash-points-"));
  const cases = run.points.map((point, index) => plan(point, index, run));
  const chats = cases.flatMap(({ chat, neighbour }) => (neighbour === undefined ? [chat] : [chat, neighbour.chat]));
  const people = chats.map((id) => ({ id, first_name: `Person ${id}` }));
  const platform = await createPlatform({
    bots: [{ token: botToken, username: "crash_bot", name: "Crash" }],
    seed: { people, groups: [] },
  });
  const place = run.place(directory);
  const victims = createVictims({
    outfit: outfits({ directory, place, apiRoot: platform.url, cases, spoil: run.spoil }),
  });
  const stray: string[] = [];
  try {
    for (const one of cases) stray.push(...(await crash(one, { victims, platform, place, run })));
    const last = await victims.start();
    await last.ready;
    if (!(await idle(platform, place, run.withinMs)))
      stray.push(`${run.name}: the last process did not work everything off`);
    const code = await last.stop(run.withinMs);
    if (code !== 0) stray.push(`${run.name}: the last process ended with ${code}`);
    return await sum(stray, cases, { platform, place });
  } finally {
    victims.close();
    await platform.close();
    await place.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function plan(point: Point, index: number, { random, name }: Run): Planned {
  const shape = random.pick(point.shapes);
  const parts = shape === "album" ? 1 : random.whole(2, 4);
  const chat = 2_001 + index * 2;
  const [write, when] = point.write ?? [];
  const nth = write === "sent" ? random.whole(1, parts - 1) : 1;
  const aim: Aim = { chat: String(chat), ...(write === undefined || when === undefined ? {} : { write, when, nth }) };
  const label = `${name}p${index + 1}`;
  const [againWrite, againWhen] = point.again ?? [];
  const again: Pick<Planned, "again"> =
    againWrite === undefined || againWhen === undefined
      ? {}
      : { again: { chat: String(chat), write: againWrite, when: againWhen } };
  // A fault affects the first message of any chat, so there is no other chat then.
  const alone =
    point.fault !== undefined || point.call !== undefined || point.again !== undefined || random.chance(0.5);
  const neighbour: Case = { name: `${label}b`, chat: chat + 1, shape: "plain", parts: random.whole(1, 3) };
  return { name: label, chat, point, shape, parts, aim, ...again, ...(alone ? {} : { neighbour }) };
}

interface Outfits {
  readonly directory: string;
  readonly place: StatePlace;
  readonly apiRoot: string;
  readonly cases: readonly Planned[];
  readonly spoil: Aim["spoil"];
}

/**
 * The processes in order: one or two for each case, and a last one that survives. A case with a preview uses a channel
 * that shows one.
 */
function outfits({ directory, place, apiRoot, cases, spoil }: Outfits): () => Outfit | undefined {
  mkdirSync(join(directory, "state"), { recursive: true });
  const dying = cases.flatMap(({ shape, aim, again }) => [
    { shape, aim },
    ...(again === undefined ? [] : [{ shape, aim: again }]),
  ]);
  const waiting: { readonly shape?: Shape; readonly aim?: Aim }[] = [...dying, {}];
  return () => {
    const next = waiting.shift();
    if (next === undefined) return;
    const mode = next.shape === "grown" || next.shape === "buttons" ? "partial" : "off";
    const configFile = join(directory, `${mode}.json`);
    writeFileSync(configFile, JSON.stringify(config(mode, place, apiRoot)));
    return {
      configFile,
      preload: here("./crash-process.ts"),
      plugin: here("./scripted.ts"),
      env: { CRASH_AIM: JSON.stringify({ ...next.aim, spoil }) },
    };
  };
}

function config(streamMode: string, place: StatePlace, apiRoot: string): object {
  return {
    gateway: { port: 0, drainSeconds: 20, node: "crashing" },
    state: place.config,
    session: { dmScope: "per-account-channel-peer" },
    agents: { defaults: { engine: "crash-scripted", heartbeat: { every: "0" } } },
    channels: {
      botchat: {
        botToken,
        apiRoot,
        dmPolicy: "open",
        allowFrom: ["*"],
        ackReaction: "",
        streamMode,
        textChunkLimit: chunkLimit,
        limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 },
        retry: { minDelayMs: 20, maxDelayMs: 200 },
        polling: { minDelayMs: 20, timeoutSeconds: 20 },
      },
    },
  };
}

interface Scene {
  readonly victims: Victims;
  readonly platform: Platform;
  readonly place: StatePlace;
  readonly run: Run;
}

/** Problems other than the reply; usually none. */
async function crash(one: Planned, { victims, platform, place, run }: Scene): Promise<readonly string[]> {
  const { point, neighbour } = one;
  const complaints: string[] = [];
  const victim = await victims.start();
  await victim.ready;
  if (!(await idle(platform, place, run.withinMs)))
    complaints.push(`${one.name}: what the process before left was not worked off`);
  const reached = Promise.withResolvers<void>();
  void victim.gone.then(() => reached.resolve());
  const deaf =
    point?.call === undefined
      ? () => {}
      : killAt(point.call, one, { platform, random: run.random, kill: () => void victim.kill() });
  if (point?.fault !== undefined)
    platform.faults.add({
      method: "sendMessage",
      times: 1,
      kind: point.fault,
      ...(point.fault === "flood" && { retryAfter: 1 }),
    });
  for (const { chat, shape, name, parts } of neighbour === undefined ? [one] : [neighbour, one]) {
    platform.act.say(chat, chat, `${shape} ${name} ${parts}`);
  }
  const late = setTimeout(() => {
    complaints.push(`${one.name}: the point "${point?.label}" was not reached (${one.shape})`);
    reached.resolve();
  }, run.withinMs);
  await reached.promise;
  clearTimeout(late);
  deaf();
  await victim.kill();
  platform.faults.clear();
  if (one.again !== undefined) {
    const next = await victims.start();
    const died = await Promise.race([next.gone.then(() => true), sleep(run.withinMs).then(() => false)]);
    if (!died) complaints.push(`${one.name}: the next process did not come to its point`);
    await next.kill();
  }
  return complaints;
}

interface Killing {
  readonly platform: Platform;
  readonly random: Random;
  readonly kill: () => void;
}

const faultOf = { seen: "drop", done: "reset-after", answered: undefined } as const;

/** Kills when the platform gets the call: before it reports the call, or a little later. */
function killAt(
  [method, when]: NonNullable<Point["call"]>,
  { chat }: Case,
  { platform, random, kill }: Killing,
): () => void {
  const kind = faultOf[when];
  if (kind !== undefined) platform.faults.add({ method, times: 1, kind });
  const wait = random.whole(0, 3);
  return platform.on((event) => {
    if (event.type !== "call") return;
    const call = platform.calls.list({ since: event.seq })[0];
    if (call?.method !== method || String(call.params.chat_id) !== String(chat)) return;
    if (when === "answered") setTimeout(kill, wait);
    else kill();
  });
}

/** Nothing is waiting on the platform, and nothing is unfinished in the state. */
async function idle(platform: Platform, place: StatePlace, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; await sleep(15)) {
    if (platform.pending() === 0 && (await place.unsettled()) === 0) return true;
  }
  return false;
}

async function sum(
  complaints: readonly string[],
  cases: readonly Planned[],
  { platform, place }: Pick<Scene, "platform" | "place">,
): Promise<Verdict> {
  const state = await place.read();
  const asked = cases.flatMap((one) => (one.neighbour === undefined ? [one] : [one, one.neighbour]));
  const verdicts = asked.map((one) => judge(one, shownIn(platform, one.chat), state));
  const broken = (state.integrity ?? "ok") === "ok" ? [] : [`the database: ${state.integrity}`];
  return {
    violations: [...complaints, ...broken, ...verdicts.flatMap(({ violations }) => violations)],
    repeated: verdicts.reduce((all, { repeated }) => all + repeated, 0),
    stray: verdicts.reduce((all, { stray }) => all + stray, 0),
  };
}

function shownIn(platform: Platform, chat: number): readonly Shown[] {
  const room = [...platform.world.rooms.values()].find((one) => one.chat.id === chat);
  return [...(room?.messages.values() ?? [])]
    .filter(({ from }) => from?.is_bot === true)
    .map(({ text, caption, media_group_id: group }) => ({ text: text ?? caption ?? "", group }));
}
