/** Where owners are reached, by what is known about them. */
import { expect, test } from "vitest";
import { identityRule } from "../../../core/access/identity.ts";
import { type OwnedAccount, type OwnersAsked, placeOwners } from "../../../core/access/owner-places.ts";

const account = (channel: string, id: string, pattern: string, more: object = {}): OwnedAccount => ({
  channel,
  id,
  access: {},
  identity: identityRule(channel, { pattern }),
  ...more,
});
const home = account("chat", "home", "\\d+");
const work = account("chat", "work", "\\d+");
const other = account("sms", "default", "\\d+");
const nicks = account("irc", "default", "[a-z]+");

const placed = async (asked: Partial<OwnersAsked>) => {
  const { places, unplaced } = await placeOwners({
    listed: [7],
    accounts: [home, work],
    ownersOf: async () => [],
    chatWith: async () => undefined,
    ...asked,
  });
  return [
    ...places.map(({ channel, account, chat, isKnown }) => `${channel}:${account}:${chat}${isKnown ? "" : "?"}`),
    ...unplaced.map(({ entry, channels }) => `${entry}: ${channels.join()}`),
  ];
};

test("an owner is reached with the account that knows the id, else with the first of the channel", async () => {
  const chatWith = async ({ id }: OwnedAccount) => (id === "work" ? "chat-7" : undefined);
  expect(await placed({ chatWith })).toEqual(["chat:work:chat-7"]);
  expect(await placed({ accounts: [home, { ...work, access: { allowFrom: ["chat:7"] } }] })).toEqual(["chat:work:7"]);
  expect(await placed({ accounts: [home, nicks] })).toEqual(["chat:home:7"]);
  expect(await placed({})).toEqual(["chat:home:7?"]);
});

test("owners who are known to have written come first", async () => {
  const chatWith = async (_: OwnedAccount, id: string) => (id === "8" ? "8" : undefined);
  expect(await placed({ listed: [7, 8], chatWith })).toEqual(["chat:home:8", "chat:home:7?"]);
});

test("an id of two channels reaches no owner, unless it names the channel or one knows the person", async () => {
  const accounts = [home, other];
  expect(await placed({ accounts })).toEqual(["7: chat,sms"]);
  expect(await placed({ accounts, listed: ["sms:7"] })).toEqual(["sms:default:7"]);
  const chatWith = async ({ channel }: OwnedAccount) => (channel === "sms" ? "7" : undefined);
  expect(await placed({ accounts, chatWith })).toEqual(["sms:default:7"]);
});

test("an entry that is not an id, or that another person can take over, reaches no owner", async () => {
  const weak = { ...home, identity: identityRule("chat", { pattern: "\\d+", weak: true }) };
  expect(await placed({ listed: ["ada", "*"] })).toEqual(["ada: ", "*: "]);
  expect(await placed({ accounts: [weak] })).toEqual(["7: "]);
});

test("without a list, the owners of each account are reached there", async () => {
  const ownersOf = async ({ id }: OwnedAccount) => (id === "work" ? ["7", "8"] : []);
  expect(await placed({ listed: undefined, ownersOf })).toEqual(["chat:work:7", "chat:work:8"]);
});
