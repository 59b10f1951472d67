/**
 * A state that cannot be read or written while an event is on its way: neither the event nor what handles it is at
 * fault.
 */
import { expect, onTestFinished, test } from "vitest";
import { definePlugin } from "../../../core/sdk/contract.ts";
import { storeError } from "../../../core/sdk/store.ts";
import { removeDirectory } from "../../support/directory.ts";
import { createLoopback, repeat, startGateway } from "../../support/gateway.ts";

const hooks = ["ingress", "gating", "routing", "turn", "formatting"] as const;

/** At each hook point, the first event that names the hook meets a database that is away. */
function createAway() {
  const met = new Set<string>();
  const meet = (hook: string, text: string) => {
    if (text.includes(hook) && !met.has(hook)) {
      met.add(hook);
      throw storeError("database_away", { reason: "connection refused" });
    }
    return undefined;
  };
  const plugin = definePlugin({
    id: "away",
    version: "1.0.0",
    host: "^0.2.0",
    setup(host) {
      host.tap("ingress", (event) => meet("ingress", JSON.stringify(event.body)), { order: "early" });
      host.tap("gating", ({ text }) => meet("gating", text));
      host.tap("routing", ({ text }) => meet("routing", text));
      host.tap("turn", ({ text }) => meet("turn", text));
      host.tap("formatting", ({ text }) => meet("formatting", text));
    },
  });
  return { plugin, met };
}

test("an event that meets a database outage waits and runs again, without counting the attempt", async () => {
  const loopback = createLoopback();
  const away = createAway();
  const { gateway, directory, settled } = await startGateway({
    config: { channels: { loopback: { dmPolicy: "open", allowFrom: ["*"] } } },
    plugins: [loopback.plugin, repeat, away.plugin],
  });
  onTestFinished(async () => {
    await gateway.close();
    removeDirectory(directory);
  });
  const ids = await Promise.all(
    hooks.map((hook, index) => loopback.say(`over ${hook}`, { chat: `${index}`, sender: `${index}` })),
  );
  for (const id of ids) expect(await settled(id)).toMatchObject({ outcome: "answered", attempts: 1 });
  expect([...away.met].sort()).toEqual(hooks.toSorted());
  expect(loopback.sent.map(({ text }) => text).sort()).toEqual(hooks.map((hook) => `heard: over ${hook}`).sort());
});
