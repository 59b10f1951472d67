/**
 * Kills the gateway while tools run that write, of an MCP program and of a plugin, with questions to an owner,
 * reminders and a schedule; then counts what ran twice, what was never recorded, and what the owner was told that did
 * not happen.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createPlatform, type Platform } from "../../../plugins/playground/platform/index.ts";
import { freePort } from "../../../test/support/ports.ts";
import { type Check, printCheck } from "../checks.ts";
import type { StatePlace } from "../place.ts";
import { openPlaces, type StoreName } from "../places.ts";
import { createRandom, type Random } from "../random.ts";
import { createVictims, type Victims } from "../victim.ts";
import { runsIn } from "./journal.ts";
import { judgeTools } from "./judge.ts";
import { createSoakModel, isRewordedIn, type Job, type SoakModel } from "./model.ts";
import { createOwner, type Owner } from "./owner.ts";

const owner = 1001;
const people = [owner, 1002, 1003, 1004, 1005, 1006];
const botToken = "4242:soak-bot-token";
/** Of unanswered words: an event has only three attempts. */
const mostOpen = 6;
const killsOfQuestion = 10;
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export interface ToolSoak {
  readonly kills: number;
  readonly first: number;
  readonly store: StoreName;
  /** The kills end after this time. */
  readonly minutes: number;
}

interface Setting {
  readonly directory: string;
  readonly journal: string;
  readonly place: StatePlace;
  readonly platform: Platform;
  readonly model: SoakModel;
  readonly port: number;
}

/** One configuration for each way of showing a reply, and each place in which the plugin runs. */
function writeConfig(
  { directory, journal, place, platform, model, port }: Setting,
  streamMode: string,
  isolation: string | undefined,
): string {
  const file = join(directory, `${streamMode}-${isolation ?? "main"}.json`);
  const config = {
    gateway: { port, drainSeconds: 20, node: "soak" },
    state: place.config,
    log: { level: "error" },
    session: { dmScope: "per-account-channel-peer" },
    commands: { ownerAllowFrom: [owner] },
    models: { providers: { local: { api: "openai-compatible", baseUrl: model.url } } },
    agents: {
      defaults: {
        engine: "ai",
        model: "local/small",
        maxConcurrent: 16,
        heartbeat: { every: "0" },
        mcpServers: { journal: { command: process.execPath, args: [here("program.ts"), journal], approve: "never" } },
      },
    },
    schedules: { tick: { every: "1m", message: "job tick: reminders" } },
    channels: {
      botchat: {
        botToken,
        apiRoot: platform.url,
        dmPolicy: "open",
        allowFrom: ["*"],
        streamMode,
        limits: { perBotPerSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0 },
        polling: { minDelayMs: 20, timeoutSeconds: 20 },
      },
    },
    plugins: {
      load: [here("plugin.ts")],
      entries: { "soak-tools": { options: { journal }, isolation } },
    },
  };
  writeFileSync(file, JSON.stringify(config, null, 2));
  return file;
}

interface Scene {
  readonly victims: Victims;
  readonly platform: Platform;
  readonly model: SoakModel;
  readonly owner: Owner;
  readonly random: Random;
  readonly place: StatePlace;
  readonly jobs: Job[];
  readonly journal: string;
}

const textsOf = (platform: Platform): string => {
  const messages = [...platform.world.rooms.values()].flatMap((room) => [...room.messages.values()]);
  return messages.flatMap(({ from, text }) => (from?.is_bot === true ? [text ?? ""] : [])).join("\n");
};

function write({ random, platform, jobs }: Pick<Scene, "random" | "platform" | "jobs">): void {
  const tools = [
    "note",
    "stamp",
    ...(random.chance(0.35) ? ["danger"] : []),
    ...(random.chance(0.3) ? ["remind"] : []),
  ];
  const job = {
    word: `W${jobs.length}`,
    tools: tools.toSorted(() => random.next() - 0.5).slice(0, random.whole(1, tools.length)),
  };
  const person = random.pick(people);
  jobs.push(job);
  platform.act.say(person, person, `job ${job.word}: ${job.tools.join(" ")}`);
}

const unsettled = (place: StatePlace) => place.unsettled().catch(() => 0);

