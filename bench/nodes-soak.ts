/**
 * Several gateways on one PostgreSQL, to which random faults happen while people write and programs call; then counts
 * what was lost, done twice, done in the wrong order, or left without an end.
 *
 * The platform, the people and the programs run in this process. The database and each gateway run in processes of
 * their own.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createPlatform, type Platform } from "../plugins/playground/platform/index.ts";
import { createPostgres, type PostgresServer } from "../test/support/postgres-server.ts";
import { beforeEnd } from "./before-end.ts";
import { countOf, mistyped, readCommandLine } from "./command-line.ts";
import { printCheck } from "./soak/checks.ts";
import { type BotProxy, openBotProxy } from "./soak/nodes/bot-proxy.ts";
import { causeFaults, type Fault, kinds } from "./soak/nodes/faults.ts";
import { judgeNodes } from "./soak/nodes/judge.ts";
import { everyone, greet, type Load, startLoad } from "./soak/nodes/load.ts";
import { botToken, type SoakNode, startNode } from "./soak/nodes/node.ts";
import { createStory } from "./soak/nodes/story.ts";
import { upgradeNodes } from "./soak/nodes/upgrade.ts";
import type { StatePlace } from "./soak/place.ts";
import { postgresPlace } from "./soak/postgres-place.ts";
import { createRandom } from "./soak/random.ts";
import { createWitness, type Witness } from "./soak/witness.ts";

const help = `Runs several gateways on one PostgreSQL database under random faults.
Counts what was lost, repeated or out of order.

A fault kills a node, stops it for longer than its lease, breaks its connections to the database,
or stops the database for 0 to 2 s.

With --upgrade-from there are no faults: all gateways start with an earlier version of the program
and are replaced by this one, one at a time.

Usage: npm run soak:nodes -- [options]

  --faults N    number of faults (1000)
  --events N    number of events, half of them webhooks and half chat messages (20000)
  --nodes N     number of gateways (3)
  --lease N     the lease of a node in seconds, at least 7 (10)
  --stop N      how many seconds a node is stopped (0.5 to 3 more than its lease)
  --mode MODE   how the bot receives updates: polling, or webhook through a proxy that takes the nodes in turn (polling)
  --seed N      seed of the random numbers (1)
  --upgrade-from DIRECTORY
                a checkout of an earlier version, with its packages installed
  --keep        keep the state afterwards; it is always kept after a failure

Example: npm run soak:nodes -- --faults 40 --events 800 --seed 7`;

const { values } = readCommandLine(
  {
    options: {
      faults: { type: "string", default: "1000" },
      events: { type: "string", default: "20000" },
      nodes: { type: "string", default: "3" },
      lease: { type: "string", default: "10" },
      stop: { type: "string" },
      mode: { type: "string", default: "polling" },
      seed: { type: "string", default: "1" },
      "upgrade-from": { type: "string" },
      keep: { type: "boolean", default: false },
    },
  },
  help,
);
const earlier = values["upgrade-from"] === undefined ? undefined : resolve(values["upgrade-from"]);
if (earlier !== undefined && !existsSync(join(earlier, "bench/gateway-process.ts"))) {
  mistyped(`--upgrade-from ${earlier}: give a directory that has the program with its folder bench`);
}
const counts = {
  faults: earlier === undefined ? countOf("--faults", values.faults) : 0,
  events: countOf("--events", values.events),
};
const nodeCount = countOf("--nodes", values.nodes);
const leaseSeconds = countOf("--lease", values.lease);
if (leaseSeconds < 7)
  mistyped(`--lease ${leaseSeconds}: give at least 7 seconds, because a send is not begun with less than 5 left`);
if (values.mode !== "polling" && values.mode !== "webhook") mistyped(`--mode ${values.mode}: give polling or webhook`);
const stopSeconds = values.stop === undefined ? undefined : countOf("--stop", values.stop);
const seed = countOf("--seed", values.seed);
/** The soak ends after this time, however slow the machine is. */
const deadlineMs = 180_000 + counts.faults * 5_000 + (earlier === undefined ? 0 : counts.events * 50);
/** How long the nodes may need for what is left when the faults are over. */
const restMs = 120_000;
const progressMs = 15_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Lets faults and events keep pace with each other, so that all events meet faults. */
function createPace() {
  let faults = 0;
  let events = 0;
  const wait = async (isBehind: () => boolean) => {
    while (isBehind()) await sleep(20);
  };
  const share = counts.events / counts.faults;
  return {
    async fault(begun: number) {
      faults = Math.max(faults, begun);
      // The events follow a fault, unless the nodes have more to do than they can.
      const until = performance.now() + 5_000;
      await wait(() => events < (begun - 2) * share && performance.now() < until);
    },
    async event(sent: number) {
      events = Math.max(events, sent);
      await wait(() => sent > (faults + 2) * share && faults < counts.faults);
    },
  };
}

