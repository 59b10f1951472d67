/** What is recorded of a turn's calls, after its event has ended. */
import { join } from "node:path";
import { definePlugin, Type } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../../core/state/sqlite/index.ts";

test("the calls of an answered turn are forgotten, and those of a failed one remain for a retry", async () => {
  const host = await createTestHost({
    plugins: [
      definePlugin({
        id: "lab",
        version: "1.0.0",
        host: "^0.2.0",
        setup(host) {
          const parameters = Type.Object({ text: Type.String() });
          host.tool({ name: "note", description: "Notes a text.", parameters, run: () => ({ ok: true }) });
        },
      }),
    ],
    async answer({ inbound, tools }, signal) {
      await tools.find(({ name }) => name === "note")?.run({ text: inbound.text }, signal);
      if (inbound.text === "fail") throw new Error("no model");
      return "Noted.";
    },
    allowErrors: [/no model/],
  });
  onTestFinished(() => host.close());
  expect(await host.say("answer")).toMatchObject({ outcome: "answered" });
  expect(await host.say("fail")).toMatchObject({ outcome: "failed" });
  const store = await openSqliteStore({ directory: join(host.directory, "state"), now: host.now });
  onTestFinished(() => store.close());
  await expect
    .poll(() => store.list("tool-calls"), { interval: 20, timeout: 10_000 })
    .toMatchObject([{ value: { args: { text: "fail" } } }]);
});
