/** What a stranger wrote before the approval is answered after it. */
import { createTestHost } from "service-gateway/testkit";
import { expect, test } from "vitest";
import { onTestFinished } from "../support/own-test.ts";

async function open() {
  const heard: string[] = [];
  const host = await createTestHost({
    config: { channels: { loopback: { dmPolicy: "pairing", allowFrom: ["owner"] } } },
    answer({ inbound }) {
      heard.push(inbound.text);
      return `heard: ${inbound.text}`;
    },
  });
  onTestFinished(() => host.close());
  const said = () => host.outbox().map(({ text }) => text);
  const codeOf = (text = "") => /`([A-Z2-9]{8})`/.exec(text)?.[1] ?? "";
  const approve = (code: string) =>
    host.fetch("/gateway/pairing/approve", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ channel: "loopback", code }),
    });
  return { host, heard, said, codeOf, approve };
}

test("the approval greets the sender and runs the newest message once", async () => {
  const { host, heard, said, codeOf, approve } = await open();
  expect(await host.say("what is the time?", { from: "ada" })).toMatchObject({
    outcome: "refused",
    reason: "pairing_required",
  });
  await host.say("are you there?", { from: "ada" });
  await host.say("I need the time in Oslo", { from: "ada" });
  expect(said()).toEqual([
    expect.stringContaining("Pairing code"),
    expect.stringContaining("I wait for the owner's approval"),
  ]);
  expect(heard).toEqual([]);
  expect(await approve(codeOf(said()[0]))).toMatchObject({ status: 200 });
  await expect.poll(said).toContain("heard: I need the time in Oslo");
  expect(said()).toContain("You are approved. I answer your last message now.");
  expect(heard).toEqual(["I need the time in Oslo"]);
  await host.say("thank you", { from: "ada" });
  expect(heard).toEqual(["I need the time in Oslo", "thank you"]);
});
