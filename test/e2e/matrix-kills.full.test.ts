/**
 * Processes that are killed while they answer on Matrix: no message is lost, and none is there twice. The homeserver
 * remembers the key of each send, so both can be asserted exactly.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { run } from "../core/cli/command-runner.ts";
import { root } from "../house/sources.ts";
import { type Fault, type Homeserver, startHomeserver } from "../support/matrix/homeserver.ts";
import { createPerson, shownTexts } from "../support/matrix/person.ts";
import { kill, type Running, restart, startGatewayProcess, stop } from "./room.ts";

const token = "syt_bot_correct-horse-battery";

async function openPlace({ delayMs = 0 } = {}) {
  const server = await startHomeserver();
  onTestFinished(() => server.close());
  const { world } = server;
  const bot = world.addUser("bot", { name: "Breadbot", token }).id;
  const ada = createPerson(world, world.addUser("ada", { name: "Ada" }).id);
  const room = world.createRoom(ada.id, { invite: [bot], isDirect: true });
  world.setMembership(room, bot, "join");
  const config = {
    plugins: { load: [join(root, "plugins", "matrix")], entries: { echo: { options: { delayMs } } } },
    agents: { defaults: { engine: "echo" } },
    channels: { matrix: { homeserver: server.url, accessToken: token, dmPolicy: "open", allowFrom: ["*"] } },
  };
  const gateway = await startGatewayProcess(config);
  await connected(gateway);
  return { server, ada, room, gateway, texts: () => shownTexts(room, bot) };
}

async function connected({ home, file }: Running): Promise<void> {
  const status = async () => (await run(["channels", "status", "--config", file], { home })).out;
  await expect.poll(status, { interval: 100 }).toContain("connected");
}

interface Event {
  readonly id: string;
  readonly outcome?: string;
}

async function events({ home, file }: Running): Promise<readonly Event[]> {
  const { out } = await run(["events", "list", "--json", "--limit", "1000", "--config", file], { home });
  return (JSON.parse(out) as { readonly events: readonly Event[] }).events;
}

/** The next send has this fault; resolves when it is there. */
function atNextSend(server: Homeserver, fault: Fault): Promise<void> {
  return new Promise((resolve) => {
    server.fault = ({ path }) => {
      if (!path.includes("/send/m.room.message/")) return undefined;
      resolve();
      return fault;
    };
  });
}

const kills = 50;
const wordsOf = (round: number): string => `number ${round}.`;

test(`${kills} kills in mid-send: 0 of the answers are lost, and 0 are there twice`, async () => {
  const { server, ada, room, texts, ...place } = await openPlace();
  let { gateway } = place;
  for (let round = 1; round <= kills; round += 1) {
    const kind = round % 4;
    // The request arrives and has no effect, or it has one and its answer is lost; or nothing hinders it.
    const sent = kind < 2 ? atNextSend(server, { breaks: kind === 0 ? "hangs-before" : "hangs-after" }) : delay(round);
    ada.say(room, wordsOf(round));
    await sent;
    // In the last kind, the send and the storing of its end are under way.
    if (kind === 3) await expect.poll(() => texts().length, { interval: 1 }).toBeGreaterThanOrEqual(round);
    await kill(gateway);
    server.fault = () => undefined;
    gateway = await restart(gateway);
    await expect.poll(() => texts().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(round);
  }
  await expect.poll(async () => (await events(gateway)).filter(({ outcome }) => outcome === undefined).length).toBe(0);
  const seen = Array.from(
    { length: kills },
    (_, index) => texts().filter((text) => text === wordsOf(index + 1)).length,
  );
  const [lost, twice] = [seen.filter((count) => count === 0).length, seen.filter((count) => count > 1).length];
  console.info(`Matrix: ${kills} kills in mid-send, ${lost} lost, ${twice} twice`);
  expect({ lost, twice, shown: texts().length }).toEqual({ lost: 0, twice: 0, shown: kills });
  const ended = await events(gateway);
  expect(ended.map(({ outcome }) => outcome)).toEqual(ended.map(() => "answered"));
  for (const { id } of ended)
    expect((await run(["why", id, "--config", gateway.file], { home: gateway.home })).out).not.toContain(
      "possibly_repeated",
    );
  await stop(gateway);
}, 900_000);

test("10 kills while an answer grows: its beginning is there once, and becomes the answer", async () => {
  const { server, ada, room, texts, ...place } = await openPlace({ delayMs: 40 });
  let { gateway } = place;
  const long = (round: number) =>
    `${wordsOf(round)} ${"This answer takes a while and is shown as it grows. ".repeat(3)}`.trim();
  for (let round = 1; round <= 10; round += 1) {
    const sent = atNextSend(server, { breaks: round % 2 === 0 ? "hangs-before" : "hangs-after" });
    ada.say(room, long(round));
    await sent;
    await kill(gateway);
    server.fault = () => undefined;
    gateway = await restart(gateway);
    await expect.poll(() => texts().slice(round - 1), { timeout: 60_000 }).toEqual([long(round)]);
  }
  expect(texts()).toHaveLength(10);
  await stop(gateway);
}, 600_000);
