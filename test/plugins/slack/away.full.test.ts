/** What people say while the gateway or Slack is away. */
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../support/directory.ts";
import { adaDirect, bot, bread } from "../../support/slack/world.ts";
import { openSlack, type SlackBench } from "./bench.ts";

const named = `<@${bot.user}>`;

/** Says things in three places, among them a thread that the bot is in. */
function talk({ server }: Pick<SlackBench, "server">, root: string, round: string): readonly string[] {
  server.people.say(`direct ${round} 1`);
  server.people.say(`${named} channel ${round} 1`, { channel: bread });
  server.people.say(`thread ${round} 1`, { thread: root });
  server.people.say(`direct ${round} 2`);
  server.people.say("among people", { channel: bread });
  server.people.say(`thread ${round} 2`, { thread: root });
  return [`direct ${round} 1`, `direct ${round} 2`, `thread ${round} 1`, `thread ${round} 2`, `channel ${round} 1`];
}

const heardIn = ({ seen }: Pick<SlackBench, "seen">, words: string, channel = adaDirect) =>
  seen(channel)
    .filter((text) => text.includes(words))
    .map((text) => text.replace("heard: ", ""));

/** The waits of the connection are played. */
const reconnected = ({ host, state }: Pick<SlackBench, "host" | "state">) =>
  expect
    .poll(async () => {
      await host.advance(5_000);
      return (await state())?.state;
    })
    .toBe("connected");

test("a socket that is lost for 1 s, 30 s and 300 s: everything arrives once, in order", async () => {
  const bench = await openSlack();
  const { server, host } = bench;
  const root = server.people.say("root");
  server.people.say("first in the thread", { thread: root });
  await expect.poll(() => bench.seen()).toHaveLength(2);
  for (const seconds of [1, 30, 300]) {
    server.faults = [{ method: "apps.connections.open", times: 1_000, kind: "cut-before" }];
    server.delivery.cut();
    await expect.poll(async () => (await bench.state())?.state).toBe("waiting");
    talk(bench, root, String(seconds));
    await host.advance(seconds * 1_000);
    server.faults = [];
    await reconnected(bench);
    await expect
      .poll(() => heardIn(bench, `direct ${seconds} `))
      .toEqual([`direct ${seconds} 1`, `direct ${seconds} 2`]);
    await expect
      .poll(() => heardIn(bench, `thread ${seconds} `))
      .toEqual([`thread ${seconds} 1`, `thread ${seconds} 2`]);
    await expect.poll(() => heardIn(bench, `channel ${seconds} `, bread)).toEqual([`channel ${seconds} 1`]);
  }
  // Nothing comes again, although the history overlaps with what is known.
  await host.advance(10_000);
  expect(bench.seen()).toHaveLength(2 + 3 * 4);
  expect(bench.seen(bread)).toHaveLength(3);
  expect(server.complaints).toEqual([]);
});

test("what was said while the gateway was off is answered once, in order", async () => {
  const directory = temporaryDirectory();
  const first = await openSlack({ directory });
  const { server } = first;
  const root = server.people.say("root");
  server.people.say("in the thread", { thread: root });
  await expect.poll(() => first.seen()).toHaveLength(2);
  await first.host.close();
  const expected = talk(first, root, "off");
  const next = await openSlack({ directory, server });
  for (const words of expected)
    await expect
      .poll(() => [...next.seen(), ...next.seen(bread)].filter((text) => text.endsWith(words)))
      .toHaveLength(1);
  expect(heardIn(next, "direct off ")).toEqual(["direct off 1", "direct off 2"]);
  await next.host.close();
});

test("a fresh gateway answers nothing that was said before it", async () => {
  const { server, host } = await openSlack();
  await host.close();
  server.people.say("old news");
  const next = await openSlack({ server });
  server.people.say("new");
  await expect.poll(() => next.seen()).toEqual(["heard: new"]);
});

test("a history that Slack limits is read as soon as it allows, and one without permission is left out", async () => {
  const bench = await openSlack();
  const { server, host } = bench;
  server.delivery.cut();
  server.people.say("while away");
  server.faults = [{ method: "conversations.history", times: 3, kind: "limit" }];
  await expect
    .poll(async () => {
      await host.advance(1_000);
      return bench.seen();
    })
    .toEqual(["heard: while away"]);
  server.scopes = server.scopes.filter((scope) => !scope.endsWith(":history"));
  server.delivery.cut();
  await expect.poll(async () => (await bench.state())?.state).toBe("waiting");
  await reconnected(bench);
  server.people.say("and now");
  await expect.poll(() => bench.seen().at(-1)).toBe("heard: and now");
});
