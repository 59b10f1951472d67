/**
 * Kills the gateway at random moments, again and again, while people write and programs call; then counts what was
 * lost, done twice, or left without an end. `npm run soak -- --help` lists its other modes.
 *
 * The platform and the senders run in this process. The gateway runs in a process of its own, on one state directory
 * from start to end.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPlatform } from "../plugins/playground/platform/index.ts";
import { freePort } from "../test/support/ports.ts";
import { countOf, mistyped, readCommandLine } from "./command-line.ts";
import { check, type Findings, type Kill, printCheck } from "./soak/checks.ts";
import type { StatePlace } from "./soak/place.ts";
import { openPlaces, stores } from "./soak/places.ts";
import { createRandom, type Random } from "./soak/random.ts";
import { createSenders, type Senders } from "./soak/senders.ts";
import { createVictims, type Victims } from "./soak/victim.ts";
import { createWitness, type Witness } from "./soak/witness.ts";

const help = `Kills a gateway at random moments while users write and programs call webhooks.
Counts what was lost and what was done twice.

Usage: npm run soak -- [options]

  --cycles N    number of kills (200)
  --mode MODE   how the bot receives updates: polling, webhook or both (both)
  --store NAME  the store: sqlite, or postgres with a server of its own (sqlite); also for --points and --tools
  --points N    kill the gateway N times at each labelled point instead
  --tools N     kill it N times while tools that write, approvals, reminders and a schedule run instead
  --minutes N   with --tools: stop after N minutes, even with fewer kills
  --outages     interrupt the platform instead, in seven ways, for up to five minutes, while replies are sent
  --streams N   stream N replies on a simulated clock instead, without kills
  --swaps N     replace a plugin N times instead, while messages are handled
  --live        with --streams: over real HTTP, in a gateway process
  --seed N      seed of the random numbers (1)
  --keep        keep the state afterwards; it is always kept after a failure

Example: npm run soak -- --cycles 1000 --seed 7`;

const { values } = readCommandLine(
  {
    options: {
      cycles: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
      mode: { type: "string", default: "both" },
      keep: { type: "boolean", default: false },
      store: { type: "string", default: "sqlite" },
      points: { type: "string" },
      tools: { type: "string" },
      minutes: { type: "string", default: "60" },
      outages: { type: "boolean", default: false },
      streams: { type: "string" },
      swaps: { type: "string" },
      live: { type: "boolean", default: false },
    },
  },
  help,
);
const cycles = countOf("--cycles", values.cycles);
const seed = countOf("--seed", values.seed);
/** How updates arrive. Each process uses one way; `both` selects one at random. */
const ways = ["polling", "webhook"] as const;
type Way = (typeof ways)[number];
const mode = values.mode === "both" ? values.mode : ways.find((way) => way === values.mode);
const store = stores.find((name) => name === values.store);
if (store === undefined) mistyped(`--store ${values.store}: choose ${stores.join(" or ")}`);
if (mode === undefined) mistyped(`--mode ${values.mode}: choose polling, webhook or both`);
/** The soak ends after this time, however slow the machine is. */
const deadlineMs = 120_000 + cycles * 4_000;
/** At most this many messages are unanswered at a time, because an event has only three attempts. */
const mostOpen = 40;

const people = [1001, 1002, 1003, 1004, 1005, 1006];
const hookToken = "soak-hook-token-123456";
const botToken = "4242:soak-bot-token";

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const now = () => Date.now();

interface Ports {
  readonly gateway: number;
  readonly webhook: number;
}

interface Setting {
  readonly directory: string;
  readonly place: StatePlace;
  readonly apiRoot: string;
  readonly ports: Ports;
}

function writeConfig(way: Way, { directory, place, apiRoot, ports }: Setting): string {
  const file = join(directory, `${way}.json`);
  const webhook = {
    webhookUrl: `http://127.0.0.1:${ports.webhook}/soak`,
    webhookPath: "/soak",
    webhookPort: ports.webhook,
    webhookSecret: "soak-webhook-secret",
  };
  const config = {
    gateway: { port: ports.gateway, drainSeconds: 20, node: "soak" },
    state: place.config,
    session: { dmScope: "per-account-channel-peer" },
    agents: { defaults: { maxConcurrent: 16, heartbeat: { every: "0" } } },
    hooks: { enabled: true, token: hookToken },
    channels: {
      botchat: {
        botToken,
        apiRoot,
        dmPolicy: "open",
        allowFrom: ["*"],
        limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 },
        polling: { minDelayMs: 20, timeoutSeconds: 20 },
        ...(way === "webhook" ? webhook : {}),
      },
    },
    plugins: {
      load: [fileURLToPath(new URL("./soak-observer.ts", import.meta.url))],
      entries: {
        echo: { options: { delayMs: 25 } },
        "soak-observer": { options: { file: join(directory, "observed") } },
      },
    },
  };
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