interface Stage {
  readonly directory: string;
  readonly database: PostgresServer;
  readonly databaseUrl: string;
  readonly platform: Platform;
  readonly witness: Witness;
  readonly place: StatePlace;
  readonly nodes: readonly SoakNode[];
  readonly proxy: BotProxy;
}

interface Ran {
  readonly load: Load;
  readonly faults: readonly Fault[];
  /** Whether every event had its end in time. */
  readonly drained: boolean;
}

async function openStage(directory: string, database: PostgresServer): Promise<Stage> {
  const databaseUrl = database.newUrl();
  const persons = everyone.map((id) => ({ id, first_name: `Person ${id}` }));
  const bots = [{ token: botToken, username: "soak_bot", name: "Soak" }];
  const platform = await createPlatform({ bots, seed: { people: persons, groups: [] }, webhookRetryMs: 100 });
  const witness = createWitness(platform, Date.now);
  const nodes: SoakNode[] = [];
  const proxy = await openBotProxy(() => nodes.map(({ webhookPort }) => webhookPort));
  for (let index = 1; index <= nodeCount; index += 1) {
    const started = { name: `node${index}`, directory, databaseUrl, apiRoot: platform.url, leaseSeconds };
    const way = values.mode === "webhook" ? { webhookUrl: `${proxy.url}/telegram-webhook` } : {};
    nodes.push(await startNode({ ...started, ...way, ...(earlier !== undefined && { program: earlier }) }));
  }
  while (!nodes.every((node) => node.isUp())) await sleep(100);
  greet(platform);
  return {
    directory,
    database,
    databaseUrl,
    platform,
    witness,
    place: postgresPlace(directory, databaseUrl),
    nodes,
    proxy,
  };
}

/** Events that may have an end now: others wait for a heartbeat. */
const openEvents = async (place: StatePlace) => (await place.unsettled()) - (await place.forHeartbeat());

/** Sends the events and causes the faults, or upgrades the nodes, and waits until the nodes have done what is left. */
async function run({ database, databaseUrl, platform, place, nodes }: Stage): Promise<Ran> {
  const faults: Fault[] = [];
  const pace = createPace();
  const load = startLoad({ platform, nodes, random: createRandom(seed + 1), count: counts.events, pace: pace.event });
  const began = performance.now();
  const report = async () => {
    const open = await openEvents(place).catch(() => "an unknown number");
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(
      `${seconds} s: ${faults.length} of ${counts.faults} faults, ${load.sent.length} of ${counts.events} ` +
        `events, ${open} without an end`,
    );
  };
  const progress = setInterval(() => void report(), progressMs);
  const random = createRandom(seed);
  const stopMs = () =>
    (stopSeconds ?? leaseSeconds) * 1_000 + (stopSeconds === undefined ? random.whole(500, 3_000) : 0);
  if (earlier === undefined)
    await causeFaults({ nodes, database, random, stopMs, count: counts.faults, pace: pace.fault }, faults);
  else {
    const schemaVersion = async () =>
      Number((await database.query(databaseUrl, "SELECT version FROM $schema.about"))[0]?.version);
    await upgradeNodes({ nodes, count: counts.events, sent: () => load.sent.length, schemaVersion });
  }
  await load.done;
  await load.wake();
  let quiet = 0;
  for (const end = performance.now() + restMs; performance.now() < end && quiet < 2; await sleep(300)) {
    quiet = platform.pending() === 0 && (await openEvents(place)) === 0 ? quiet + 1 : 0;
  }
  clearInterval(progress);
  await report();
  await Promise.all(nodes.map((node) => node.stop()));
  return { load, faults, drained: quiet === 2 };
}

