/** Calls that a model makes in one step run in parallel. What is said of them is in the order of the calls. */
import { definePlugin, Type } from "service-gateway/sdk";
import { createTestHost } from "service-gateway/testkit";
import { expect, onTestFinished, test } from "vitest";

test("why lists the calls of a step in the order in which the model made them, whichever ends first", async () => {
  const last = Promise.withResolvers<void>();
  const host = await createTestHost({
    plugins: [
      definePlugin({
        id: "lab",
        version: "1.0.0",
        host: "^0.2.0",
        setup(host) {
          const tool = { description: "Reads.", parameters: Type.Object({}), readOnly: true };
          host.tool({ ...tool, name: "lab_slow", run: () => last.promise.then(() => ({ ok: true })) });
          host.tool({ ...tool, name: "lab_fast", run: () => ({ ok: true }) });
        },
      }),
    ],
    async answer({ tools }, signal) {
      const called = ["lab_slow", "lab_fast", "lab_fast"].map((name) =>
        tools.find((tool) => tool.name === name)?.run({}, signal),
      );
      await called[2];
      last.resolve();
      await Promise.all(called);
      return "Done.";
    },
  });
  onTestFinished(() => host.close());
  const { eventId } = await host.say("read all", { from: "owner" });
  const found = (await host.why(eventId)).flatMap(({ detail = "" }) => /^the tool (\w+)/.exec(detail)?.[1] ?? []);
  expect(found).toEqual(["lab_slow", "lab_fast", "lab_fast"]);
});
