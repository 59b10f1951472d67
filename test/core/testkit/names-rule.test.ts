/** The rule about names that cannot be looked up. */
import { expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { broken } from "./broken/waits-for-names.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";

function ruleOf(options: ReturnType<typeof contractOf>) {
  const rule = contractRules(options).find(({ title }) => title === broken.caughtBy);
  if (rule === undefined) throw new Error("There is no such rule.");
  return rule;
}

test("passes for a channel that submits the event without the name", async () => {
  const options = contractOf(createPostbox());
  await tryRule(ruleOf(options), options);
});

test("fails for a channel that waits for the name", async () => {
  const options = contractOf(broken.channel);
  await expect(tryRule(ruleOf(options), options, { patienceMs: 1_000 })).rejects.toThrow(broken.says);
});
