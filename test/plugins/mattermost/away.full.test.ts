/** The server is away for a second, half a minute and five minutes: what was said arrives once, in order. */
import { expect, test } from "vitest";
import { openHost } from "./host.ts";

test.each([1, 30, 300])("after %i seconds, what was said meanwhile is answered once and in order", async (seconds) => {
  const { server, host, answers, until, playUntil } = await openHost();
  const { ada, chat } = server;
  server.say(ada, chat, "before");
  await until(() => answers().length === 1);
  await server.leave();
  for (let index = 0; index < 10; index += 1) {
    server.say(ada, chat, `while away ${index}`);
    await host.advance(seconds * 100);
  }
  await server.back();
  await playUntil(() => answers().length >= 11);
  server.say(ada, chat, "after");
  await playUntil(() => answers().includes("heard: after"));
  const expected = Array.from({ length: 10 }, (_, index) => `heard: while away ${index}`);
  expect(answers()).toEqual(["heard: before", ...expected, "heard: after"]);
});
