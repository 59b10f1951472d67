import { expect, test } from "vitest";
import { channelAccounts } from "../../../core/config/checking/merge.ts";

test("without accounts, the root keys form a single account `default`", () => {
  expect(channelAccounts({ token: "t" })).toEqual([{ id: "default", enabled: true, raw: { token: "t" }, own: {} }]);
  expect(channelAccounts({ enabled: false })).toMatchObject([{ id: "default", enabled: false }]);
  expect(channelAccounts(undefined)).toEqual([]);
});

test("root keys are defaults; groups, actions, retry, network and capabilities merge, others are replaced", () => {
  const [account] = channelAccounts({
    allowFrom: [1],
    dms: { "1": {} },
    actions: { sticker: true, reactions: true },
    retry: { attempts: 3, jitter: 0.1 },
    accounts: {
      A: {
        allowFrom: [2],
        dms: { "2": {} },
        actions: { reactions: false },
        retry: { attempts: 5 },
        capabilities: { inlineButtons: "dm" },
      },
    },
  });
  expect(account).toMatchObject({ id: "a", key: "A", enabled: true });
  expect(account?.raw).toEqual({
    enabled: true,
    allowFrom: [2],
    dms: { "2": {} },
    actions: { sticker: true, reactions: false },
    retry: { attempts: 5, jitter: 0.1 },
    capabilities: { inlineButtons: "dm" },
  });
});

test("a group keeps the settings that the account leaves out, including those of its topics", () => {
  const [account] = channelAccounts({
    groups: { "-1": { allowFrom: [1], topics: { "7": { skills: [], enabled: true } } }, "-2": {} },
    accounts: { a: { groups: { "-1": { requireMention: false, topics: { "7": { enabled: false }, "8": {} } } } } },
  });
  expect(account?.raw.groups).toEqual({
    "-1": { allowFrom: [1], requireMention: false, topics: { "7": { skills: [], enabled: false }, "8": {} } },
    "-2": {},
  });
});

test("a value in a form that cannot be merged replaces the other", () => {
  const [account] = channelAccounts({
    capabilities: ["inlineButtons"],
    accounts: { a: { capabilities: { inlineButtons: "off" } } },
  });
  expect(account?.raw.capabilities).toEqual({ inlineButtons: "off" });
});

test("a disabled channel is disabled for every account", () => {
  const accounts = channelAccounts({ enabled: false, accounts: { a: { enabled: true }, b: {} } });
  expect(accounts.map(({ id, enabled, raw }) => [id, enabled, raw.enabled])).toEqual([
    ["a", false, false],
    ["b", false, false],
  ]);
});

test("invalid account ids and the second of two equal ids are left out", () => {
  const accounts = { "  Work ": { x: 1 }, work: { x: 2 }, "a/b": {}, ["x".repeat(65)]: {}, ok_1: {} };
  expect(channelAccounts({ accounts }).map(({ id, own }) => [id, own])).toEqual([
    ["work", { x: 1 }],
    ["ok_1", {}],
  ]);
});
