/** The contract of channels catches what it is meant to catch, and nothing else. */
import { beforeAll, describe, expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { problemsOf } from "../../../core/testkit/skips.ts";
import { type Broken, brokenChannels } from "./broken/index.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";
import { abilities, openPostbox } from "./postbox/platform.ts";

/**
 * Rules that look at the whole process, or play ten minutes of its time: one at a time, and without their neighbours.
 */
const alone = /^leftovers |^life > (?!start )|falls silent|leaves no /;
/** Rules that start gateways, or wait for a platform that is away: without their neighbours. */
const slow = /^(?:recovery|conversation) |^life > start /;

const groupOf = (title: string) => title.split(" > ")[0];

/**
 * `fetch` ends a request after five minutes without an answer. It keeps the timer of its first request, which is a real
 * one here: the clock of the contract would play it, and a channel that never gives up would be taken for one that
 * does.
 */
beforeAll(async () => {
  const platform = await openPostbox();
  await fetch(String(platform.options.url));
  await platform.close();
});

/** The rules for a broken channel: the one that is meant for it, and the others of its group. */
function rulesFor({ channel, caughtBy, alsoCaughtBy = [], fixtures, functions }: Broken) {
  const options = { ...contractOf(channel, fixtures), ...(functions === undefined ? {} : { functions }) };
  const rules = contractRules(options);
  const meant = rules.find(({ title }) => title === caughtBy);
  if (meant === undefined) throw new Error(`The contract has no test ${caughtBy}.`);
  const group = rules.filter((rule) => rule !== meant && groupOf(rule.title) === groupOf(caughtBy));
  return {
    options,
    meant,
    also: group.filter(({ title }) => alsoCaughtBy.includes(title)),
    others: group.filter(({ title }) => !alsoCaughtBy.includes(title)),
  };
}

describe("a faulty channel", async () => {
  const channels = await brokenChannels();

  const isAlone = ([, { caughtBy }]: (typeof channels)[number]) => alone.test(caughtBy);
  const isSlow = (one: (typeof channels)[number]) => slow.test(one[1].caughtBy) && !isAlone(one);
  // What is waited for in these never comes; what else a rule waits for must come meanwhile, such as a connection on a
  // busy machine.
  const [patient, impatient] = [{ patienceMs: 5_000 }, { patienceMs: 3_000 }];

  test.concurrent.each(channels.filter((one) => !isAlone(one) && !isSlow(one)))(
    "fails its intended test with a clear message and no other test of the group: %s",
    async (_name, broken) => {
      const { options, meant, also, others } = rulesFor(broken);
      await expect(tryRule(meant, options, impatient)).rejects.toThrow(broken.says);
      expect(also.map(({ title }) => title)).toEqual(broken.alsoCaughtBy ?? []);
      for (const rule of also) await expect(tryRule(rule, options, impatient)).rejects.toThrow();
      for (const rule of others.filter(({ title }) => !alone.test(title))) await tryRule(rule, options);
    },
  );

  async function failsMeant(broken: Broken, patience: typeof patient): Promise<void> {
    const { options, meant } = rulesFor(broken);
    await expect(tryRule(meant, options, patience)).rejects.toThrow(broken.says);
  }

  test.each(channels.filter(isAlone))(
    "fails its intended test with a clear message: %s",
    async (_name, broken) => await failsMeant(broken, impatient),
  );

  test.concurrent.each(channels.filter(isSlow))(
    "fails its intended test with a clear message: %s",
    async (_name, broken) => await failsMeant(broken, patient),
  );
});

describe("a platform that speaks another protocol than its channel", () => {
  test("is waited for once: other rules that need it fail at once with the first reason, the rest run", async () => {
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
    await expect(attempt("life > nothing is received after close", 100)).rejects.toThrow(
      /^The person wrote, but no message was received/,
    );
    // It would wait for minutes.
    await expect(attempt("conversation > a person is answered", 600_000)).rejects.toThrow(
      "Not tried, because no rule before it could receive a message from the platform. Mend the first one " +
        "that failed: The person wrote, but",
    );
    await attempt("parse > is pure", 1_000);
  });
});

describe("skipping a test", () => {
  const skipped = (title: string, reason: string) =>
    problemsOf(contractRules(contractOf(createPostbox())), [{ test: title, reason }]);

  test("is allowed for an existing test with a reason", () => {
    expect(skipped("parse > is pure", "The library changes its own objects.")).toEqual([]);
  });

  test("fails without a reason or for a test that does not exist for the channel", () => {
    expect(skipped("parse > is pure", " ")).toEqual(['The skip of "parse > is pure" gives no reason.']);
    expect(skipped("render > has wings", "It has none.")).toEqual([
      'There is no test "render > has wings" for this plugin.',
    ]);
  });
});
