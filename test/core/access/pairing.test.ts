import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPairing, type Pairing } from "../../../core/access/pairing.ts";
import { openSqliteStore } from "../../../core/state/sqlite/index.ts";
import type { Store } from "../../../core/state/store.ts";
import { removeDirectory, temporaryDirectory } from "../../support/directory.ts";

let directory: string;
let store: Store;
let clock: number;
let pairing: Pairing;

const minute = 60_000;
let units = 0;
const who = (senderId: string, account = "default", unit = `unit-${++units}`) => ({
  address: { channel: "botchat", account, chat: senderId },
  senderId,
  unit,
  senderName: `Person ${senderId}`,
});

beforeEach(async () => {
  directory = temporaryDirectory();
  clock = 1_000_000;
  store = await openSqliteStore({ directory, now: () => clock });
  pairing = createPairing({ store, now: () => clock });
});

afterEach(async () => {
  await store.close();
  removeDirectory(directory);
});

const codeOf = async (senderId: string, account?: string): Promise<string> =>
  (await pairing.request(who(senderId, account)))?.code ?? "";

describe("pairing", () => {
  test("a code has eight characters that cannot be mistaken for others", async () => {
    expect(await codeOf("1")).toMatch(/^[ABCDEFGHJKLMNPQRSTUVWXYZ23456789]{8}$/);
  });

  test("the same sender keeps the code and is notified again only after ten minutes", async () => {
    const first = await pairing.request(who("1"));
    expect(first?.notify).toBe(true);
    clock += 9 * minute;
    expect(await pairing.request(who("1"))).toMatchObject({ code: first?.code, notify: false });
    clock += minute;
    expect(await pairing.request(who("1"))).toEqual({ code: first?.code, notify: true });
  });

  test("the event that sent a code sends it again when rerun, as its first run may have died before that", async () => {
    const first = await pairing.request(who("1", "default", "unit-a"));
    expect(first?.notify).toBe(true);
    expect(await pairing.request(who("1", "default", "unit-a"))).toEqual(first);
    expect(await pairing.request(who("1", "default", "unit-b"))).toEqual({
      code: first?.code,
      notify: false,
      waits: true,
    });
    expect(await pairing.request(who("1", "default", "unit-c")), "once").toEqual({
      code: first?.code,
      notify: false,
    });
    clock += 10 * minute;
    expect(await pairing.request(who("1", "default", "unit-b"))).toMatchObject({ notify: true });
    expect(
      await pairing.request(who("1", "default", "unit-b")),
      "and so does the one that told it the second time",
    ).toMatchObject({
      notify: true,
    });
    expect(await pairing.request(who("1", "default", "unit-a"))).toMatchObject({ notify: false });
  });

  test("a code expires after an hour, and the sender then gets a new one", async () => {
    const code = await codeOf("1");
    clock += 60 * minute;
    expect(await pairing.approve("botchat", code)).toEqual({ ok: false, reason: "unknown_code" });
    expect(await codeOf("1")).not.toBe(code);
  });

  test("three waiting strangers do not block a fourth, and their codes stay valid", async () => {
    const codes = [await codeOf("1"), await codeOf("2"), await codeOf("3")];
    const fourth = await codeOf("4");
    expect(await pairing.approve("botchat", fourth)).toMatchObject({ ok: true, request: { senderId: "4" } });
    for (const [index, code] of codes.entries())
      expect(await pairing.approve("botchat", code)).toMatchObject({
        ok: true,
        request: { senderId: String(index + 1) },
      });
  });

  test("of a hundred waiting requests, the oldest is dropped, but not within ten minutes of its notice", async () => {
    const first = await codeOf("friend");
    for (let count = 1; count < 100; count += 1) await codeOf(`stranger-${count}`);
    expect(await pairing.request(who("one more"))).toBeNull();
    expect(await pairing.request(who("one more", "work"))).not.toBeNull();
    clock += 10 * minute - 1;
    expect(await pairing.request(who("one more"))).toBeNull();
    // The same sender keeps the code, and is in no queue again.
    expect(await codeOf("friend")).toBe(first);
    clock += 1;
    expect(await pairing.request(who("one more"))).toMatchObject({ notify: true });
    expect(await pairing.pending("botchat", "default")).toHaveLength(100);
    expect(await pairing.approve("botchat", first)).toEqual({ ok: false, reason: "unknown_code" });
  });

  test("a code is accepted in any case, once, and for its own account only", async () => {
    const code = await codeOf("1");
    expect(await pairing.approve("botchat", ` ${code.toLowerCase()} `)).toMatchObject({
      ok: true,
      request: { senderId: "1" },
    });
    expect(await pairing.isPaired("botchat", "default", "1")).toBe(true);
    expect(await pairing.isPaired("botchat", "work", "1")).toBe(false);
    expect(await pairing.approve("botchat", code)).toEqual({ ok: false, reason: "unknown_code" });
  });

  test("of two concurrent approvals of the same code, one succeeds", async () => {
    const code = await codeOf("1");
    const results = await Promise.all([pairing.approve("botchat", code), pairing.approve("botchat", code)]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test("the first approved sender becomes an owner, the second does not", async () => {
    expect(await pairing.approve("botchat", await codeOf("1"))).toMatchObject({ madeOwner: true });
    expect(await pairing.approve("botchat", await codeOf("2"))).toMatchObject({ madeOwner: false });
    expect(await pairing.owners("botchat", "default")).toEqual(["1"]);
  });

  test("if the configuration names an owner, the first approved sender is a guest by default", async () => {
    const ownerNamed = () => true;
    expect(await pairing.approve("botchat", await codeOf("1"), { ownerNamed })).toMatchObject({
      ok: true,
      madeOwner: false,
    });
    expect(await pairing.approve("botchat", await codeOf("2"), { ownerNamed, owner: true })).toMatchObject({
      madeOwner: true,
    });
    expect(await pairing.owners("botchat", "default")).toEqual(["2"]);
  });

  test("each account has its own owners, and revoking on one account leaves the other's", async () => {
    expect(await pairing.approve("botchat", await codeOf("1"))).toMatchObject({ madeOwner: true });
    expect(await pairing.approve("botchat", await codeOf("2", "work"))).toMatchObject({ madeOwner: true });
    expect(await pairing.approve("botchat", await codeOf("1", "work"))).toMatchObject({ madeOwner: false });
    expect(await pairing.owners("botchat", "work")).toEqual(["2"]);
    expect(await pairing.revoke("botchat", "1", "work")).toBe(true);
    expect(await pairing.owners("botchat", "default")).toEqual(["1"]);
    expect(await pairing.isPaired("botchat", "default", "1")).toBe(true);
  });

  test("a code can be denied only on its own account", async () => {
    const code = await codeOf("1");
    expect(await pairing.deny("botchat", code, "work")).toBeNull();
    expect(await pairing.deny("botchat", code, "default")).toMatchObject({ senderId: "1" });
    expect(await pairing.approve("botchat", code)).toMatchObject({ ok: false });
  });

  test("ten wrong codes lock approving for ten minutes", async () => {
    const code = await codeOf("1");
    for (let attempt = 0; attempt < 10; attempt += 1) await pairing.approve("botchat", "WRONGONE");
    expect(await pairing.approve("botchat", code)).toEqual({ ok: false, reason: "locked" });
    clock += 10 * minute;
    expect(await pairing.approve("botchat", code)).toMatchObject({ ok: true });
  });

  test("setting the clock back neither shortens nor extends the lock", async () => {
    const code = await codeOf("1");
    for (let attempt = 0; attempt < 10; attempt += 1) await pairing.approve("botchat", "WRONGONE");
    clock -= 24 * 60 * minute;
    expect(await pairing.approve("botchat", code)).toEqual({ ok: false, reason: "locked" });
    clock += 9 * minute;
    expect(await pairing.approve("botchat", code)).toEqual({ ok: false, reason: "locked" });
    clock += 1 * minute;
    expect(await pairing.approve("botchat", code)).toMatchObject({ ok: true });
  });

  test("setting the clock back while wrong codes are counted does not create a day-long window", async () => {
    clock += 48 * 60 * minute;
    const code = await codeOf("1");
    for (let attempt = 0; attempt < 5; attempt += 1) await pairing.approve("botchat", "WRONGONE");
    clock -= 24 * 60 * minute;
    await pairing.approve("botchat", "WRONGONE");
    clock += 11 * minute;
    for (let attempt = 0; attempt < 5; attempt += 1) await pairing.approve("botchat", "WRONGONE");
    expect(await pairing.approve("botchat", code)).toMatchObject({ ok: true });
  });

  test("a revoked sender must pair again and is no longer an owner", async () => {
    await pairing.approve("botchat", await codeOf("1"));
    expect(await pairing.revoke("botchat", "1")).toBe(true);
    expect(await pairing.isPaired("botchat", "default", "1")).toBe(false);
    expect(await pairing.owners("botchat", "default")).toEqual([]);
  });
});
