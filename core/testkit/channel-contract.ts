/** The rules for every channel, as tests. */
import { describe, expect, test } from "vitest";
import { withBench } from "./channel/bench.ts";
import type { ChannelContractOptions } from "./channel/options.ts";
import { applies, type Rule } from "./channel/rule.ts";
import { declarationRules } from "./channel/rules/declaration.ts";
import { lifeRules } from "./channel/rules/life.ts";
import { parseRules } from "./channel/rules/parse.ts";
import { receiveRules } from "./channel/rules/receive.ts";
import { renderRules } from "./channel/rules/render.ts";
import { sendRules } from "./channel/rules/send.ts";

/** Longer than the rules wait for an expected event. */
const timeoutMs = 60_000;

/** The rules that apply to a channel, given its capabilities and what its platform can do. */
export function contractRules(options: ChannelContractOptions): readonly Rule[] {
  const definition = options.channel.channel;
  const all = [...declarationRules, ...parseRules, ...renderRules, ...lifeRules, ...receiveRules, ...sendRules];
  return definition === undefined ? all : all.filter((rule) => applies(rule, definition, options));
}

/** Tries one rule on a fresh connection. */
export async function tryRule(rule: Rule, options: ChannelContractOptions, how: { readonly patienceMs?: number } = {}): Promise<void> {
  await withBench(options, (bench) => rule.run(bench), how);
}

/**
 * Defines the tests that a channel has to pass, as a vitest group named after its id. It contains a group for each part of the contract:
 * declaration, options, parse, render, life and, with a platform, receive, conversation and send. Declared capabilities and the abilities
 * of the platform add further tests. Each test opens an account of its own. The call itself never throws: a violation is a failing test,
 * with a sentence that says what the contract requires.
 *
 * Skip a test that a channel cannot pass by its title, with a reason. A skip without a reason, or of a test that does not exist, fails.
 *
 * @example
 * channelContract({
 *   channel: irc,
 *   options: { nick: "bot" },
 *   platform: { can: ["away", "refuse"], open: openIrcServer },
 *   fixtures: {
 *     messages: [{ raw: { from: "ada!a@host", text: "Hello" }, expect: { text: "Hello", sender: { id: "ada" } } }],
 *     own: [{ from: "bot!b@host", text: "Hello" }],
 *     renamed: [],
 *   },
 *   skip: [{ test: "life > start reports a platform that is away", reason: "The library reports it after its own 60 s." }],
 * });
 */
export function channelContract(options: ChannelContractOptions): void {
  const { channel, skip = [] } = options;
  const rules = contractRules(options);
  describe(channel.id, () => {
    for (const [group, of] of Map.groupBy(rules, ({ title }) => title.split(" > ")[0] ?? "")) {
      describe(group, () => {
        for (const rule of of) {
          const reason = skip.find((one) => one.test === rule.title)?.reason;
          test(rule.title.slice(group.length + 3), { timeout: timeoutMs }, async (context) => {
            if (reason !== undefined && reason.trim() !== "") context.skip(reason);
            await tryRule(rule, options);
          });
        }
      });
    }
    test("each skip names a test and says why", () => {
      expect(skipProblems(options)).toEqual([]);
    });
  });
}

/** What is wrong with the skips, one sentence each. */
export function skipProblems({ skip = [], ...options }: ChannelContractOptions): readonly string[] {
  const titles = new Set(contractRules(options).map(({ title }) => title));
  return skip.flatMap(({ test: title, reason }) => {
    if (!titles.has(title)) return [`There is no test "${title}" for this channel.`];
    return reason.trim() === "" ? [`The skip of "${title}" gives no reason.`] : [];
  });
}
