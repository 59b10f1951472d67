/** The summary of a hook whose reply went to a person contains the address of the person's chat. */
import { join } from "node:path";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import { temporaryHome } from "./command.ts";
import { run } from "./command-runner.ts";

const token = "hook-token-of-the-test-1";

test("is named while it waits, and erased with the person once a turn has read it", async () => {
  const host = await createTestHost({
    config: {
      hooks: {
        token,
        mappings: [
          {
            ...{ match: { path: "alert" }, messageTemplate: "{{ text }}", wakeMode: "next-heartbeat" },
            ...{ deliver: true, channel: "loopback", to: "ada" },
          },
        ],
      },
    },
    answer: ({ inbound }) => `about ${inbound.text.length} characters`,
  });
  onTestFinished(() => host.close());
  const answer = await fetch(`${host.url}/hooks/alert`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: '{"text":"The disk is full."}',
  });
  expect(answer.status).toBe(202);
  const { eventId } = (await answer.json()) as { readonly eventId: string };
  await host.settled(eventId);
  const erase = () => run(["privacy", "erase", "loopback:ada", "--config", host.configFile], { home: temporaryHome() });
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  onTestFinished(() => store.close());
  const summaries = async () =>
    (await store.events({ limit: 100, source: "hooks", includeInternal: true })).filter(
      ({ kind }) => kind === "summary",
    );
  await expect.poll(async () => (await summaries()).length).toBe(1);

  expect(await erase()).toMatchObject({
    code: 1,
    out: expect.stringMatching(/1 summary of a hook with the address of the reply, .*: run this again after that\./),
  });
  // Any message of the main session takes it along.
  await host.say("hello");
  await expect.poll(async () => (await summaries()).map(({ state }) => state)).toEqual(["settled"]);
  expect(await erase()).toMatchObject({ code: 0 });
  expect(await summaries()).toEqual([]);
});
