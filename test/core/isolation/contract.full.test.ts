/**
 * The contract of channels, kept by channels in a worker. The contract calls `parse` and `render` at once, so here both
 * are computed inline; the first tests show that the worker computes the same.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ChannelDefinition, PluginDefinition } from "../../../core/sdk/contract.ts";
import { readSection } from "../../../core/testkit/channel/bench.ts";
import { createTestAccount } from "../../../core/testkit/channel/test-account.ts";
import { type ChannelContractOptions, channelContract } from "../../../core/testkit/index.ts";
import template from "../../../examples/plugin-template/src/index.ts";
import { fixtures, functions, options } from "../../../examples/plugin-template/test/fixtures.ts";
import { openPlatform } from "../../../examples/plugin-template/test/platform.ts";
import botchat from "../../../plugins/botchat/index.ts";
import discord from "../../../plugins/discord/index.ts";
import irc from "../../../plugins/irc/index.ts";
import mattermost from "../../../plugins/mattermost/index.ts";
import slack from "../../../plugins/slack/index.ts";
import { root } from "../../house/sources.ts";
import { contract as botchatContract } from "../../plugins/botchat/contract-options.ts";
import { contract as discordContract } from "../../plugins/discord/contract-options.ts";
import { contract as ircContract } from "../../plugins/irc/contract-options.ts";
import { contract as mattermostContract } from "../../plugins/mattermost/contract-options.ts";
import { socketContract as slackContract } from "../../plugins/slack/contract-options.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { inWorker } from "./in-worker.ts";

const reply = { text: "Good **morning**\n\n- one\n- two", media: [], buttons: [] };

function channelOf({ channel }: PluginDefinition): ChannelDefinition {
  if (channel === undefined) throw new Error("the plugin declares no channel");
  return channel;
}

const templateContract: Omit<ChannelContractOptions, "channel"> = {
  options,
  fixtures,
  functions,
  platform: { can: ["away", "cut", "hang", "limit", "refuse", "repeat", "unconfirmed"], open: () => openPlatform() },
};

const { TEST_PROGRAM } = process.env;
/** Only this one comes with the program, from which its thread loads it without transpiling. */
const botchatFile =
  TEST_PROGRAM === undefined ? join(root, "plugins/botchat/index.ts") : join(TEST_PROGRAM, "plugins/botchat/index.js");

describe.each([
  {
    inline: template,
    source: { file: join(root, "examples/plugin-template/src/index.ts"), bundled: false },
    contract: templateContract,
  },
  {
    inline: discord,
    source: { file: join(root, "plugins/discord/index.ts"), bundled: false },
    contract: discordContract,
  },
  { inline: irc, source: { file: join(root, "plugins/irc/index.ts"), bundled: false }, contract: ircContract },
  {
    inline: mattermost,
    source: { file: join(root, "plugins/mattermost/index.ts"), bundled: false },
    contract: mattermostContract,
  },
  { inline: slack, source: { file: join(root, "plugins/slack/index.ts"), bundled: false }, contract: slackContract },
  { inline: botchat, source: { file: botchatFile, bundled: true }, contract: botchatContract },
])("$inline.id in a worker", ({ inline, source, contract }) => {
  const worker = inWorker(inline, source);
  beforeAll(() => worker.start());
  afterAll(() => worker.close());

  async function both() {
    const platform = await contract.platform?.open();
    onTestFinished(() => platform?.close());
    const directory = temporaryDirectory();
    const definition = channelOf(inline);
    const read = await readSection(definition, { ...contract.options, ...platform?.options }, directory);
    const values = read?.settings?.options ?? {};
    const { account } = createTestAccount({
      channel: inline.id,
      options: values,
      directory,
      now: Date.now,
      elapsed: Date.now,
    });
    const remote = worker.channel().open(account as never);
    onTestFinished(() => remote.close());
    return { local: definition.open(account as never), remote };
  }

  test("parses as the channel does inline", async () => {
    const { local, remote } = await both();
    const raws = [
      ...contract.fixtures.messages.map(({ raw }) => raw),
      ...contract.fixtures.own,
      null,
      7,
      "junk",
      { junk: [] },
    ];
    expect(raws.length).toBeGreaterThan(4);
    for (const raw of raws) expect(await remote.parse(raw)).toEqual(local.parse(raw));
  });

  test("renders as the channel does inline", async () => {
    const { local, remote } = await both();
    const address = { channel: inline.id, account: "default", chat: "1" };
    for (const text of [reply.text, "x".repeat(10_000), "", "a < b & `c`"])
      expect(await remote.render({ ...reply, text }, address)).toEqual(local.render({ ...reply, text }, address));
  });

  test("checks its options as the channel does inline", async () => {
    const definition = channelOf(inline);
    const there = worker.channel();
    for (const values of [
      contract.options,
      { ...contract.options, nick: "Other", server: "irc.test", botToken: "no token", saslPassword: "x" },
    ]) {
      const around = { path: `channels.${inline.id}`, before: [] };
      expect(await there.check?.(values as never, around)).toEqual(definition.check?.(values as never, around));
      expect(await there.signsInAs?.(values as never)).toEqual(definition.signsInAs?.(values as never));
    }
    for (const id of ["Ada", "~Ada", "#Room", "7"]) {
      expect(await there.identity?.fold?.(id)).toEqual(definition.identity?.fold?.(id));
      const weak = [there, definition].map(({ identity }) =>
        typeof identity?.weak === "function" ? identity.weak(id) : identity?.weak,
      );
      expect(await weak[0]).toEqual(weak[1]);
    }
  });

  channelContract({
    ...contract,
    concurrent: true,
    channel: worker.plugin,
    skip: [
      {
        test: "declaration > each function that no capability requires is listed",
        reason:
          "A connection in a worker offers each of them until the worker has opened it; then those that it " +
          "lacks are removed.",
      },
      // The clock of the contract does not reach into another thread.
      ...(inline === irc || inline === mattermost || inline === slack
        ? [{ test: "recovery > a platform that falls silent is noticed", reason: "Its time limits are real there." }]
        : []),
      ...(inline === mattermost
        ? [
            {
              test: "declaration > the gateway calls each function of the connection",
              reason: "What an account can do depends on its options, so a connection in a worker offers everything.",
            },
          ]
        : []),
      // The connection that parses inline has not met the platform, so it does not know its own name.
      ...(inline === botchat
        ? ["only what addresses the bot has a mention", "only a text that names the bot says so"].map((rule) => ({
            test: `groups > ${rule}`,
            reason: "See the tests of whole programs.",
          }))
        : []),
    ],
  });
});
