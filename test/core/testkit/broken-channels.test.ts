/** The contract of channels catches what it is meant to catch. */
import { describe, expect, test } from "vitest";
import { contractRules, skipProblems, tryRule } from "../../../core/testkit/channel-contract.ts";
import { brokenChannels } from "./broken/index.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";

describe("a channel with a fault fails the test that is meant for it, with a sentence that says what is wrong", async () => {
  test.each(await brokenChannels())("%s", async (_name, { channel, caughtBy, says }) => {
    const options = contractOf(channel);
    const rule = contractRules(options).find(({ title }) => title === caughtBy);
    if (rule === undefined) throw new Error(`The contract has no test ${caughtBy}.`);
    // What is waited for here never comes.
    await expect(tryRule(rule, options, { patienceMs: 1_000 })).rejects.toThrow(says);
  });
});

describe("a skip", () => {
  const options = contractOf(createPostbox());
  const skipped = (test: string, reason: string) => skipProblems({ ...options, skip: [{ test, reason }] });

  test("of a test that exists, with a reason, is right", () => {
    expect(skipped("parse > is pure", "The library changes its own objects.")).toEqual([]);
  });

  test("without a reason, or of a test that does not exist for the channel, fails", () => {
    expect(skipped("parse > is pure", " ")).toEqual(['The skip of "parse > is pure" gives no reason.']);
    expect(skipped("render > a file alone is a part", "It has no files.")).toEqual([
      'There is no test "render > a file alone is a part" for this channel.',
    ]);
  });
});
