/** Functions of a connection that the gateway never calls break the contract. */
import { expect, test } from "vitest";
import { contractRules, tryRule } from "../../../core/testkit/channel-contract.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";

type Postbox = ReturnType<typeof createPostbox>;

async function judge(channel: Postbox): Promise<string> {
  const options = contractOf(channel);
  const rule = contractRules(options).find(({ title }) => title.endsWith("calls each function of the connection"));
  if (rule === undefined) throw new Error("The contract has no such rule.");
  return await tryRule(rule, options).then(
    () => "passes",
    (error: Error) => error.message,
  );
}

test("of an object each unknown function is reported, with the name that it resembles", async () => {
  const having = (members: object) => judge(createPostbox(() => members));
  expect(await having({})).toBe("passes");
  expect(await having({ retries: 3, api: {} })).toBe("passes");
  expect(await having({ standby: async () => {} })).toBe(
    "The connection has a function standby, which the gateway does not call. Did you mean standBy?",
  );
  expect(await having({ reconnect() {} })).toBe(
    "The connection has a function reconnect, which the gateway does not call. Remove it, or correct its name.",
  );
});

test("a class may have functions of its own, but none that resembles one of the contract", async () => {
  const { channel } = createPostbox();
  if (channel === undefined) throw new Error("The postbox declares no channel.");
  const of = (methods: object): Postbox =>
    createPostbox(undefined, {
      open: (account) => Object.assign(Object.create(methods), channel.open(account as never)),
    });
  class Own {
    ask(): void {}
  }
  class Misspelled {
    standby(): void {}
  }
  expect(await judge(of(Own.prototype))).toBe("passes");
  expect(await judge(of(Misspelled.prototype))).toMatch(/Did you mean standBy\?$/);
});
