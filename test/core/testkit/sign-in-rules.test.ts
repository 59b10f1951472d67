/** The rules for platforms on which a person signs the bot in. */
import { describe, expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { broken as fails } from "./broken/fails-when-signed-out.ts";
import { broken as forgets } from "./broken/forgets-its-session.ts";
import { broken as tells } from "./broken/signs-in-in-a-status.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";

const rulesOf = (options: ReturnType<typeof contractOf>) =>
  contractRules(options).filter(({ title }) => title.startsWith("sign-in > "));

describe.concurrent("the rules about a sign-in", () => {
  test("pass for a channel that asks, and stores what it gets as a secret", async () => {
    const options = contractOf(createPostbox());
    expect(rulesOf(options).length).toBe(4);
    for (const rule of rulesOf(options)) await tryRule(rule, options);
  });

  test.each([
    ["gives up", fails],
    ["forgets its session", forgets],
    ["writes the code into its status", tells],
  ])("fail for a channel that %s", async (_title, { channel, caughtBy, says }) => {
    const options = contractOf(channel);
    const rule = rulesOf(options).find(({ title }) => title === caughtBy);
    if (rule === undefined) throw new Error(`There is no rule ${caughtBy}.`);
    await expect(tryRule(rule, options, { patienceMs: 1_000 })).rejects.toThrow(says);
  });
});
