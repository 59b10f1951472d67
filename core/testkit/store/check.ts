/** Rules for the check of a store, for stores that have one. */
import { expect, test } from "vitest";
import { acceptAll, newEvent, type StoreContractOptions, settle, take, type WithStore } from "./fixture.ts";

export function checkRules(withStore: WithStore, check: NonNullable<StoreContractOptions["check"]>): void {
  test(
    "the check of a store in use fails nothing, changes nothing, and leaves the store at work",
    withStore(async ({ store }) => {
      await acceptAll(store, newEvent("a"), newEvent("b"));
      await take(store);
      const before = await store.stats();
      const findings = await check(store);
      expect(findings.filter(({ verdict }) => verdict === "fail")).toEqual([]);
      expect(await store.stats()).toEqual(before);
      expect(await settle(store, "a")).toBe(true);
    }),
  );

  test(
    "a reason is one line without a final period, and what is not in order has a remedy in whole sentences",
    withStore(async ({ store }) => {
      for (const { verdict, reason, fix } of await check(store)) {
        expect(reason).toMatch(/^\S.*[^.\s]$/);
        if (verdict !== "ok") expect(fix).toMatch(/^[A-Z].*[.;]$/);
      }
    }),
  );
}
