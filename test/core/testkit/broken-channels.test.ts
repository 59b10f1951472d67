/** The contract of channels catches what it is meant to catch, and nothing else. */
import { describe, expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { problemsOf } from "../../../core/testkit/skips.ts";
import { type Broken, brokenChannels } from "./broken/index.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";
import { abilities, openPostbox } from "./postbox/platform.ts";

/** Rules that look at the whole process, or start gateways: one at a time, and without their neighbours. */
const alone = /^(?:leftovers|life|recovery|conversation) |leaves no /;

const groupOf = (title: string) => title.split(" > ")[0];

/** The rules for a broken channel: the one that is meant for it, and the others of its group. */
function rulesFor({ channel, caughtBy, fixtures, functions }: Broken) {
  const options = { ...contractOf(channel, fixtures), ...(functions === undefined ? {} : { functions }) };
  const rules = contractRules(options);
  const meant = rules.find(({ title }) => title === caughtBy);
  if (meant === undefined) throw new Error(`The contract has no test ${caughtBy}.`);
  return { options, meant, others: rules.filter((rule) => rule !== meant && groupOf(rule.title) === groupOf(caughtBy)) };
}

describe("a channel with a fault", async () => {
  const channels = await brokenChannels();

  test.concurrent.each(channels.filter(([, { caughtBy }]) => !alone.test(caughtBy)))(
    "fails the test that is meant for it, with a sentence that says what is wrong, and no other of its group: %s",
    async (_name, broken) => {
      const { options, meant, others } = rulesFor(broken);
      // What is waited for here never comes.
      await expect(tryRule(meant, options, { patienceMs: 1_000 })).rejects.toThrow(broken.says);
      for (const rule of others.filter(({ title }) => !alone.test(title))) await tryRule(rule, options);
    },
  );

  test.each(channels.filter(([, { caughtBy }]) => alone.test(caughtBy)))(
    "fails the test that is meant for it, with a sentence that says what is wrong: %s",
    async (_name, broken) => {
      const { options, meant } = rulesFor(broken);
      await expect(tryRule(meant, options, { patienceMs: 5_000 })).rejects.toThrow(broken.says);
    },
  );
});

describe("a platform that speaks something else than its channel", () => {
  test("is waited for once: the other rules that need it fail at once, with the first reason, and the rest are tried", async () => {
    const options = {
      ...contractOf(createPostbox()),
      platform: { can: abilities, open: async () => ({ ...(await openPostbox()), write: async () => {} }) },
    };
    const contact = {};
    const attempt = async (title: string, patienceMs: number) => {
      const rule = contractRules(options).find((one) => one.title === title);
      if (rule === undefined) throw new Error(`There is no rule ${title}.`);
      await tryRule(rule, options, { patienceMs, contact });
    };
    await attempt("life > start connects and reports it", 1_000);
    await expect(attempt("life > nothing is received after close", 100)).rejects.toThrow(/^The person wrote, but no message was received/);
    // It would wait for minutes.
    await expect(attempt("conversation > a person is answered", 600_000)).rejects.toThrow(
      "Not tried, because no rule before it could receive a message from the platform. Mend the first one that failed: The person wrote, but",
    );
    await attempt("parse > is pure", 1_000);
  });
});

describe("a skip", () => {
  const skipped = (title: string, reason: string) => problemsOf(contractRules(contractOf(createPostbox())), [{ test: title, reason }]);

  test("of a test that exists, with a reason, is right", () => {
    expect(skipped("parse > is pure", "The library changes its own objects.")).toEqual([]);
  });

  test("without a reason, or of a test that does not exist for the channel, fails", () => {
    expect(skipped("parse > is pure", " ")).toEqual(['The skip of "parse > is pure" gives no reason.']);
    expect(skipped("render > has wings", "It has none.")).toEqual(['There is no test "render > has wings" for this plugin.']);
  });
});
