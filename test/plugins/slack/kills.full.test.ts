/** A gateway that is killed in the middle of its sends, again and again, in a workspace that goes on. */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { EventReport } from "../../../core/state/report.ts";
import { run } from "../../core/cli/command-runner.ts";
import { kill, type Running, restart, startGatewayProcess, stop } from "../../e2e/room.ts";
import { root } from "../../house/sources.ts";
import { appToken, botToken, type SlackServer, startSlack } from "../../support/slack/server.ts";
import { adaDirect, bot } from "../../support/slack/world.ts";

const kills = 50;

async function events({ state, home }: Running): Promise<readonly EventReport[]> {
  const { out } = await run(["events", "list", "--json", "--limit", "100", "--state", state], { home });
  return (JSON.parse(out) as { readonly events: readonly EventReport[] }).events;
}

const answersTo = ({ world }: SlackServer, round: number) =>
  (world.channels.get(adaDirect)?.messages ?? []).filter(
    ({ user, text }) => user === bot.user && text.endsWith(`number ${round}.`),
  ).length;

test(`${kills} kills around the sending: nothing is lost, and a repetition is one of unknown fate`, async () => {
  const server = await startSlack();
  onTestFinished(() => server.close());
  let gateway = await startGatewayProcess({
    plugins: { load: [join(root, "plugins", "slack")], entries: { echo: { options: { delayMs: 0 } } } },
    agents: { defaults: { engine: "echo" } },
    channels: {
      slack: {
        ...{ botToken, appToken, apiUrl: server.apiUrl, dmPolicy: "open", allowFrom: ["*"], ackReaction: "" },
        retry: { minDelayMs: 20, maxDelayMs: 200 },
      },
    },
  });
  const connected = () => expect.poll(() => server.delivery.sockets.size).toBeGreaterThan(0);
  for (let round = 1; round <= kills; round += 1) {
    await connected();
    // In each third round Slack takes the message, and the process is gone before its answer.
    const isHung = round % 3 === 0;
    if (isHung) server.faults = [{ method: "chat.postMessage", kind: "hang-after" }];
    const before = server.calls.length;
    server.people.say(`This is number ${round}.`);
    const isSending = () => server.calls.slice(before).some(({ method }) => method === "chat.postMessage");
    await expect.poll(isSending, { interval: 1 }).toBe(true);
    if (!isHung) await delay(round % 7);
    await kill(gateway);
    server.faults = [];
    gateway = await restart(gateway);
    await expect.poll(() => answersTo(server, round)).toBeGreaterThanOrEqual(1);
  }
  await expect
    .poll(async () => (await events(gateway)).map(({ outcome }) => outcome), { interval: 500 })
    .toEqual(Array.from({ length: kills }, () => "answered"));
  const rounds = Array.from({ length: kills }, (_, index) => answersTo(server, index + 1));
  const twice = (await events(gateway)).toReversed().filter((_, index) => (rounds[index] ?? 0) > 1);
  console.log(`kills: ${kills}, lost: ${rounds.filter((count) => count === 0).length}, twice: ${twice.length}`);
  for (const { id } of twice)
    expect((await run(["why", id, "--json", "--state", gateway.state], { home: gateway.home })).out).toContain(
      "possibly_repeated",
    );
  expect(Math.max(...rounds)).toBeLessThanOrEqual(2);
  expect(server.complaints).toEqual([]);
  await stop(gateway);
}, 600_000);