/** Prints what was found. Resolves with whether no rule was broken. */
async function reportFindings(stage: Stage, { load, faults, drained }: Ran): Promise<boolean> {
  const { directory, database, databaseUrl, witness, place, nodes, proxy } = stage;
  const [state, lines] = [await place.read(), readFileSync(join(directory, "observed"), "utf8").trim().split("\n")];
  const observed = lines
    .map((line) => line.split(" "))
    .map(([what = "", id = "", at]) => [what, id, Number(at)] as const);
  const late = drained ? [] : [`after ${restMs / 1_000} s, not every event had its end`];
  const problems = [...late, ...nodes.flatMap((node) => node.problems)];
  const seen = { state, sent: load.sent, messages: witness.messages };
  const { checks, ambiguous } = judgeNodes({ ...seen, observed, problems });
  for (const kind of kinds) console.log(`${faults.filter((fault) => fault.kind === kind).length} times: ${kind}`);
  const refused = nodes.reduce((all, node) => all + node.refusedStarts(), 0);
  console.log(`${state.events.length} events, ${state.units.size} units, ${witness.messages.size} messages`);
  console.log(
    `${load.repeated()} calls of hooks were repeated, ${refused} starts were refused because the database was away`,
  );
  const { updates, repeated } = proxy.counts();
  if (updates > 0) console.log(`${updates} updates were posted, ${repeated} times a node did not accept one`);
  for (const [what, count] of Object.entries(ambiguous)) console.log(`ambiguous: ${count} ${what}`);
  for (const rule of checks) printCheck(rule);
  const failed = checks.filter((rule) => rule.violations.length > 0);
  const story = createStory({ ...seen, faults, query: (sql) => database.query(databaseUrl, sql) });
  for (const violation of failed.flatMap((rule) => rule.violations.slice(0, 3))) {
    for (const line of await story(violation)) console.log(line);
  }
  console.log(`${checks.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0;
}

async function soak(directory: string): Promise<boolean> {
  const database = createPostgres();
  await database.start();
  const ended = beforeEnd(database.kill);
  const stage = await openStage(directory, database);
  let passed = false;
  try {
    passed = await reportFindings(stage, await run(stage));
    return passed;
  } finally {
    ended();
    for (const node of stage.nodes) await node.close();
    stage.proxy.close();
    await stage.place.close();
    await stage.platform.close();
    if (passed && !values.keep) await database.remove();
    else {
      await database.stop();
      console.error(`The state is kept in ${directory}, and the database in ${database.data()}.`);
    }
  }
}

const directory = mkdtempSync(join(tmpdir(), "nodes-soak-"));
const overdue = setTimeout(() => {
  console.error(
    `The soak did not end within ${Math.round(deadlineMs / 1_000)} s; its state is in ${directory}.\n0 ` +
      "passed, 1 failed",
  );
  process.exit(1);
}, deadlineMs);
const happening = earlier === undefined ? `${counts.faults} faults` : `an upgrade from ${earlier}`;
console.log(
  `soak: ${happening} and ${counts.events} events, ${nodeCount} nodes, a lease of ${leaseSeconds} s, seed ${seed}`,
);
let passed = false;
try {
  passed = await soak(directory);
} catch (error) {
  console.error(error);
  console.log("0 passed, 1 failed");
} finally {
  clearTimeout(overdue);
  if (passed && !values.keep) rmSync(directory, { recursive: true, force: true });
}
process.exitCode = passed ? 0 : 1;
