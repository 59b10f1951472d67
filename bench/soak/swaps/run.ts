/**
 * Replaces a plugin again and again while messages are under way: each message gets one answer, and nothing of an old
 * instance stays. The gateway runs in this process, so that its heap and its timers can be counted.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { giveMemoryBack } from "../../../core/cli/start/memory.ts";
import { createGateway, type Gateway } from "../../../core/gateway/gateway.ts";
import type { Outside } from "./plugin.ts";

/** Messages that are under way at once, each in a chat of its own. */
const chats = 8;
/** Swaps before the heap is measured: modules are loaded and caches are filled by then. */
const warmUp = 50;
const mostHeapGrowth = 0.05;
/**
 * A table of weak references, such as the transpiler has, grows with what dies between two collections, and never gets
 * smaller.
 */
const swapsPerCollection = 5;
/** What the plugin reports with `watch` in one instance: its host, its account, its engine and its tap. */
const partsOfInstance = 4;
/**
 * The engine compiles hot functions to machine code when it has the time, several hundred of them after the first 50
 * swaps, and drops code that was not used for a while. Without both, the heap holds the same code at both measurements,
 * so that it shows what a swap leaves behind.
 */
const steadyCode = ["--no-opt", "--no-maglev", "--no-sparkplug", "--no-flush-bytecode"];

const config = {
  gateway: { port: 0, drainSeconds: 5 },
  state: { dir: "state" },
  log: { level: "warn" },
  session: { dmScope: "per-peer" },
  agents: { defaults: { engine: "swapped", heartbeat: { every: "0" } } },
  channels: { line: { dmPolicy: "open", allowFrom: ["*"] } },
};

interface World extends Outside {
  /** The parts of instances, as far as they are still in memory. */
  parts: readonly WeakRef<object>[];
  /** Nobody writes until it resolves. */
  silence: Promise<void>;
  /** The message of a chat that is not answered yet. */
  readonly open: Map<string, string>;
  answered: number;
  /** Answers whose turn began after a swap, and whose event met its taps before it. */
  mixed: number;
  /** Answers to messages that have one already. */
  readonly twice: string[];
}

const inMemory = (parts: readonly WeakRef<object>[]) => parts.filter((part) => part.deref() !== undefined);

function createWorld(): World {
  const world: World = {
    ...{
      lines: [],
      timers: 0,
      instances: 0,
      parts: [],
      silence: Promise.resolve(),
      open: new Map(),
      answered: 0,
      mixed: 0,
      twice: [],
    },
    watch(part) {
      world.parts = [...inMemory(world.parts), new WeakRef(part)];
    },
    onSent(text) {
      const [, tap, engine, chat, message] = /^(\d+), (\d+): .*(chat\d+) (m\d+)/s.exec(text) ?? [];
      if (chat === undefined || message === undefined) return;
      if (tap !== engine) world.mixed += 1;
      if (world.open.get(chat) !== message) world.twice.push(text);
      else world.answered += 1;
      world.open.delete(chat);
    },
  };
  return world;
}

/**
 * A person who writes the next message as soon as the last one is answered, and again where the channel did not take
 * it.
 */
async function converse(chat: string, world: World, stop: AbortSignal): Promise<number> {
  for (let count = 0; ; count += 1) {
    await world.silence;
    if (stop.aborted) return count;
    const message = `m${count}`;
    world.open.set(chat, message);
    for (;;) {
      const line = world.lines.at(-1);
      if (
        line === undefined ||
        (await line(`${chat} ${message}`).then(
          () => false,
          () => true,
        ))
      )
        await sleep(2);
      else break;
    }
    for (const end = performance.now() + 30_000; world.open.has(chat); ) {
      if (performance.now() > end) return count + 1;
      await sleep(1);
    }
  }
}

/** The heap in bytes, and its parts. */
interface Heap {
  readonly used: number;
  readonly code: number;
  readonly old: number;
  readonly large: number;
}

async function heapAtRest(): Promise<Heap> {
  for (let times = 0; times < 3; times += 1) {
    await giveMemoryBack();
    await sleep(50);
  }
  const spaces = new Map(
    getHeapSpaceStatistics().map(({ space_name, space_used_size }) => [space_name, space_used_size]),
  );
  const part = (...names: readonly string[]) => names.reduce((all, name) => all + (spaces.get(name) ?? 0), 0);
  return {
    used: process.memoryUsage().heapUsed,
    code: part("code_space", "trusted_space", "code_large_object_space"),
    old: part("old_space"),
    large: part("large_object_space"),
  };
}

