/** `/whoami` tells anyone their id in a direct chat, because an allowlist begins with it. */
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { onTestFinished } from "../support/own-test.ts";

async function open(loopback: object, more: object = {}) {
  const host = await createTestHost({ config: { channels: { loopback }, ...more } });
  onTestFinished(() => host.close());
  const said = () => host.outbox().map(({ text }) => text);
  return { host, said };
}

test.each([
  ["allowlist", "sender_not_allowed"],
  ["pairing", "pairing_required"],
])("under %s, an unknown sender gets the id and nothing else, once a minute", async (dmPolicy, reason) => {
  const { host, said } = await open({ dmPolicy, allowFrom: ["owner"] });
  expect(await host.say("/whoami", { from: "ada" })).toMatchObject({ outcome: "refused", reason });
  await host.say("/whoami", { from: "ada" });
  expect(said()).toEqual(["Your id: `ada`"]);
  await host.say("/whoami", { from: "bela" });
  expect(said()).toEqual(["Your id: `ada`", "Your id: `bela`"]);
  await host.advance(61_000);
  await host.say("/whoami", { from: "ada" });
  expect(said()).toHaveLength(3);
});

test.each([
  ["direct chats that are switched off", { dmPolicy: "disabled" }, {}, {}],
  [
    "a group",
    { dmPolicy: "allowlist", groupPolicy: "allowlist", allowFrom: ["owner"] },
    {},
    { chat: "kitchen", group: true },
  ],
  ["a gateway without commands", { dmPolicy: "allowlist", allowFrom: ["owner"] }, { commands: { native: false } }, {}],
])("%s does not answer an unknown sender", async (_name, loopback, more, place) => {
  const { host, said } = await open(loopback, more);
  expect(await host.say("/whoami", { from: "ada", ...place })).toMatchObject({ outcome: "refused" });
  expect(said()).toEqual([]);
});
