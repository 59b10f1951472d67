/**
 * The contract of channels, kept by a channel in a worker. The contract calls `parse` and `render` at once, so here both are computed inline;
 * the first tests show that the worker computes the same.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createIsolation } from "../../../core/isolation/index.ts";
import type { ChannelConnection, ChannelDefinition, PluginDefinition, PluginHost } from "../../../core/sdk/contract.ts";
import { createTestAccount } from "../../../core/testkit/channel/test-account.ts";
import { channelContract } from "../../../core/testkit/index.ts";
import inline from "../../../examples/plugin-template/src/index.ts";
import { fixtures, functions, options } from "../../../examples/plugin-template/test/fixtures.ts";
import { openPlatform } from "../../../examples/plugin-template/test/platform.ts";
import { temporaryDirectory } from "../../support/gateway.ts";

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const opened: { channel?: ChannelDefinition; close?: () => Promise<void> } = {};
const address = { channel: inline.id, account: "default", chat: "1" };
const reply = { text: "Good **morning**\n\n- one\n- two", media: [], buttons: [] };

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the plugin is not up");
  return value;
}

beforeAll(async () => {
  const isolate = createIsolation({ log: silent, now: Date.now, cacheDirectory: temporaryDirectory(), trustedProxies: () => [] });
  const file = join(import.meta.dirname, "../../../examples/plugin-template/src/index.ts");
  const isolated = needed(await isolate({ name: inline.id, file, bundled: false }, () => true));
  const host: Partial<PluginHost> = {
    log: silent,
    channel: (definition) => {
      opened.channel = definition;
    },
    onReady() {},
    onClose() {},
  };
  await isolated.definition.setup(host as PluginHost, {});
  opened.close = () => isolated.close();
});
afterAll(() => opened.close?.());

const here = needed(inline.channel);

/** The connection in the worker, with what the contract needs at once from a connection in this thread. */
const inWorker: PluginDefinition = {
  ...inline,
  channel: {
    ...here,
    open(account) {
      const { parse, render } = here.open(account as never);
      const remote = needed(opened.channel).open(account as never);
      return { ...remote, parse, render } as ChannelConnection;
    },
  },
};

function both() {
  const { account } = createTestAccount({ channel: inline.id, options, directory: temporaryDirectory(), now: Date.now, elapsed: Date.now });
  const remote = needed(opened.channel).open(account as never);
  onTestFinished(() => remote.close());
  return { local: here.open(account as never), remote };
}

test("the worker parses as the channel does inline", async () => {
  const { local, remote } = both();
  const raws = [...fixtures.messages.map(({ raw }) => raw), ...fixtures.own, null, 7, "junk", { junk: [] }];
  expect(raws.length).toBeGreaterThan(4);
  for (const raw of raws) expect(await remote.parse(raw)).toEqual(local.parse(raw));
});

test("the worker renders as the channel does inline", async () => {
  const { local, remote } = both();
  for (const text of [reply.text, "x".repeat(10_000), "", "a < b & `c`"])
    expect(await remote.render({ ...reply, text }, address)).toEqual(local.render({ ...reply, text }, address));
});

channelContract({
  channel: inWorker,
  options,
  fixtures,
  functions,
  platform: { can: ["away", "cut", "hang", "limit", "refuse", "repeat", "unconfirmed"], open: () => openPlatform() },
  skip: [
    {
      test: "declaration > each function that no capability requires is listed",
      reason: "A connection in a worker offers each of them until the worker has opened it; then those that it lacks are removed.",
    },
  ],
});
