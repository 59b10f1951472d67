import { expect, test } from "vitest";
import { start, type WithStore } from "./fixture.ts";

export function keyValueRules(withStore: WithStore): void {
  test(
    "a value is read back, replaced, and deleted once",
    withStore(async ({ store, reopen }) => {
      expect(await store.get("n", "k")).toBeNull();
      await store.set("n", "k", { list: [1, "two", null] });
      expect(await store.get("n", "k")).toEqual({ list: [1, "two", null] });
      await store.set("n", "k", "second", { durable: true });
      expect(await (await reopen()).get("n", "k")).toBe("second");
      expect(await store.get("other", "k")).toBeNull();
      expect(await store.delete("n", "k")).toBe(true);
      expect(await store.delete("n", "k")).toBe(false);
      expect(await store.get("n", "k")).toBeNull();
    }),
  );

  test(
    "an expired value is absent",
    withStore(async ({ store, clock }) => {
      await store.set("n", "k", 1, { expiresAt: start + 100 });
      clock.now = start + 99;
      expect(await store.get("n", "k")).toBe(1);
      expect(await store.list("n")).toEqual([{ key: "k", value: 1, expiresAt: start + 100 }]);
      clock.now = start + 100;
      expect(await store.get("n", "k")).toBeNull();
      expect(await store.list("n")).toEqual([]);
      expect(await store.update("n", "k", (value) => (value === null ? "fresh" : "stale"))).toBe("fresh");
      expect(await store.get("n", "k")).toBe("fresh");
      await store.set("n", "k", 1, { expiresAt: start + 100 });
      expect(await store.delete("n", "k")).toBe(false);
    }),
  );

  test(
    "keys are listed in order, by prefix, at most `limit`",
    withStore(async ({ store }) => {
      for (const key of ["b:1", "a:2", "a:%", "a:1", "a", "a:\u{1F600}"]) await store.set("n", key, key);
      await store.set("m", "a:0", 0);
      const keys = async (options?: Parameters<typeof store.list>[1]) =>
        (await store.list("n", options)).map(({ key }) => key);
      expect(await keys()).toEqual(["a", "a:%", "a:1", "a:2", "a:\u{1F600}", "b:1"]);
      expect(await keys({ prefix: "a:" })).toEqual(["a:%", "a:1", "a:2", "a:\u{1F600}"]);
      expect(await keys({ prefix: "a:", limit: 2 })).toEqual(["a:%", "a:1"]);
    }),
  );

  test(
    "an update is atomic: no other writer's change is lost",
    withStore(async ({ store, reopen }) => {
      const other = await reopen();
      const addOne = (value: unknown) => (typeof value === "number" ? value + 1 : 1);
      await Promise.all(Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? store : other).update("n", "k", addOne)));
      expect(await store.get("n", "k")).toBe(40);
    }),
  );

  test(
    "an update deletes with null, changes nothing with undefined, and keeps the expiry unless it sets one",
    withStore(async ({ store, clock }) => {
      await store.set("n", "k", 1, { expiresAt: start + 100 });
      expect(await store.update("n", "k", () => undefined)).toBe(1);
      expect(await store.update("n", "k", () => 2)).toBe(2);
      expect(await store.list("n")).toEqual([{ key: "k", value: 2, expiresAt: start + 100 }]);
      await store.update("n", "k", () => 3, { expiresAt: start + 200 });
      clock.now = start + 150;
      expect(await store.get("n", "k")).toBe(3);
      expect(await store.update("n", "k", () => null)).toBeNull();
      expect(await store.list("n")).toEqual([]);
      await expect(
        store.update("n", "k", () => {
          throw new Error("no");
        }),
      ).rejects.toThrow("no");
    }),
  );
}
