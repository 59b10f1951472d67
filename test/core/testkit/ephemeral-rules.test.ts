/** The rules about messages for one person, held against channels that can show them, and one that cannot. */
import { describe, expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { broken as sendsNothing } from "./broken/names-no-interaction.ts";
import { broken as showsAll } from "./broken/shows-it-to-everyone.ts";
import { capabilities, contractOf, createPostbox } from "./postbox/channel.ts";

const { ephemeral: _, ...without } = capabilities;

function optionsOf(declared: typeof capabilities) {
  return contractOf(createPostbox(() => ({}), { capabilities: declared }));
}

const rulesOf = (options: ReturnType<typeof contractOf>) =>
  contractRules(options).filter(({ title }) => /^ephemeral > |answer of a command in a group/.test(title));

describe.concurrent("the rules about messages for one person", () => {
  test.each([
    ["in answer to any message", { ...capabilities, ephemeral: true }, 2],
    ["in answer to interactions", { ...capabilities, ephemeral: "interactions" as const }, 2],
    ["not at all, so that a command is answered for everyone", without, 1],
  ])("pass for a channel that can show them %s", async (_title, declared, count) => {
    const options = optionsOf(declared);
    const rules = rulesOf(options);
    expect(rules.length).toBe(count);
    for (const rule of rules) await tryRule(rule, options);
  });

  test.each([
    ["shows them to everyone", showsAll],
    ["does not name the interaction", sendsNothing],
  ])("fail for a channel that %s", async (_title, { channel, caughtBy, says }) => {
    const options = contractOf(channel);
    const rule = rulesOf(options).find(({ title }) => title === caughtBy);
    if (rule === undefined) throw new Error(`There is no rule ${caughtBy}.`);
    await expect(tryRule(rule, options)).rejects.toThrow(says);
  });
});