const inMb = (bytes: number) => (bytes / 1e6).toFixed(1);
const shown = ({ used, code, old, large }: Heap) =>
  `${inMb(used)} MB (compiled code ${inMb(code)}, old objects ${inMb(old)}, large ones ${inMb(large)})`;

/** Turns that are under way would be measured too: a megabyte, or none. */
async function inSilence<T>(world: World, measure: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.silence = promise;
  for (const end = performance.now() + 30_000; world.open.size > 0 && performance.now() < end; ) await sleep(5);
  try {
    return await measure();
  } finally {
    resolve();
  }
}

async function settled(gateway: Gateway, world: World): Promise<boolean> {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(20)) {
    const { running } = await gateway.describe();
    if (running === 0 && world.instances === 1 && world.timers === 1) return true;
  }
  return false;
}

const timersNow = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

const listenersNow = () => process.eventNames().reduce((all, name) => all + process.listenerCount(name), 0);

/**
 * Prints what was seen and returns how many rules were broken. The heap is judged after `warmUp` swaps, in runs that
 * are longer.
 */
export async function runSwaps({ count }: { readonly count: number }): Promise<number> {
  for (const flag of steadyCode) setFlagsFromString(flag);
  const directory = mkdtempSync(join(tmpdir(), "swaps-"));
  const folder = join(directory, "swapped");
  mkdirSync(folder);
  const template = readFileSync(new URL("./plugin.ts", import.meta.url), "utf8");
  const save = (version: number) =>
    writeFileSync(join(folder, "index.ts"), template.replace("const version = 0;", `const version = ${version};`));
  save(0);
  const configFile = join(directory, "config.jsonc");
  writeFileSync(configFile, JSON.stringify(config));
  const world = createWorld();
  (globalThis as { swapsOutside?: Outside }).swapsOutside = world;
  const gateway = await createGateway({ configFile, environment: {}, home: directory, load: [folder], bundled: false });
  const stop = new AbortController();
  const talks = Array.from({ length: chats }, (_, index) => converse(`chat${index}`, world, stop.signal));
  const times: number[] = [];
  const at: { heap?: Heap; timers: number; listeners: number } = { timers: 0, listeners: 0 };
  const judgesHeap = count > warmUp;
  for (let version = 1; version <= count; version += 1) {
    save(version);
    const began = performance.now();
    await gateway.replacePlugin(folder);
    times.push(performance.now() - began);
    await sleep(20);
    if (judgesHeap && version % swapsPerCollection === 0) await giveMemoryBack();
    if (version === (judgesHeap ? warmUp : 1)) {
      await inSilence(world, async () => {
        Object.assign(at, { timers: timersNow(), listeners: listenersNow() });
        if (judgesHeap) at.heap = await heapAtRest();
      });
    }
    if (version % 100 === 0) console.log(`${version} of ${count} swaps, ${world.answered} answers`);
  }
  stop.abort();
  const written = (await Promise.all(talks)).reduce((all, one) => all + one, 0);
  const quiet = await settled(gateway, world);
  const heap = await heapAtRest();
  const growth = at.heap === undefined ? 0 : heap.used / at.heap.used - 1;
  const sorted = times.toSorted((a, b) => a - b);
  const ms = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  console.log(
    `${count} swaps, ${written} messages, ${world.answered} answered, ${world.mixed} of them by two ` +
      `versions; a swap took ${ms(0.5)} ms (median), ${ms(0.95)} ms (95 %), ${ms(1)} ms (longest); ` +
      `heap ${at.heap === undefined ? "" : `${shown(at.heap)} after ${warmUp} swaps, `}${shown(heap)} at ` +
      `the end; timers ${at.timers} and ${timersNow()}`,
  );
  const rules = [
    { rule: "every message is answered", ok: world.answered === written },
    { rule: "no message is answered twice", ok: world.twice.length === 0 },
    { rule: "one instance and one connection are left", ok: quiet },
    { rule: "no timer is left", ok: timersNow() <= at.timers + chats },
    { rule: "no listener of the process is left", ok: listenersNow() <= at.listeners },
    { rule: "nothing refers to a part of a closed instance", ok: inMemory(world.parts).length === partsOfInstance },
    { rule: `the heap grew by at most ${mostHeapGrowth * 100} %`, ok: growth <= mostHeapGrowth },
  ];
  await gateway.close();
  for (const { rule, ok } of rules) console.log(`${ok ? "ok  " : "FAIL"} ${rule}`);
  const broken = rules.filter(({ ok }) => !ok).length;
  console.log(`${rules.length - broken} passed, ${broken} failed`);
  rmSync(directory, { recursive: true, force: true });
  return broken;
}