/** The moment in its life at which a process is killed. */
type Moment = "start" | "run" | "send" | "accept" | "late";

function nextMoment(random: Random): Moment {
  const die = random.next();
  if (die < 0.2) return "start";
  if (die < 0.45) return "run";
  if (die < 0.65) return "send";
  return die < 0.8 ? "accept" : "late";
}

function nextCall(listen: (listener: () => void) => void, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      listen(() => {});
      resolve();
    };
    const timer = setTimeout(end, withinMs);
    listen(end);
  });
}

/**
 * Lets the gateway finish its waiting work. This gives kills at rest, and fewer events that are killed in all their
 * attempts.
 */
async function untilIdle(open: () => Promise<number>, withinMs: number): Promise<void> {
  for (const end = now() + withinMs; now() < end && (await open()) > 0; ) await sleep(40);
}

interface Scene {
  readonly victims: Victims;
  readonly senders: Senders;
  readonly witness: Witness;
  readonly random: Random;
  readonly kills: Kill[];
  readonly unanswered: () => Promise<number>;
  /** Unanswered events that only a heartbeat will pick up. */
  readonly forHeartbeat: () => Promise<number>;
  readonly previews: () => Promise<readonly string[]>;
}

async function cycle({ victims, senders, witness, random, kills, unanswered, previews }: Scene): Promise<void> {
  const moment = nextMoment(random);
  if ((await unanswered()) < mostOpen && random.chance(0.5)) senders.burst();
  const victim = await victims.start();
  if (moment === "start")
    await Promise.race([sleep(random.between(0, 300)), victim.ready.then(() => sleep(random.between(0, 30)))]);
  else {
    await victim.ready;
    if ((await unanswered()) < mostOpen) senders.burst();
    if (moment === "run") await sleep(random.between(0, 400));
    else if (moment === "late") await untilIdle(unanswered, 2_500);
    else {
      // Waits for the n-th thing that happens, so that kills hit every step of a turn.
      for (let steps = random.whole(1, 4); steps > 0; steps -= 1) {
        await nextCall(moment === "send" ? witness.onBot : senders.onAcknowledged, 400);
      }
      await sleep(random.pick([0, 0, 1, 2, 4, 8]));
    }
  }
  const at = now();
  await victim.kill();
  kills.push({ at, previews: new Set(await previews()) });
}

/**
 * A reply may have a button, whose press gets a reply too, so the soak is over when nothing is open twice in a row. A
 * hook run may end after the last wake and leave a summary for the next heartbeat, which does not run on its own;
 * events that wait only for a heartbeat get one.
 */
async function drain({ victims, senders, unanswered, forHeartbeat }: Scene): Promise<number | string> {
  const victim = await victims.start();
  await victim.ready;
  await senders.settled();
  const end = now() + 60_000;
  for (let quiet = 0; now() < end && quiet < 2; await sleep(100)) {
    const [open, waiting] = [await unanswered(), await forHeartbeat()];
    quiet = open > 0 ? 0 : quiet + 1;
    if (open > 0 && open === waiting) await senders.wakeNow();
  }
  return victim.stop(30_000);
}

