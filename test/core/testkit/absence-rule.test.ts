/** The rule about what people write while the bot is away: channels that deliver it, and one that does not. */
import { expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { broken } from "./broken/skips-what-waited.ts";
import { capabilities, contractOf, createPostbox } from "./postbox/channel.ts";

const ruleOf = (options: ReturnType<typeof contractOf>) =>
  contractRules(options).find(({ title }) => title.startsWith("absence > "));

test("passes for a platform that delivers it", async () => {
  const options = contractOf(createPostbox());
  const rule = ruleOf(options);
  if (rule === undefined) throw new Error("There is no such rule.");
  await tryRule(rule, options);
});

test("fails for a channel that leaves it out, and is not there for a platform that loses it", async () => {
  const options = contractOf(broken.channel);
  const rule = ruleOf(options);
  if (rule === undefined) throw new Error("There is no such rule.");
  await expect(tryRule(rule, options, { patienceMs: 1_000 })).rejects.toThrow(broken.says);
  const losing = { ...capabilities, keepsWhileAway: false as const };
  expect(ruleOf(contractOf(createPostbox(() => ({}), { capabilities: losing })))).toBeUndefined();
});
