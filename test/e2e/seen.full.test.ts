/** The reaction that says "seen", over the death of the process that set it: whoever ends the event takes it away. */
import { expect, test } from "vitest";
import type { Platform } from "../../plugins/playground/platform/index.ts";
import { temporaryHome } from "../core/cli/command.ts";
import { answered, configure, kill, openChannel, openPlatform, people, restart, stop } from "./room.ts";

async function prepare() {
  const platform = await openPlatform();
  const home = temporaryHome();
  const file = configure(home, {
    plugins: { entries: { echo: { options: { delayMs: 400 } } } },
    agents: { defaults: { engine: "echo" } },
    messages: { ackReactionScope: "all", removeAckAfterReply: true },
    channels: { botchat: openChannel(platform, { ackReaction: "👀", streamMode: "off" }) },
  });
  const [ada = 0] = people(platform);
  return { platform, place: { home, file }, ada };
}

const reactions = (platform: Platform) =>
  [...platform.world.rooms.values()].flatMap((room) => [...room.reactions.values()]).length;
const seen = (platform: Platform, count: number) =>
  expect.poll(() => reactions(platform), { interval: 10 }).toBe(count);
const called = (platform: Platform, method: string, count: number) =>
  expect.poll(() => platform.calls.list({ method }).length, { interval: 10 }).toBe(count);

test.each([
  ["while its turn ran", undefined],
  ["while its answer was on its way", "sendMessage"],
  ["when its answer was there", "setMessageReaction"],
])("the seen reaction of a process killed %s is removed by the next process", async (_when, method) => {
  const { platform, place, ada } = await prepare();
  const first = await restart(place);
  platform.act.say(ada, ada, "hello");
  await seen(platform, 1);
  if (method !== undefined) {
    // Held for ever: the process dies over it.
    platform.faults.add({ method, times: 1, kind: "drop" });
    await called(platform, method, method === "sendMessage" ? 1 : 2);
  }
  await kill(first);
  platform.faults.clear();
  expect(reactions(platform)).toBe(1);
  const second = await restart(place);
  await answered(platform, ada, "hello");
  await seen(platform, 0);
  await stop(second);
});
