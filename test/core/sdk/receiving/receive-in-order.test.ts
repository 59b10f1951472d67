/** Events that are completed before they are submitted. */
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Json } from "../../../../core/contract/index.ts";
import { receiveInOrder } from "../../../../core/sdk/receiving/receive-in-order.ts";

function openAccount() {
  const stored: Json[] = [];
  const warnings: string[] = [];
  const closing = new AbortController();
  const nothing = () => {};
  const account = {
    signal: closing.signal,
    log: {
      ...{ trace: nothing, debug: nothing, info: nothing, error: nothing },
      warn: (_: object, message: string) => void warnings.push(message),
    },
    async receive(raw: Json) {
      if ((raw as { readonly id: number }).id < 0) throw new Error("The disk is full.");
      stored.push(raw);
      return { eventId: String(stored.length), duplicate: false };
    },
  };
  return { account, stored, warnings, close: () => closing.abort() };
}

test("events stay in order while their look-ups run at the same time", async () => {
  const { account, stored } = openAccount();
  const receive = receiveInOrder(account);
  let looking = 0;
  let most = 0;
  const complete = async (id: number) => {
    looking += 1;
    most = Math.max(most, looking);
    await wait(20 - 4 * id);
    looking -= 1;
    return { name: `Person ${id}` };
  };
  const done = [0, 1, 2, 3].map((id) => receive({ id }, id === 2 ? {} : { complete: () => complete(id) }));
  expect((await Promise.all(done)).map(({ eventId }) => eventId)).toEqual(["1", "2", "3", "4"]);
  expect(stored).toEqual([
    { id: 0, name: "Person 0" },
    { id: 1, name: "Person 1" },
    { id: 2 },
    { id: 3, name: "Person 3" },
  ]);
  expect(most).toBe(3);
});

test("a look-up that fails, throws or never ends costs its event the name and no other anything", async () => {
  const { account, stored, warnings } = openAccount();
  const receive = receiveInOrder(account, { waitMs: 30 });
  const failures = [
    () => Promise.reject(new Error("500")),
    () => new Promise<never>(() => {}),
    () => {
      throw new TypeError("a mistake of the channel");
    },
    async () => ({ name: undefined, text: "whole" }),
  ];
  await Promise.all(failures.map((complete, id) => receive({ id, name: "early" }, { complete })));
  expect(stored).toEqual([
    { id: 0, name: "early" },
    { id: 1, name: "early" },
    { id: 2, name: "early" },
    { id: 3, name: "early", text: "whole" },
  ]);
  expect(warnings.length).toBe(2);
});

test("an event that could not be stored rejects for its caller alone", async () => {
  const { account, stored } = openAccount();
  const receive = receiveInOrder(account);
  const [first, second] = [receive({ id: -1 }), receive({ id: 1 })];
  await expect(first).rejects.toThrow("The disk is full.");
  await second;
  expect(stored).toEqual([{ id: 1 }]);
});

test("the end of the account ends the wait", async () => {
  const { account, stored, close } = openAccount();
  const receive = receiveInOrder(account, { waitMs: 2_000_000_000 });
  const done = receive({ id: 1 }, { complete: () => new Promise<never>(() => {}) });
  close();
  await done;
  expect(stored).toEqual([{ id: 1 }]);
});