function nextCall(model: SoakModel, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs);
    model.onCall(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function cycle({ victims, random, model, place, ...scene }: Scene): Promise<void> {
  const victim = await victims.start();
  await victim.ready;
  for (let open = await unsettled(place), more = random.whole(1, 3); open < mostOpen && more > 0; open += 1, more -= 1)
    write({ random, ...scene });
  for (let calls = random.whole(0, 3); calls > 0; calls -= 1) await nextCall(model, 1_500);
  await sleep(random.pick([0, 5, 20, 60, 150, 300, 600]));
  // An event whose every attempt is killed shows little of what a turn that runs again does.
  if (random.chance(0.35))
    for (const end = Date.now() + 4_000; Date.now() < end && (await unsettled(place)) > 0; ) await sleep(50);
  await victim.kill();
}

/** Of two models that are asked again after a kill, one finds other words for the call. */
const heldJobs: readonly Job[] = ["in the same words", "in other words"].map((words) => {
  const isReworded = words === "in other words";
  const word = ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7", "Q8"].find((one) => isRewordedIn(one) === isReworded) ?? "Q";
  return { word, tools: ["danger"] };
});

/** Questions must outlive more kills than an event has attempts; then their calls run, unless the owner denies them. */
async function holdQuestions({ random, victims, platform, owner, place, jobs, journal }: Scene): Promise<Check> {
  const rule =
    `a question to an owner survives ${killsOfQuestion} kills, in the same words and in others, ` +
    "and is then answered";
  owner.answers(false);
  for (const [index, job] of heldJobs.entries()) {
    const person = people[index + 1] ?? 0;
    jobs.push(job);
    platform.act.say(person, person, `job ${job.word}: ${job.tools.join(" ")}`);
  }
  const questionsOf = (word: string) => owner.questions().filter((question) => question.word === word);
  const unasked = () => heldJobs.flatMap(({ word }) => (questionsOf(word).some(({ isOpen }) => isOpen) ? [] : [word]));
  const untilAsked = async () => {
    for (let tries = 0; tries < 1_200 && unasked().length > 0; tries += 1) await sleep(50);
  };
  for (let kill = 0; kill < killsOfQuestion; kill += 1) {
    const victim = await victims.start();
    await victim.ready;
    await untilAsked();
    // The turn that runs again waits a moment later. With other words, the earlier question ends before the new one is
    // sent.
    await sleep(random.pick([200, 500, 1_000, 2_000]));
    await untilAsked();
    const missing = unasked();
    await victim.kill();
    if (missing.length === 0) continue;
    owner.answers(true);
    return { rule, violations: missing.map((word) => `${word} was not asked, or no more, before kill ${kill + 1}`) };
  }
  owner.answers(true);
  const victim = await victims.start();
  await victim.ready;
  for (let tries = 0; tries < 1_200 && (await unsettled(place)) > 0; tries += 1) await sleep(50);
  await victim.kill();
  const isDone = (word: string) =>
    runsIn(journal).some((run) => run.word === word) ||
    questionsOf(word).some(({ text }) => text.includes("Denied by"));
  const violations = heldJobs.flatMap(({ word }) => {
    if (!textsOf(platform).includes(`done ${word},`)) return [`${word} was never answered`];
    return isDone(word) ? [] : [`the call of ${word} was neither made nor denied`];
  });
  return { rule, violations };
}

async function drain({ victims, place, owner }: Scene): Promise<number | string> {
  const victim = await victims.start();
  await victim.ready;
  // A copy of a question that the gateway does not know is closed by the owner's next press.
  const isBusy = async () => (await unsettled(place)) > 0 || owner.questions().some(({ isOpen }) => isOpen);
  for (let quiet = 0, tries = 0; quiet < 3 && tries < 600; tries += 1) {
    quiet = (await isBusy()) ? 0 : quiet + 1;
    await sleep(200);
  }
  return victim.stop(30_000);
}

export async function runTools({ kills, first, store, minutes }: ToolSoak): Promise<number> {
  const random = createRandom(first);
  const directory = mkdtempSync(join(tmpdir(), "soak-tools-"));
  const journal = join(directory, "journal");
  mkdirSync(join(directory, "state"), { recursive: true });
  const places = await openPlaces(store);
  const place = places.of(directory);
  const persons = people.map((id) => ({ id, first_name: `Person ${id}` }));
  const bots = [{ token: botToken, username: "soak_bot", name: "Soak" }];
  const platform = await createPlatform({ bots, seed: { people: persons, groups: [] }, now: Date.now });
  const model = await createSoakModel();
  const setting: Setting = { directory, journal, place, platform, model, port: await freePort() };
  const files = ["partial", "off"].flatMap((mode) =>
    [undefined, "worker"].map((isolation) => writeConfig(setting, mode, isolation)),
  );
  const victims = createVictims({ outfit: () => ({ configFile: random.pick(files) }) });
  // The platform lets a bot write only to people who have written to it.
  platform.act.say(owner, owner, "/whoami");
  const scene: Scene = {
    victims,
    platform,
    model,
    owner: createOwner(platform, owner, random),
    random,
    place,
    jobs: [],
    journal,
  };
  const began = Date.now();
  let broken = 1;
  try {
    console.log(`tools: ${kills} kills, seed ${first}, on ${store}`);
    const isLong = kills > killsOfQuestion;
    const questions = isLong ? await holdQuestions(scene) : undefined;
    for (let count = (isLong ? killsOfQuestion + 1 : 0) + 1; count <= kills; count += 1) {
      if (Date.now() - began > minutes * 60_000) {
        console.log(`${count - 1} of ${kills} kills within ${minutes} minutes`);
        break;
      }
      await cycle(scene);
      if (count % 25 === 0)
        console.log(
          `${count} of ${kills} kills, ${scene.jobs.length} jobs, ${Math.round((Date.now() - began) / count)} ms each`,
        );
    }
    const exitCode = await drain(scene);
    const judged = await judgeTools({
      ...scene,
      texts: textsOf(platform),
      questions: scene.owner.questions(),
      exitCode,
    });
    const checks = [...(questions === undefined ? [] : [questions]), ...judged.checks];
    console.log(`${judged.summary}, ${Math.round((Date.now() - began) / 1_000)} s`);
    for (const check of checks) printCheck(check);
    broken = checks.filter(({ violations }) => violations.length > 0).length;
    console.log(`${checks.length - broken} passed, ${broken} failed`);
  } finally {
    scene.owner.close();
    victims.close();
    await Promise.all([platform.close(), model.close(), place.close()]);
    await places.close({ keep: false });
    if (broken === 0) rmSync(directory, { recursive: true, force: true });
    else console.error(`The files are kept in ${directory}.`);
  }
  return broken;
}
