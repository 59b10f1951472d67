/** The rules that every channel keeps, as tests. */
import { asSentence } from "../contract/index.ts";
import { type Contact, withBench } from "./channel/bench.ts";
import type { ChannelContractOptions } from "./channel/options.ts";
import { applies, type Rule } from "./channel/rule.ts";
import { absenceRules } from "./channel/rules/absence.ts";
import { conversationRules } from "./channel/rules/conversation.ts";
import { declarationRules } from "./channel/rules/declaration.ts";
import { editRules } from "./channel/rules/edits.ts";
import { ephemeralRules } from "./channel/rules/ephemeral.ts";
import { fileRules } from "./channel/rules/files.ts";
import { gestureRules } from "./channel/rules/gestures.ts";
import { groupRules } from "./channel/rules/groups.ts";
import { leftoverRules } from "./channel/rules/leftovers.ts";
import { lifeRules } from "./channel/rules/life.ts";
import { limitRules } from "./channel/rules/limits.ts";
import { operationRules } from "./channel/rules/operation.ts";
import { parseRules } from "./channel/rules/parse.ts";
import { platformFieldRules } from "./channel/rules/platform-fields.ts";
import { postedRules } from "./channel/rules/posted.ts";
import { pressRules } from "./channel/rules/presses.ts";
import { previewRules } from "./channel/rules/preview.ts";
import { receiveRules } from "./channel/rules/receive.ts";
import { recoveryRules } from "./channel/rules/recovery.ts";
import { renderRules } from "./channel/rules/render.ts";
import { repetitionRules } from "./channel/rules/repetition.ts";
import { reportRules } from "./channel/rules/reports.ts";
import { secretRules } from "./channel/rules/secrets.ts";
import { sendRules } from "./channel/rules/send.ts";
import { signInRules } from "./channel/rules/sign-in.ts";
import { statedCapabilities } from "./channel/stated.ts";
import { defineContract } from "./skips.ts";

const allRules: readonly Rule[] = [
  ...declarationRules,
  ...parseRules,
  ...renderRules,
  ...platformFieldRules,
  ...limitRules,
  ...lifeRules,
  ...leftoverRules,
  ...receiveRules,
  ...postedRules,
  ...groupRules,
  ...ephemeralRules,
  ...pressRules,
  ...sendRules,
  ...repetitionRules,
  ...reportRules,
  ...editRules,
  ...previewRules,
  ...fileRules,
  ...gestureRules,
  ...operationRules,
  ...secretRules,
  ...signInRules,
  ...recoveryRules,
  ...absenceRules,
  ...conversationRules,
];

/** The rules that apply to a channel, given its capabilities and what its platform can do. */
export function contractRules(options: ChannelContractOptions): readonly Rule[] {
  const definition = options.channel.channel;
  if (definition === undefined) return allRules;
  const capabilities = statedCapabilities(definition, options);
  return allRules.filter((rule) => applies(rule, definition, capabilities, options));
}

/**
 * Tries one rule on a fresh connection. With `contact`, a platform that an earlier rule did not reach is not tried
 * again.
 */
export async function tryRule(
  rule: Rule,
  options: ChannelContractOptions,
  how: { readonly patienceMs?: number; readonly contact?: Contact } = {},
): Promise<void> {
  const failed = rule.needs === undefined ? undefined : how.contact?.failed;
  if (failed !== undefined)
    throw new Error(
      "Not tried, because no rule before it could receive a message from the platform. Mend the first one " +
        `that failed: ${asSentence(failed)}`,
    );
  await withBench(options, (bench) => rule.run(bench), how);
}

/**
 * Defines the tests that a channel has to pass, as a group of vitest under its id, with a group for each part of the
 * contract. Capabilities that are declared, functions that are listed, and what the platform can do add their own. Each
 * test opens an account of its own. Throws nothing: what is broken is a failing test, with a sentence that says what
 * the contract asks.
 *
 * Skip a test that a channel cannot pass by its title, with a reason. A skip without a reason, or of a test that does
 * not exist, fails.
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
 *   skip: [
 *     { test: "life > start reports an unavailable platform", reason: "The library reports it after its own 60 s." },
 *   ],
 * });
 */
export function channelContract(options: ChannelContractOptions): void {
  const { channel, concurrent, skip } = options;
  const contact: Contact = {};
  const attempt = (rule: Rule) => tryRule(rule, options, { contact });
  defineContract({ id: channel.id, rules: contractRules(options), skip, attempt, concurrent });
}