async function soak(directory: string, place: StatePlace): Promise<Findings & { readonly runSummary: string }> {
  const random = createRandom(seed);
  const ports = { gateway: await freePort(), webhook: await freePort() };
  const persons = people.map((id) => ({ id, first_name: `Person ${id}` }));
  const platform = await createPlatform({
    bots: [{ token: botToken, username: "soak_bot", name: "Soak" }],
    seed: { people: persons, groups: [] },
    webhookRetryMs: 20,
    now,
  });
  mkdirSync(join(directory, "state"), { recursive: true });
  const [polling, webhook] = ways.map((way) => writeConfig(way, { directory, place, apiRoot: platform.url, ports }));
  const configFile = () => (mode === "polling" || (mode === "both" && random.chance(0.5)) ? polling : webhook) ?? "";
  const victims = createVictims({ outfit: () => ({ configFile: configFile() }) });
  const senders = createSenders({
    platform,
    persons: people,
    random,
    url: `http://127.0.0.1:${ports.gateway}`,
    token: hookToken,
  });
  const witness = createWitness(platform, now);
  const kills: Kill[] = [];
  const unanswered = async () => platform.pending() + senders.busy() + (await unlessMissing(place.unsettled(), 0));
  const forHeartbeat = () => unlessMissing(place.forHeartbeat(), 0);
  const previews = () => unlessMissing(place.previews(), []);
  const scene: Scene = { victims, senders, witness, random, kills, unanswered, forHeartbeat, previews };
  const began = now();
  try {
    for (let count = 1; count <= cycles; count += 1) {
      await cycle(scene);
      if (count % 25 === 0 || count === cycles) {
        const perCycle = Math.round((now() - began) / count);
        console.log(
          `${count} of ${cycles} kills, ${senders.updates.length} updates, ${senders.hooks.length} hook calls, ` +
            `${perCycle} ms each`,
        );
      }
    }
    const exitCode = await drain(scene);
    const state = await place.read();
    const lines = readFileSync(join(directory, "observed"), "utf8").trim().split("\n");
    const observed = lines
      .map((line) => line.split(" "))
      .map(([what = "", id = "", at]) => [what, id, Number(at)] as const);
    const { updates, hooks } = senders;
    const findings = check({ state, updates, hooks, messages: witness.messages, observed, kills, exitCode });
    const turns = observed.filter(([what]) => what === "turn").length;
    const runSummary =
      `${state.events.length} events, ${state.units.size} units, ${findings.gathered} updates ` +
      `joined another, ${turns} turns, ${witness.messages.size} messages sent, ` +
      `${platform.pending()} updates left, ${Math.round((now() - began) / 1_000)} s`;
    return { ...findings, runSummary };
  } finally {
    senders.close();
    victims.close();
    await platform.close();
  }
}

/** The database does not exist before the first process has created it. */
const unlessMissing = <T>(reading: Promise<T>, fallback: T): Promise<T> => reading.catch(() => fallback);

if (values.points !== undefined) {
  const { runPoints } = await import("./soak/points/run.ts");
  process.exit((await runPoints({ seeds: countOf("--points", values.points), first: seed, store })) === 0 ? 0 : 1);
}
if (values.tools !== undefined) {
  const { runTools } = await import("./soak/tools/run.ts");
  process.exit(
    (await runTools({
      kills: countOf("--tools", values.tools),
      first: seed,
      store,
      minutes: countOf("--minutes", values.minutes),
    })) === 0
      ? 0
      : 1,
  );
}
if (values.outages) process.exit((await (await import("./soak/outages/run.ts")).runOutages()) === 0 ? 0 : 1);
if (values.swaps !== undefined) {
  const { runSwaps } = await import("./soak/swaps/run.ts");
  process.exit((await runSwaps({ count: countOf("--swaps", values.swaps) })) === 0 ? 0 : 1);
}
if (values.live && values.streams === undefined) mistyped("--live: say how many, such as --streams 200 --live");
if (values.streams !== undefined) {
  const run = values.live
    ? (await import("./soak/streams/live/run.ts")).runLive
    : (await import("./soak/streams/run.ts")).runStreams;
  process.exit((await run({ count: countOf("--streams", values.streams), first: seed })) === 0 ? 0 : 1);
}
const places = await openPlaces(store);
const directory = mkdtempSync(join(tmpdir(), "soak-"));
const overdue = setTimeout(() => {
  console.error(
    `The soak did not end within ${Math.round(deadlineMs / 1_000)} s; its state is in ${directory}.\n0 ` +
      "passed, 1 failed",
  );
  process.exit(1);
}, deadlineMs);
console.log(`soak: ${cycles} kills, seed ${seed}, ${mode === "both" ? ways.join(" and ") : mode}, on ${store}`);
const place = places.of(directory);
let failed = true;
try {
  const { checks, ambiguous, runSummary } = await soak(directory, place);
  console.log(runSummary);
  for (const [what, count] of Object.entries(ambiguous)) console.log(`ambiguous: ${count} ${what}`);
  for (const rule of checks) printCheck(rule);
  const broken = checks.filter((rule) => rule.violations.length > 0).length;
  failed = broken > 0;
  console.log(`${checks.length - broken} passed, ${broken} failed`);
} catch (error) {
  console.error(error);
  console.log("0 passed, 1 failed");
} finally {
  clearTimeout(overdue);
  await place.close();
  const keep = failed || values.keep;
  const data = await places.close({ keep });
  if (keep)
    console.error(`The state is kept in ${directory}${data === undefined ? "" : `, and the database in ${data}`}.`);
  else rmSync(directory, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
